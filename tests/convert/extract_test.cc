// Tests the extraction of tensors to files.
#include <gmock/gmock.h>

#include <cerrno>
#include <string>

#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/special_files.h"
#include "support/system_calls.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

ExtractOptions unsynced(bool raw = false) { return {.raw = raw, .output = {.sync = false}}; }

class ExtractTest : public ::testing::Test {
 protected:
  TempDir folder_;
};

// The header's size is a multiple of 64 bytes.
TEST_F(ExtractTest, ReportsTensorAndWritesItAfterNumpyHeader) {
  const Message model = model_of({tensor("w", dtype::float32, {2, 3}).raw_data(pattern(24))});
  const auto rows = extract(folder_.write_file("m", model.view()), "w", folder_ / "x", unsynced());
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].tensor.site, "graph.initializer[0]");
  EXPECT_EQ(rows[0].descr, "<f4");
  EXPECT_FALSE(rows[0].as_integers);
  const Blob file = folder_.read_file("x");
  EXPECT_EQ(file.size(), rows[0].file_bytes);
  const std::string head = text_of(Bytes(file).first(file.size() - 24));
  EXPECT_EQ(head.size() % 64, 0U);
  EXPECT_EQ(head.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(head.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(head.back(), '\n');
  EXPECT_EQ(Blob(file.end() - 24, file.end()), pattern(24));
}

TEST_F(ExtractTest, SmallElementsGetAByteEach) {
  const Message model = model_of({tensor("w", dtype::int4, {5}).raw_data(blob("\x71\xf8\x09"))});
  extract(folder_.write_file("m", model.view()), "w", folder_ / "x", unsynced());
  const Blob file = folder_.read_file("x");
  EXPECT_EQ(text_of(Bytes(file).last(5)), "\x01\x07\xf8\xff\xf9");
}

TEST_F(ExtractTest, TakesSiteBeforeOutputOfConstant) {
  const auto value = [](std::string_view byte) { return tensor("", dtype::uint8, {1}).raw_data(blob(byte)); };
  const Message nodes = graph({.nodes = {constant("graph.node[1].attr.value", value("o")), constant("c", value("s"))}});
  const auto path = folder_.write_file("m", model({.graph = nodes}).view());
  extract(path, "graph.node[1].attr.value", folder_ / "x", unsynced(true));
  EXPECT_EQ(text_of(folder_.read_file("x")), "s");
}

TEST_F(ExtractTest, PatternWritesAFolderOfFilesOrNothing) {
  const auto path = folder_.write_file("m", model_of({floats("a/w", 4), floats("A/w", 4), floats("b", 4)}).view());
  EXPECT_THAT(extract(path, "[aA]/*", folder_ / "out/", unsynced(true)), SizeIs(2));
  EXPECT_THAT(folder_.file_names(), ElementsAre("m", "out/", "out/A_w_2.bin", "out/a_w.bin"));
  EXPECT_EQ(error_of([&] { extract(path, "*", folder_ / "out", unsynced(true)); }).code(), Code::output_exists);
  EXPECT_THAT(folder_.file_names(), ElementsAre("m", "out/", "out/A_w_2.bin", "out/a_w.bin"));
}

TEST_F(ExtractTest, MainInitializerHasPlainFileName) {
  const Message branch = graph({.initializers = {tensor("w", dtype::uint8, {1}).raw_data(blob("b"))}});
  ModelParts parts;
  parts.graph = graph({.nodes = {node("If", {}, {}, {attribute_g("then_branch", branch)})},
                       .initializers = {tensor("w", dtype::uint8, {1}).raw_data(blob("m"))}});
  const auto path = folder_.write_file("m", model(parts).view());
  EXPECT_THAT(extract(path, "*", folder_ / "out/", unsynced(true)), SizeIs(2));
  EXPECT_EQ(folder_.read_text("out/w.bin"), "m");
  EXPECT_EQ(folder_.read_text("out/w_2.bin"), "b");
}

TEST_F(ExtractTest, ASyncThatFailsLeavesNoFile) {
  if (!folders_are_synced()) GTEST_SKIP() << "this system syncs no folders";
  const auto path = folder_.write_file("m", model_of({floats("a", 4), floats("b", 4)}).view());
  for (int passing = 0;; ++passing) {
    FileCallLog log;
    log.fail = [syncs = 0, passing](const FileCall& call) mutable {
      return call.kind == FileCall::Kind::sync && syncs++ == passing ? EIO : 0;
    };
    const auto error = code_of([&] { return extract(path, "*", folder_ / "out/", {.raw = true}); });
    if (!error) {
      EXPECT_EQ(passing, 5) << "two files; their folder, before and after the last; the folder that holds it";
      break;
    }
    ASSERT_EQ(error, Code::io_failed);
    ASSERT_THAT(folder_.file_names(), ElementsAre("m")) << passing;
  }
  EXPECT_THAT(folder_.file_names(), ElementsAre("m", "out/", "out/a.bin", "out/b.bin"));
}

TEST_F(ExtractTest, AnArchiveThatIsBeingEditedIsNotReplaced) {
  const auto path = folder_.write_file("m", model_of({floats("w", 4)}).view());
  const auto target = folder_.write_file("x", smallest_archive().bytes);
  const auto inside = folder_.write_file("out/w.bin", smallest_archive().bytes);
  const ArchiveEditor editor = ArchiveEditor::open(target), other = ArchiveEditor::open(inside);
  const ExtractOptions options{.raw = true, .output = {.overwrite = true, .sync = false}};
  EXPECT_EQ(code_of([&] { return extract(path, "w", target, options); }), Code::archive_busy);
  EXPECT_EQ(code_of([&] { return extract(path, "w", folder_ / "out", options); }), Code::archive_busy);
  EXPECT_EQ(folder_.read_file("out/w.bin"), smallest_archive().bytes);
}

TEST_F(ExtractTest, MissingOrAmbiguousNameIsAUsageError) {
  const auto path = folder_.write_file("m", model_of({floats("w", 4), floats("w", 4)}).view());
  const auto code = [&](const char* which) {
    return error_of([&] { extract(path, which, folder_ / "x", unsynced()); }).code();
  };
  EXPECT_EQ(code("w"), Code::usage_ambiguous_tensor);
  EXPECT_EQ(code("v"), Code::usage_no_such_tensor);
  EXPECT_EQ(code(""), Code::usage_no_such_tensor);
  EXPECT_THAT(extract(path, "graph.initializer[1]", folder_ / "x", unsynced()), SizeIs(1));
  EXPECT_THAT(folder_.file_names(), ElementsAre("m", "x"));
}

TEST_F(ExtractTest, NameBeforeSiteUnlessTildeFollows) {
  const Message attribute = constant("y", floats("w", 4));
  const Message proto = model({.graph = graph({.nodes = {attribute, attribute},
                                               .initializers = {floats("graph.initializer[1]", 4), floats("w", 4),
                                                                floats("graph.initializer[1]~", 4)}})});
  const auto path = folder_.write_file("m", proto.view());
  int count = 0;
  const auto site = [&](const char* which) {
    return extract(path, which, folder_ / std::to_string(count++), unsynced()).at(0).tensor.site;
  };
  EXPECT_EQ(site("w"), "graph.initializer[1]") << "the initializer of the main graph";
  EXPECT_EQ(site("graph.initializer[1]"), "graph.initializer[0]");
  EXPECT_EQ(site("graph.initializer[1]~"), "graph.initializer[2]");
  EXPECT_EQ(site("graph.initializer[1]~~"), "graph.initializer[1]");
}

}  // namespace
}  // namespace onnxar::testing
