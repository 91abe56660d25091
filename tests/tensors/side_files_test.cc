// What an archive has beside its tensors: side files, and the metadata of its model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/listing.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

class BesideTest : public ::testing::Test {
 protected:
  const Archive& open(const Built& archive) {
    archive_.emplace(Archive::open(folder_.write_file("a.onnxar", archive.bytes)));
    return *archive_;
  }

  TempDir folder_;
  std::optional<Archive> archive_;
};

TEST_F(BesideTest, SideFilesAreWhatNoTensorNamesAndIsNotAKey) {
  const Built archive =
      archive_of(model_of({linked_floats("w", 4, "weights.bin"), linked_floats("v", 4, "k")}),
                 {zip_entry("weights.bin", pattern(16)), zip_entry("k", pattern(16)), zip_entry("old_key", pattern(16)),
                  zip_entry("tokenizer.json", pattern(3)), zip_entry("docs/LICENSE.txt", pattern(3))});
  std::vector<std::string> names;
  for (const ArchiveEntry& entry : side_files(open(archive))) names.emplace_back(entry.name);
  EXPECT_THAT(names, ElementsAre("tokenizer.json", "docs/LICENSE.txt"));
}

TEST_F(BesideTest, MetadataIsThatOfTheModelInItsOrder) {
  const Built archive =
      archive_of(model({.graph = graph({}), .metadata = {string_entry("b", "2"), string_entry("a", "")}}));
  using Pair = std::pair<std::string_view, std::string_view>;
  EXPECT_THAT(metadata(open(archive)), ElementsAre(Pair("b", "2"), Pair("a", "")));
}

}  // namespace
}  // namespace onnxar::testing
