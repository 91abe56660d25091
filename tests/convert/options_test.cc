// Every option struct of onnxar::core is an aggregate: a caller names only the members that it sets.
#include "onnxar/options.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/link.h"

namespace onnxar::testing {
namespace {

template <typename... Options>
constexpr bool all_are_aggregates = (std::is_aggregate_v<Options> && ...);

static_assert(all_are_aggregates<OpenOptions, OutputOptions, WriterOptions, EditOptions, RepackOptions, LoadOptions,
                                 SaveOptions, CheckOptions, ExtractOptions, ReplaceOptions, LinkOptions>);

constexpr OutputOptions no_sync_output = {.overwrite = true, .sync = false};

// Warnings are errors, so each of these also shows that no member has to be named.
TEST(Options, AreWrittenByTheNamesOfTheirMembers) {
  const OpenOptions open{.max_entries = 5, .copy_in = true};
  EXPECT_TRUE(open.copy_in);
  EXPECT_EQ(open.max_model_size, OpenOptions().max_model_size);
  EXPECT_TRUE(WriterOptions{.output = no_sync_output}.verify_model);
  EXPECT_EQ(EditOptions({.open = open}).open.max_entries, 5U);
  EXPECT_EQ(RepackOptions{.alignment = 4096}.max_expansion, RepackOptions().max_expansion);
  EXPECT_EQ(LoadOptions{.external_data_dir = "weights"}.threshold, 1024U);
  const SaveOptions save{.format = Format::onnx_external, .data_file = "w.bin", .output = {.threads = 1}};
  EXPECT_EQ(save.alignment, 64U);
  EXPECT_EQ(save.output.threads, 1U);
  EXPECT_TRUE(CheckOptions{.strict = true}.load.verify_data);
  EXPECT_FALSE(ExtractOptions{.output = no_sync_output}.raw);
  EXPECT_EQ(ReplaceOptions{.remove = {"a"}}.threshold, 1024U);
  EXPECT_TRUE(LinkOptions{.output = no_sync_output}.output.overwrite);
}

}  // namespace
}  // namespace onnxar::testing
