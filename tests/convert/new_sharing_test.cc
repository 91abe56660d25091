// A model that was merged from two archives takes data of the one for both: `replace` warns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/convert.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NewSharing : public ::testing::Test {
 protected:
  /// The remarks on replacing the model of an archive of weights `a` and `b`, and of this graph, by `model`.
  std::vector<Finding> remarks_on(const Message& model, const Message& before, const Message& graph = graph_without()) {
    const Built archive = archive_of(before, {zip_entry("a", pattern(1200, 1)), zip_entry("b", pattern(1200, 2)),
                                              zip_entry("g.onnx", graph.view())});
    const fs::path path = folder_.write_file("x.onnxar", archive.bytes);
    return onnxar::replace(path, model.view(), {.output = unsynced_output}).remarks;
  }
  static Message graph_without() { return model_of({floats("small", 3)}); }

  TempDir folder_;
  const Message plain_ = model_of({linked_floats("a", 300, "a"), linked_floats("b", 300, "b")});
};

TEST_F(NewSharing, WarnsOfModelMergedFromTwoArchives) {
  const Message merged = model_of({linked_floats("left/a", 300, "a"), linked_floats("left/b", 300, "b"),
                                   linked_floats("right/a", 300, "a"), linked_floats("right/b", 300, "b")});
  const auto remarks = remarks_on(merged, plain_);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].severity, Severity::warning);
  EXPECT_EQ(remarks[0].code, Code::archive_entry_shared);
  EXPECT_EQ(remarks[0].place.entry, "a");
  EXPECT_THAT(remarks[0].message, HasSubstr("\"left/a\" and \"right/a\" now have the same data, which 1 tensor had "
                                            "before (and 1 more entry); if the model was merged from two archives"));
}

TEST_F(NewSharing, SaysNothingOfModelsOfOneArchive) {
  const Message tied = model_of({linked_floats("a", 300, "a"), linked_floats("b", 300, "a")});
  const Message renamed = model_of({linked_floats("x/a", 300, "a"), linked_floats("x/b", 300, "a")});
  const Message same_name = model_of({linked_floats("a", 300, "a"), linked_floats("a", 300, "a")});
  const Message parts = model_of({linked_floats("a", 100, "a", 0), linked_floats("b", 200, "a", 400)});
  EXPECT_THAT(remarks_on(plain_, plain_), IsEmpty());
  EXPECT_THAT(remarks_on(renamed, tied), IsEmpty());
  EXPECT_THAT(remarks_on(renamed, plain_, plain_), IsEmpty()) << "the graph of a family had it, too";
  EXPECT_THAT(remarks_on(parts, plain_), IsEmpty());
  for (const Finding& each : remarks_on(same_name, plain_)) EXPECT_NE(each.code, Code::archive_entry_shared);
}

}  // namespace
}  // namespace onnxar::testing
