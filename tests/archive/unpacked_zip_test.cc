// Tests entries of a foreign zip that are read in place, and inflated when they are first read.
#include "archive/unpacked_zip.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "archive/opened.h"
#include "archive/opened_input.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

/// A zip of a model, a stored and a deflated entry, and one that states a large size, in a folder that is removed at
/// the end.
class UnpackedZipTest : public ::testing::Test {
 protected:
  UnpackedZip unpacked(std::string_view name = "a.zip") {
    ZipEntry large = deflated_entry("large", zeros(3000));
    large.in_both([](HeaderFields& header) { header.usize = 1'000'000; });  // more than it has
    ZipBuilder builder;
    builder.entries = {plain_entry(large), plain_entry(zip_entry("stored", pattern(3000))),
                       plain_entry(deflated_entry("deflated", pattern(3000, 2))),
                       plain_entry(zip_entry(model_entry, smallest_model()))};
    built_ = builder.build_placed();
    const auto path = folder_.write_file(name, built_.bytes);
    return {OpenedInput(path).file(), path, folder_.path(), 8};
  }

  static std::size_t index_of(const UnpackedZip& zip, std::string_view name) { return *zip.directory().find(name); }

  TempDir folder_;
  Built built_;
};

// The file has no name; stored entries are views of the zip.
TEST_F(UnpackedZipTest, OnlyDeflatedEntriesAreCopiedToAFile) {
  UnpackedZip zip = unpacked();
  EXPECT_EQ(zip.entry(zip.find_model().index).name, model_entry);
  const std::size_t stored = index_of(zip, "stored");
  const std::size_t deflated = index_of(zip, "deflated");
  EXPECT_EQ(copy_of(zip.bytes(stored)), pattern(3000));
  zip.verify(stored);
  const Bytes place = zip.place_of(deflated);
  EXPECT_EQ(place.size(), 3000U);
  EXPECT_EQ(zip.bytes(deflated).data(), place.data());
  EXPECT_EQ(copy_of(place), pattern(3000, 2));
  EXPECT_EQ(visible_names(folder_), std::vector<std::string>{"a.zip"});
}

// Entries of macOS's Finder are among them, although no model uses them.
TEST_F(UnpackedZipTest, ReservesSpaceForAllDeflatedEntries) {
  ZipBuilder builder = smallest_builder();
  builder.entries.insert(builder.entries.begin(), {plain_entry(deflated_entry("x", zeros(5000))),
                                                   plain_entry(deflated_entry("__MACOSX/y", zeros(30'000)))});
  const auto path = folder_.write_file("a.zip", Bytes(builder.build()));
  UnpackedZip zip(OpenedInput(path).file(), path, folder_.path(), 1000);
  EXPECT_EQ(copy_of(zip.bytes(index_of(zip, "x"))), zeros(5000));
  EXPECT_EQ(copy_of(zip.bytes(index_of(zip, "__MACOSX/y"))), zeros(30'000));
}

TEST_F(UnpackedZipTest, SourcesReturnTheSameBytes) {
  const auto zip = std::make_shared<UnpackedZip>(unpacked());
  EXPECT_EQ(all_of(*UnpackedZip::source(zip, index_of(*zip, "stored"), 1)), pattern(3000));
  EXPECT_EQ(all_of(*UnpackedZip::source(zip, index_of(*zip, "deflated"), 1)), pattern(3000, 2));
  const Blob whole = pattern(3000, 2);
  const auto other = std::make_shared<UnpackedZip>(unpacked("b.zip"));  // of which nothing was inflated yet
  const Bytes place = other->place_of(index_of(*other, "deflated"));
  EXPECT_EQ(all_of(*UnpackedZip::inflated_source(other, index_of(*other, "deflated"), place.subspan(10, 5))),
            copy_of(Bytes(whole).subspan(10, 5)));
}

TEST_F(UnpackedZipTest, SourcesKeepTheZip) {
  auto zip = std::make_shared<UnpackedZip>(unpacked());
  const std::size_t deflated = index_of(*zip, "deflated");
  const auto stored = UnpackedZip::source(zip, index_of(*zip, "stored"), 1);
  const auto spooled = UnpackedZip::inflated_source(zip, deflated, zip->place_of(deflated));
  zip.reset();
  EXPECT_EQ(all_of(*stored), pattern(3000));
  EXPECT_EQ(all_of(*spooled), pattern(3000, 2));
}

TEST_F(UnpackedZipTest, EntriesThatAreUsedCountOnceTowardsTheLimit) {
  UnpackedZip zip = unpacked();
  for (int i = 0; i < 100; ++i) static_cast<void>(zip.bytes(index_of(zip, "stored")));
  EXPECT_EQ(refusal_of([&] { return zip.place_of(index_of(zip, "large")); }),
            (ErrorContext{Code::zip_limit_expansion, "large", built_.entry("large").central_offset}));
}

TEST_F(UnpackedZipTest, TheModelCountsWhenItIsFound) {
  const auto path = folder_.write_file("a.zip", smallest_archive().bytes);
  UnpackedZip zip(OpenedInput(path).file(), path, folder_.path(), 0);
  EXPECT_EQ(zip.directory().entries().size(), 2U);
  EXPECT_EQ(code_of([&] { return zip.find_model().index; }), Code::zip_limit_expansion);
}

TEST_F(UnpackedZipTest, SourcesCountTowardsTheLimit) {
  const auto zip = std::make_shared<UnpackedZip>(unpacked());
  EXPECT_EQ(code_of([&] { return UnpackedZip::source(zip, index_of(*zip, "large"), 1)->size(); }),
            Code::zip_limit_expansion);
}

TEST_F(UnpackedZipTest, OnlyStoredEntriesAreVerifiedInPlace) {
  const auto zip = std::make_shared<UnpackedZip>(unpacked());
  EXPECT_NO_THROW(zip->verify(index_of(*zip, "deflated"))) << "it is verified when it is inflated";
  std::size_t places = 0;
  const std::size_t stored = index_of(*zip, "stored");
  UnpackedZip::source(zip, stored, 1)->locate([&](const Location& location) {
    ++places;
    EXPECT_EQ(location.bytes.data(), zip->bytes(stored).data());
  });
  EXPECT_EQ(places, 1U);
}

// Errors of the sink pass unchanged.
TEST_F(UnpackedZipTest, SourcesNameThePathOfDamagedData) {
  static_cast<void>(unpacked());
  ZipBuilder builder;
  builder.entries = {plain_entry(zip_entry("stored", pattern(3000))), plain_entry(deflated_entry("crc", zeros(3000))),
                     plain_entry(deflated_entry("form", zeros(3000))),
                     plain_entry(zip_entry(model_entry, smallest_model()))};
  builder.entry("crc").in_both([](HeaderFields& header) { header.crc = 1U; });
  Built built = builder.build_placed();
  flip_bit(built.bytes, built.entry("stored").data_offset);
  flip_bit(built.bytes, built.entry("form").data_offset + 1);  // the size of the stored block
  const auto path = folder_.write_file("b.zip", built.bytes);
  const auto zip = std::make_shared<UnpackedZip>(OpenedInput(path).file(), path, folder_.path(), 8);
  const auto error_from = [&](std::string_view name, const ByteSink& sink) {
    const auto source = UnpackedZip::source(zip, index_of(*zip, name), 1);
    const auto error = error_if_any([&] { source->read(sink); });
    return error ? std::pair(error->code(), error->path()) : std::pair(Code::usage_argument, std::filesystem::path());
  };
  const auto ignore = [](Bytes) {};
  EXPECT_EQ(error_from("stored", ignore), std::pair(Code::zip_data_crc, path));
  EXPECT_EQ(error_from("crc", ignore), std::pair(Code::zip_data_crc, path));
  EXPECT_EQ(error_from("form", ignore), std::pair(Code::zip_data_inflate, path));
  const auto failing = [](Bytes) { throw Error(Code::io_disk_full, "full", {}, "/elsewhere"); };
  EXPECT_EQ(error_from("crc", failing), std::pair(Code::io_disk_full, std::filesystem::path("/elsewhere")));
  const auto without_path = [](Bytes) { throw Error(Code::io_disk_full, "full"); };
  EXPECT_EQ(error_from("crc", without_path), std::pair(Code::io_disk_full, std::filesystem::path()));
}

TEST_F(UnpackedZipTest, DamagedDataIsRefusedWhereItIsRead) {
  UnpackedZip whole = unpacked();
  Blob bytes = built_.bytes;
  flip_bit(bytes, built_.entry("stored").data_offset);
  const auto path = folder_.write_file("b.zip", bytes);
  UnpackedZip zip(OpenedInput(path).file(), path, folder_.path(), 8);
  const std::size_t stored = index_of(zip, "stored");
  static_cast<void>(zip.bytes(stored));
  expect_error(error_if_any([&] { zip.verify(stored); }),
               {.code = Code::zip_data_crc, .offset = built_.entry("stored").data_offset, .path = path});
}

}  // namespace

}  // namespace onnxar::testing
