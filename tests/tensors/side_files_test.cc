// What an archive has beside its tensors: side files, and the metadata of its model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/opened.h"
#include "onnxar/listing.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

TEST(SideFiles, AreWhatNoTensorNamesAndIsNotAKey) {
  const Built built =
      archive_of(model_of({linked_floats("w", 4, "weights.bin"), linked_floats("v", 4, "k")}),
                 {zip_entry("weights.bin", pattern(16)), zip_entry("k", pattern(16)), zip_entry("old_key", pattern(16)),
                  zip_entry("tokenizer.json", pattern(3)), zip_entry("docs/LICENSE.txt", pattern(3))});
  const Archive archive = opened(built.bytes);
  std::vector<std::string> names;
  for (const ArchiveEntry& entry : side_files(archive)) names.emplace_back(entry.name);
  EXPECT_THAT(names, ElementsAre("tokenizer.json", "docs/LICENSE.txt"));
}

TEST(Metadata, IsThatOfTheModelInItsOrder) {
  const Message proto = model({.graph = graph({}), .metadata = {string_entry("b", "2"), string_entry("a", "")}});
  const Archive archive = opened(archive_of(proto).bytes);
  using Pair = std::pair<std::string_view, std::string_view>;
  EXPECT_THAT(metadata(archive), ElementsAre(Pair("b", "2"), Pair("a", "")));
}

}  // namespace
}  // namespace onnxar::testing
