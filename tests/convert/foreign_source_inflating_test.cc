// Deflated entries of foreign zips: which are inflated, where to, and up to which size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "convert/foreign.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ForeignTest, DoesNotInflateUnusedEntries) {
  Files files = model_and_files();
  files.emplace_back("junk", data_of(1000, 9));  // could be a tensor's key: it is left out
  Built built = zip_of(files, Storage::deflated);
  flip_bit(built.bytes, built.entry("junk").data_offset + 500);
  EXPECT_EQ(inlined(built.bytes), before_tf2onnx().view());
  EXPECT_THAT(names_, ElementsAre("conv_kernel", "v", "tokenizer.json", "__MODEL_PROTO"));
}

TEST_F(ForeignTest, DryRunInflatesOnlyTheModel) {
  Built built = zip_of(model_and_files(), Storage::deflated);
  flip_bit(built.bytes, built.entry("data/w.bin").data_offset + 500);
  flip_bit(built.bytes, built.entry("tokenizer.json").data_offset + 6);
  SaveOptions save = saved_as(Format::archive);
  save.output.dry_run = true;
  EXPECT_EQ(pack_or_unpack(folder_.write_file("in", built.bytes), folder_ / "out", save, foreign()).payloads, 2U);
  EXPECT_EQ(refusal(built.bytes).code(), Code::zip_data_crc);
}

TEST_F(ForeignTest, RefusesEntriesThatInflateToTooMuch) {
  const auto said = [](const std::string& name, std::uint64_t size) {
    ZipBuilder builder;
    for (const auto& [file, data] : model_and_files()) {
      builder.entries.push_back(stored_as(Storage::deflated, file, data));
    }
    builder.entries.push_back(stored_as(Storage::deflated, "junk", data_of(1000, 9)));
    builder.entry(name).in_both([=](HeaderFields& header) { header.usize = size; });
    return builder.build_placed();
  };
  for (const std::string name : {"m.onnx", "data/w.bin"}) {
    const Built built = said(name, 100'000);
    expect_error(refusal(built.bytes),
                 {.code = Code::zip_limit_expansion, .entry = name, .hint = Hint::max_expansion_of});
    LoadOptions load = foreign();
    load.max_expansion = 1000;
    EXPECT_EQ(refusal(built.bytes, load).code(), Code::zip_data_inflate);
  }
  EXPECT_EQ(inlined(said("junk", 100'000).bytes), before_tf2onnx().view()) << "what is not used does not count";
}

TEST_F(ForeignTest, LeavesNothingInTheTemporaryFolder) {
  const TempDir room;
  LoadOptions load = foreign();
  load.temporary_dir = room.path();
  const fs::path input = folder_.write_file("in", zip_of(tf2onnx_files(), Storage::deflated).bytes);
  EXPECT_EQ(inlined(input, load), before_tf2onnx().view());
  EXPECT_THAT(room.file_names(), IsEmpty());
}

TEST_F(ForeignTest, ReportsMissingTemporaryFolder) {
  LoadOptions load = foreign();
  load.temporary_dir = folder_ / "none";
  const fs::path input = folder_.write_file("in", zip_of(tf2onnx_files(), Storage::deflated).bytes);
  expect_error(error_of([&] { pack(input, folder_ / "out", saved_as(Format::archive), load); }),
               {.code = Code::io_not_found, .path = folder_ / "none"});
}

}  // namespace
}  // namespace onnxar::testing
