// Single questions about loading: what is shared, borrowed, decoded, verified and prefetched.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "support/emulation.h"
#include "support/mappings.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST(Loading, TensorsThatShareTheirDataStillDoInCopies) {
  const TempDir folder;
  folder.write_file("w.bin", pattern(1200));
  const auto path = folder.write_file("m", model_of({linked_floats("a", 300, "w.bin"), linked_floats("b", 300, "w.bin"),
                                                     linked_floats("c", 299, "w.bin")})
                                               .view());
  const Model model = Model::load(path, with_no_copy(false));
  EXPECT_EQ(model.span(initializer(model, 0)).bytes().data(), model.span(initializer(model, 1)).bytes().data());
  EXPECT_NE(model.span(initializer(model, 0)).bytes().data(), model.span(initializer(model, 2)).bytes().data());
  EXPECT_EQ(model.save(folder / "out", saved_as(Format::archive)).payloads, 2U);
}

TEST(Loading, AFileUnderSeveralNamesIsMappedOnce) {
  const TempDir folder;
  folder.write_file("w.bin", pattern(4096));
  fs::create_hard_link(folder / "w.bin", folder / "hard");
  const auto path = folder.write_file(
      "m", model_of({linked_floats("a", 300, "w.bin"), linked_floats("b", 1, "./w.bin"), linked_floats("c", 2, "hard")})
               .view());
  const Model model = Model::load(path);
  EXPECT_EQ(mappings_of(fs::canonical(folder / "w.bin")) + mappings_of(fs::canonical(folder / "hard")), 1U);
  EXPECT_EQ(model.span(initializer(model, 1)).bytes().data(), model.span(initializer(model, 2)).bytes().data());
}

TEST(Loading, DeflatedDataOfAForeignZipIsInflated) {
  const TempDir folder;
  ZipBuilder zip;
  zip.entries = {plain_entry(deflated_entry("m.onnx", model_of({linked_floats("w", 300, "w.bin")}).take())),
                 plain_entry(deflated_entry("w.bin", pattern(1200)))};
  const auto path = folder.write_file("m.zip", zip.build());
  for (const bool no_copy : {true, false}) {
    const Model model = Model::load(path, {.no_copy = no_copy, .foreign_zips = true});
    EXPECT_EQ(copied(model.payload(initializer(model, 0))), pattern(1200));
    EXPECT_TRUE(std::ranges::equal(model.span(initializer(model, 0)).bytes(), pattern(1200)));
  }
}

std::vector<double> doubles() {
  std::vector<double> values(300);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) / 7;
  return values;
}

TEST(Loading, BorrowsPackedFloatsInPlace) {
  const std::vector<float> values(300, 0.5F);
  const Blob bytes = model_of({tensor("f", dtype::float32, {300}).float_data(values),
                               tensor("d", dtype::float64, {300}).double_data(doubles()),
                               tensor("c", dtype::complex64, {150}).float_data(values)})
                         .take();
  const Model model = Model::load(bytes, with_no_copy(true));
  for (const int i : {0, 1, 2}) {
    EXPECT_FALSE(model.span(initializer(model, i)).owned());
    EXPECT_TRUE(lies_in(model.span(initializer(model, i)).bytes(), bytes));
  }
  EXPECT_TRUE(std::ranges::equal(model.span(initializer(model, 0)).bytes(), little_endian_bytes<float>(values)));
  const std::vector<double> expected = doubles();
  EXPECT_TRUE(std::ranges::equal(model.span(initializer(model, 1)).bytes(), little_endian_bytes<double>(expected)));
}

TEST(Loading, SplitRunsAndVarintsAreDecodedIntoOwnedBytes) {
  const std::vector<std::int32_t> numbers(1024, -3);
  const Blob bytes = model_of({tensor("unpacked", dtype::float64, {300}).double_data(doubles(), Repeated::unpacked),
                               tensor("varint", dtype::int8, {1024}).int32_data(numbers)})
                         .take();
  const Model model = Model::load(bytes, with_no_copy(true));
  for (const int i : {0, 1}) EXPECT_TRUE(model.span(initializer(model, i)).owned());
  const std::vector<double> expected = doubles();
  EXPECT_TRUE(std::ranges::equal(model.span(initializer(model, 0)).bytes(), little_endian_bytes<double>(expected)));
  EXPECT_EQ(copied(model.span(initializer(model, 1))), Blob(1024, std::byte{0xfd}));
}

Blob damaged_archive() {
  Built archive = archive_of(model_of({linked_floats("a", 300, "a"), linked_floats("b", 300, "b")}),
                             {zip_entry("a", pattern(1200, 1)), zip_entry("b", pattern(1200, 2))});
  archive.bytes.at(archive.entry("b").data_offset + 7) ^= std::byte{1};
  return archive.bytes;
}

TEST(Loading, BytesThatAreCopiedFromAnArchiveAreVerified) {
  const TempDir folder;
  const auto path = folder.write_file("m", damaged_archive());
  EXPECT_NO_THROW(static_cast<void>(Model::load(path)));
  expect_error(error_of([&] { static_cast<void>(Model::load(path, with_no_copy(false))); }),
               {.code = Code::zip_data_crc, .entry = "b", .path = path});
  EXPECT_EQ(id(error_of([] { static_cast<void>(Model::load(damaged_archive())); }).code()), "zip.data.crc");
  LoadOptions unverified = with_no_copy(false);
  unverified.verify_data = false;
  EXPECT_NO_THROW(static_cast<void>(Model::load(path, unverified)));
}

TEST(Loading, VerifiesEntriesOnlyWhenSlicesAreCopied) {
  Built archive = archive_of(model_of({linked_floats("a", 300, "k", 0), linked_floats("b", 300, "k", 1200)}),
                             {zip_entry("k", pattern(3000))});
  const Model sound = Model::load(archive.bytes);
  const Blob whole = pattern(3000);
  EXPECT_EQ(copied(sound.payload(initializer(sound, 1))), Blob(whole.begin() + 1200, whole.begin() + 2400));
  archive.bytes.at(archive.entry("k").data_offset + 2999) ^= std::byte{1};  // in neither slice
  EXPECT_NO_THROW(static_cast<void>(Model::load(archive.bytes, with_no_copy(true))));
  for (int round = 0; round < 2; ++round) {
    expect_error(error_of([&] { static_cast<void>(Model::load(archive.bytes)); }),
                 {.code = Code::zip_data_crc, .entry = "k"});
  }
}

TEST(Loading, PopulatedPagesAreThereWhenLoadingReturns) {
  ONNXAR_NATIVELY("pass the advice MADV_POPULATE_READ on");
  const TempDir folder;
  constexpr std::size_t large = 2U << 20U;  // floats
  const auto path = folder.write_file("m", model_of({floats("w", large)}).view());
  LoadOptions options;
  const auto middle_is_present = [&] {
    const Model model = Model::load(path, options);
    return is_present(model.span(initializer(model, 0)).bytes().data() + 2 * large);
  };
  EXPECT_FALSE(middle_is_present()) << "a load without prefetch touches no payload";
  options.prefetch = Prefetch::populate;
  EXPECT_TRUE(middle_is_present());
}

TEST(Loading, RefusesCopiesOfOverlappingTensors) {
  const TempDir folder;
  folder.write_file("w.bin", pattern(20000));
  Messages tensors;
  for (std::uint64_t i = 0; i < 20; ++i) tensors.push_back(linked_floats("t", 4000, "w.bin", i));
  const auto path = folder.write_file("m", model_of(tensors).view());
  EXPECT_NO_THROW(static_cast<void>(Model::load(path)));
  expect_error(error_of([&] { static_cast<void>(Model::load(path, with_no_copy(false))); }),
               {.code = Code::onnx_model_expansion, .path = path});
}

}  // namespace
}  // namespace onnxar::testing
