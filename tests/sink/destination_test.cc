#include "sink/destination.h"

#include <gtest/gtest.h>

namespace onnxar::testing {
namespace {

TEST(Destination, AFolderEndsInASlashAndItsModelIsNamedAfterTheInput) {
  const Destination folder = Destination::of("a/b/", "in/resnet.onnxar", Format::onnx_inline);
  EXPECT_TRUE(folder.is_folder());
  EXPECT_EQ(folder.path, "a/b");
  EXPECT_EQ(folder.model, "resnet.onnx");
  EXPECT_EQ(folder.folder_above(), "a");
  EXPECT_EQ(Destination::of("/", "", Format::onnx_external).path, "/");
  EXPECT_EQ(Destination::of("b/", "", Format::onnx_external).model, "model.onnx");
  EXPECT_EQ(Destination::of("b/", "x.onnxar", Format::textproto).model, "x.textproto");
}

TEST(Destination, AnArchiveIsAlwaysAFile) {
  EXPECT_FALSE(Destination::of("a/b/", "x.onnx", Format::archive).is_folder());
}

TEST(Destination, AFileIsInTheWorkingFolderIfItsPathNamesNone) {
  const Destination file = Destination::of("m.onnx", "x.onnxar", Format::onnx_inline);
  EXPECT_FALSE(file.is_folder());
  EXPECT_EQ(file.path, "m.onnx");
  EXPECT_EQ(file.folder_above(), ".");
}

}  // namespace
}  // namespace onnxar::testing
