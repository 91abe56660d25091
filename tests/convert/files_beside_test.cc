// Data files beside added graphs whose names are also entries of the archive: only equal bytes have one meaning.
#include "convert/files_beside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "archive/opened.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FilesBesideTest : public ::testing::Test {
 protected:
  /// The locations of files beside the graph `g.onnx`.
  std::vector<std::string> found(const Blob& graph) {
    std::vector<std::string> locations;
    const AddedFile file = {"g.onnx", folder_.write_file("in/g.onnx", graph)};
    for (const FileBeside& each : files_beside(file, graph)) locations.push_back(each.location);
    return locations;
  }
  static Message linked_to(const std::string& location) { return model_of({linked_floats("w", 3, location)}); }

  TempDir folder_;
};

TEST_F(FilesBesideTest, FindsEachFileOnce) {
  folder_.write_file("in/w.bin", pattern(24));
  folder_.write_file("in/sub/v.bin", pattern(24));
  const Message graph = model_of({linked_floats("a", 3, "w.bin"), linked_floats("b", 3, "w.bin", 12),
                                  linked_floats("c", 3, "sub/v.bin"), linked_floats("d", 3, "none")});
  EXPECT_THAT(found(graph.view()), ElementsAre("w.bin", "sub/v.bin"));
  EXPECT_THAT(files_beside({"g.onnx", {}, payload_of(ByteSpan::borrow(graph.view(), nullptr)).source}, graph.view()),
              IsEmpty())
      << "a graph in memory has no folder";
}

TEST_F(FilesBesideTest, LocationsOutsideTheFolderAreNotOpened) {
  folder_.write_file("secret", pattern(24));
  for (const std::string& location : {std::string("../secret"), (folder_ / "secret").string(), std::string("sub/..")}) {
    EXPECT_THAT(found(linked_to(location).view()), IsEmpty()) << location;
  }
}

TEST_F(FilesBesideTest, LinkThatLeavesTheFolderIsRefused) {
  ONNXAR_NEEDS_SYMLINKS();
  folder_.write_file("secret", pattern(24));
  std::filesystem::create_directory(folder_ / "in");
  make_symlink("../secret", folder_ / "in/w.bin");
  expect_error(error_if_any([&] { return found(linked_to("w.bin").view()); }),
               {.code = Code::onnx_external_outside, .path = folder_ / "in/g.onnx"});
}

TEST_F(FilesBesideTest, BrokenGraphHasNone) {
  folder_.write_file("in/w.bin", pattern(24));
  Blob cut = linked_to("w.bin").view();
  cut.insert(cut.end(), std::byte{0xff});
  EXPECT_THAT(found(cut), IsEmpty());
}

TEST_F(FilesBesideTest, OtherBytesThanTheEntryAreRefused) {
  const Archive archive = opened(built_with({zip_entry("w.bin", pattern(24))}).bytes);
  const auto refusal = [&](const Blob& beside) {
    folder_.write_file("in/w.bin", beside);
    const Message graph = linked_to("w.bin");
    const AddedFile file = {"g.onnx", folder_.write_file("in/g.onnx", graph.view())};
    const SideFile entry = {"g.onnx", payload_of(ByteSpan::own(graph.view())).source};
    return error_if_any([&] { expect_one_meaning({file}, {entry}, archive); });
  };
  EXPECT_FALSE(refusal(pattern(24)));
  const ExpectedError expected{
      .code = Code::usage_argument, .entry = "g.onnx", .path = folder_ / "in/w.bin", .says = {"with other bytes"}};
  expect_error(refusal(pattern(24, 9)), expected);
  expect_error(refusal(pattern(23)), expected);
}

}  // namespace
}  // namespace onnxar::testing
