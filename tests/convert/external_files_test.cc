// Data files are opened only in the model's folder, and each is mapped once.
#include "convert/external_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "convert/open.h"
#include "support/samples.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

constexpr std::uint64_t place_of_tensor = 77;

/// A folder with a model and a data file of 100 bytes in it, and a secret beside the folder.
class ExternalFilesTest : public ::testing::Test {
 protected:
  ExternalFilesTest() {
    root_.write_file("model/m.onnx", "model");
    root_.write_file("model/w.bin", pattern(100));
    root_.write_file("model/sub/w.bin", pattern(100, 1));
    root_.write_file("secret", "secret");
  }

  [[nodiscard]] fs::path model() const { return root_ / "model/m.onnx"; }
  [[nodiscard]] static ByteSpan resolve(ExternalFiles& files, const std::string& location, std::uint64_t offset = 0,
                                        std::optional<std::uint64_t> length = {},
                                        std::optional<std::uint64_t> expected = {}) {
    return files.resolve({location, offset, length}, expected, place_of_tensor).bytes;
  }
  [[nodiscard]] Blob read(const std::string& location) const {
    ExternalFiles files(model(), {});
    const ByteSpan span = resolve(files, location);
    return {span.bytes().begin(), span.bytes().end()};
  }
  void expect_refused(const std::string& location, Code code, std::uint64_t offset = 0,
                      std::optional<std::uint64_t> length = {}, std::optional<std::uint64_t> expected = {}) const {
    ExternalFiles files(model(), {});
    const Error error = error_of([&] { static_cast<void>(resolve(files, location, offset, length, expected)); });
    expect_error(error, code, "", kind(error.code()) == Kind::io ? std::nullopt : std::optional(place_of_tensor));
  }
  void link(const std::string& target, const std::string& name) const { make_symlink(target, root_ / name); }

  TempDir root_;
};

TEST_F(ExternalFilesTest, AFileInTheFolderOrBelowIsRead) {
  EXPECT_EQ(read("w.bin"), pattern(100));
  EXPECT_EQ(read("sub/w.bin"), pattern(100, 1));
  EXPECT_EQ(read("./w.bin"), pattern(100));
  EXPECT_EQ(read("sub//./w.bin"), pattern(100, 1));
}

TEST_F(ExternalFilesTest, ASliceIsWhatOffsetAndLengthSay) {
  ExternalFiles files(model(), {});
  const ByteSpan whole = resolve(files, "w.bin");
  const auto slice = [&](std::uint64_t offset, std::optional<std::uint64_t> length,
                         std::optional<std::uint64_t> expected) {
    const ByteSpan span = resolve(files, "w.bin", offset, length, expected);
    return onnx::Range{static_cast<std::uint64_t>(span.bytes().data() - whole.bytes().data()),
                       static_cast<std::uint64_t>(span.bytes().data() - whole.bytes().data()) + span.size()};
  };
  EXPECT_EQ(slice(10, 20, {}), (onnx::Range{10, 30}));
  EXPECT_EQ(slice(10, {}, 20), (onnx::Range{10, 30})) << "without a length, what the tensor wants";
  EXPECT_EQ(slice(10, {}, {}), (onnx::Range{10, 100})) << "without either, all to the end";
  EXPECT_EQ(slice(100, 0, {}), (onnx::Range{100, 100}));
  EXPECT_EQ(slice(0, 100, {}), (onnx::Range{0, 100}));
}

TEST_F(ExternalFilesTest, ASliceThatLeavesTheFileIsRefused) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  expect_refused("w.bin", Code::onnx_external_out_of_range, 0, 101);
  expect_refused("w.bin", Code::onnx_external_out_of_range, 101, 0);
  expect_refused("w.bin", Code::onnx_external_out_of_range, 100, 1);
  expect_refused("w.bin", Code::onnx_external_out_of_range, 81, {}, 20);
  expect_refused("w.bin", Code::onnx_external_out_of_range, 101);
  expect_refused("w.bin", Code::onnx_external_out_of_range, most, 1);
  expect_refused("w.bin", Code::onnx_external_out_of_range, 1, most);
  expect_refused("w.bin", Code::onnx_external_out_of_range, most - 10, 20);
}

TEST_F(ExternalFilesTest, AnEmptyFileHoldsNoBytes) {
  root_.write_file("model/empty", "");
  EXPECT_TRUE(read("empty").empty());
  expect_refused("empty", Code::onnx_external_out_of_range, 0, 1);
}

TEST_F(ExternalFilesTest, NonexistentFileIsMissing) {
  for (const std::string location : {"none", "none/w.bin", "sub/none", "w.bin/w.bin", "w.bin/"}) {
    SCOPED_TRACE(location);
    expect_refused(location, Code::onnx_external_missing);
  }
}

TEST_F(ExternalFilesTest, RefusesLocationsThatCannotBeInTheFolder) {
  const std::string absolute = (root_ / "secret").string();
  for (const std::string& location : {""s, absolute, "/etc/passwd"s, (root_ / "model/w.bin").string(), "../secret"s,
                                      ".."s, "../model/w.bin"s, "sub/../../secret"s, "junk/../../secret"s, "sub/.."s,
                                      "sub/../w.bin"s, "./../secret"s, "w.bin\0"s, "w.bin\0/../secret"s}) {
    SCOPED_TRACE(escaped(location));
    expect_refused(location, Code::onnx_external_bad_location);
  }
}

TEST_F(ExternalFilesTest, NamesMayContainDots) {
  root_.write_file("model/..w", "a");
  root_.write_file("model/a..b/..c", "b");
  EXPECT_EQ(read("..w"), blob("a"));
  EXPECT_EQ(read("a..b/..c"), blob("b"));
}

TEST_F(ExternalFilesTest, LinksWithinTheFolderAreFollowed) {
  ONNXAR_NEEDS_SYMLINKS();
  link("sub", "model/folder");
  link("../w.bin", "model/sub/up");
  EXPECT_EQ(read("folder/w.bin"), pattern(100, 1));
  EXPECT_EQ(read("sub/up"), pattern(100));
}

TEST_F(ExternalFilesTest, LinksThatLeaveTheFolderAreRefused) {
  ONNXAR_NEEDS_SYMLINKS();
  link("../secret", "model/relative");
  link("relative", "model/chain");
  link("../none", "model/dangling");
  for (const std::string location : {"relative", "chain", "dangling"}) {
    SCOPED_TRACE(location);
    expect_refused(location, Code::onnx_external_outside);
  }
}

TEST_F(ExternalFilesTest, DanglingLinkIsMissingAndCircleIsRefused) {
  ONNXAR_NEEDS_SYMLINKS();
  link("none", "model/dangling");
  link("circle", "model/circle");
  expect_refused("dangling", Code::onnx_external_missing);
  expect_refused("circle", Code::onnx_external_outside);
}

/// The layout of Hugging Face's cache: names are links to blobs in a shared folder.
TEST_F(ExternalFilesTest, DataMayLieBesideTheTargetOfTheModelsName) {
  ONNXAR_NEEDS_SYMLINKS();
  root_.write_file("blobs/model", "model");
  root_.write_file("blobs/weights", pattern(50));
  link("../../blobs/model", "model/sub/linked.onnx");
  link("../../blobs/weights", "model/sub/linked.data");
  link("../../secret", "model/sub/linked.secret");
  ExternalFiles files(root_ / "model/sub/linked.onnx", {});
  EXPECT_EQ(resolve(files, "linked.data").size(), 50U);
  const Error out = error_of([&] { static_cast<void>(resolve(files, "linked.secret")); });
  expect_error(out, Code::onnx_external_outside, "", place_of_tensor);
  const Error up = error_of([&] { static_cast<void>(resolve(files, "../../blobs/weights")); });
  expect_error(up, Code::onnx_external_bad_location, "", place_of_tensor);
  // The blob is reachable only by a link in the named folder.
  expect_error(error_of([&] { static_cast<void>(resolve(files, "weights")); }), Code::onnx_external_missing, "",
               place_of_tensor);
}

// The model's name is no link here.
TEST_F(ExternalFilesTest, RefusesLinkToAnotherFolder) {
  ONNXAR_NEEDS_SYMLINKS();
  root_.write_file("blobs/weights", pattern(50));
  link("../blobs/weights", "model/linked.data");
  expect_refused("linked.data", Code::onnx_external_outside);
}

/// The model names them, so the fault is the model's and has the tensor's place.
TEST_F(ExternalFilesTest, NonRegularFileIsMissing) {
  for (const std::string location : {"sub", "sub/", ".", "./", "sub/."}) {
    SCOPED_TRACE(location);
    expect_refused(location, Code::onnx_external_missing);
  }
  if (make_pipe(root_ / "model/pipe")) expect_refused("pipe", Code::onnx_external_missing);
}

TEST_F(ExternalFilesTest, ANameThatNoFileCanHaveIsMissing) {
  expect_refused(std::string(300, 'a'), Code::onnx_external_missing);
  expect_refused(std::string(100'000, 'a'), Code::onnx_external_missing);
  expect_refused("sub/" + std::string(300, 'a') + "/w.bin", Code::onnx_external_missing);
}

TEST_F(ExternalFilesTest, MapsEachFileOnceForAllItsNames) {
  ONNXAR_NEEDS_SYMLINKS();
  link("w.bin", "model/link");
  fs::create_hard_link(root_ / "model/w.bin", root_ / "model/hard");
  ExternalFiles files(model(), {});
  const ByteSpan first = resolve(files, "w.bin", 10, 20);
  for (const std::string location : {"w.bin", "./w.bin", "link", "hard"}) {
    const ByteSpan again = resolve(files, location, 10, 20);
    EXPECT_EQ(again.bytes().data(), first.bytes().data()) << location;
    EXPECT_EQ(again.owner(), first.owner()) << location;
  }
  EXPECT_NE(resolve(files, "sub/w.bin").owner(), first.owner());
}

TEST_F(ExternalFilesTest, SlicesOutliveTheFilesAndTheirNames) {
  ByteSpan span;
  {
    ExternalFiles files(model(), {});
    span = resolve(files, "w.bin");
    fs::remove(root_ / "model/w.bin");
    EXPECT_EQ(resolve(files, "w.bin").size(), 100U) << "mapped before, it is not looked up again";
  }
  EXPECT_FALSE(span.owned());
  EXPECT_TRUE(std::ranges::equal(span.bytes(), pattern(100)));
}

TEST_F(ExternalFilesTest, DataFolderReplacesTheModelsFolder) {
  ONNXAR_NEEDS_SYMLINKS();
  root_.write_file("data/w.bin", pattern(7));
  root_.write_file("data/other", pattern(8));
  link("../secret", "data/out");
  ExternalFiles files(model(), root_ / "data");
  EXPECT_EQ(resolve(files, "w.bin").size(), 7U);
  EXPECT_EQ(resolve(files, "other").size(), 8U);
  EXPECT_EQ(id(error_of([&] { static_cast<void>(resolve(files, "sub/w.bin")); }).code()), "onnx.external_data.missing");
  EXPECT_EQ(id(error_of([&] { static_cast<void>(resolve(files, "out")); }).code()), "onnx.external_data.outside");
}

TEST_F(ExternalFilesTest, DataFolderMayBeALink) {
  ONNXAR_NEEDS_SYMLINKS();
  root_.write_file("data/w.bin", pattern(7));
  link("data", "alias");
  ExternalFiles files(model(), root_ / "alias");
  EXPECT_EQ(resolve(files, "w.bin").size(), 7U);
}

TEST_F(ExternalFilesTest, AFolderOrModelThatIsNotThereIsAnInputError) {
  EXPECT_EQ(error_of([&] { const ExternalFiles files(model(), root_ / "none"); }).code(), Code::io_not_found);
  EXPECT_EQ(error_of([&] { const ExternalFiles files(root_ / "none.onnx", {}); }).code(), Code::io_not_found);
  EXPECT_EQ(error_of([&] { const ExternalFiles files(root_ / "none/m.onnx", {}); }).code(), Code::io_not_found);
}

}  // namespace
}  // namespace onnxar::testing
