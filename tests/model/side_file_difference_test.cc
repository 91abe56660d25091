// Side files and further graphs of two archives: what was added, removed and changed, and damage that is none of these.
#include "model/side_file_difference.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "archive/opened.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

TEST(SideFileDifference, IsSortedAndSaysWhereBytesDiffer) {
  Blob other = pattern(100);
  other[40] ^= std::byte{1};
  const Message graph = model_of({});
  const Archive before =
      opened(archive_of(model_of({}), {zip_entry("b.txt", pattern(100)), zip_entry("c.txt", blob("c")),
                                       zip_entry("same.txt", blob("s")), zip_entry("d.txt", blob("de")),
                                       zip_entry("g.onnx", graph.view())})
                 .bytes);
  const Archive after =
      opened(archive_of(model_of({}),
                        {zip_entry("a.txt", blob("new")), zip_entry("b.txt", other), zip_entry("same.txt", blob("s")),
                         zip_entry("d.txt", blob("d")), zip_entry("g.onnx", graph.view())})
                 .bytes);
  const auto lines = [&](const std::set<std::string>& graphs) {
    std::vector<std::string> found;
    for (const FileChange& file : compare_side_files(before, after, graphs)) {
      found.push_back(std::string(to_string(file.change)) + " " + file.name + " " + std::to_string(file.bytes_before) +
                      " " + std::to_string(file.bytes_after) + " " + std::to_string(file.first));
    }
    return found;
  };
  const std::vector<std::string> files = {"added a.txt 0 3 0", "changed b.txt 100 100 40", "removed c.txt 1 0 0",
                                          "changed d.txt 2 1 1"};
  EXPECT_EQ(lines({}), files);
  std::vector<std::string> with_graph = files;
  const std::string size = std::to_string(graph.size());
  with_graph.push_back("changed g.onnx " + size + " " + size + " " + size);
  EXPECT_EQ(lines({"g.onnx"}), with_graph) << "other data that it names";
}

TEST(ExpectUndamaged, ReadsOnlyWhatDiffers) {
  Built built = archive_of(model_of({}), {zip_entry("a.txt", pattern(10)), zip_entry("b.txt", pattern(10))});
  flip_bit(built.bytes, built.entry("a.txt").data_offset);
  const Archive archive = opened(built.bytes);
  const auto refusal = [&](const std::string& changed) {
    Difference found;
    found.files = {{Change::changed, changed}};
    return refusal_of([&] { expect_undamaged(archive, found); });
  };
  EXPECT_EQ(refusal("b.txt"), std::nullopt);
  EXPECT_EQ(refusal("a.txt"), (ErrorContext{Code::zip_data_crc, "a.txt", built.entry("a.txt").data_offset}));
}

}  // namespace
}  // namespace onnxar::testing
