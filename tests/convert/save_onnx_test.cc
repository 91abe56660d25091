// Plain ONNX files and their data files: where slices begin, and names that no data file can have.
#include "convert/save_onnx.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "convert/converting.h"
#include "onnxar/convert.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

// std::filesystem throws its own exception for a name that no file can have.
TEST_F(ConvertTest, TooLongDataFileNameIsAnIoError) {
  const fs::path input = folder_.write_file("in.onnx", model_of({floats("w", 256)}).view());
  SaveOptions options = saved_as(Format::onnx_external);
  options.data_file = std::string(300, 'w');
  EXPECT_EQ(kind(error_of([&] { pack_or_unpack(input, folder_ / "out.onnx", options); }).code()), Kind::io);
}

TEST_F(ConvertTest, ExternalDataHasAlignedConsecutiveSlices) {
  const Message inside = model_of({floats("a", 257, 1), floats("b", 3), floats("c", 256, 2)});
  const Message outside =
      model_of({linked_floats("a", 257, "w.bin"), floats("b", 3), linked_floats("c", 256, "w.bin", 1088)});
  EXPECT_EQ(converted(inside.view(), saved_as(Format::onnx_external)), outside.view());
  Blob data = pattern(1028, 1);
  data.resize(1088);
  const Blob c = pattern(1024, 2);
  data.insert(data.end(), c.begin(), c.end());
  EXPECT_EQ(folder_.read_file("w.bin"), data);
  EXPECT_EQ(report_.file_bytes, outside.size() + data.size());
}

TEST_F(ConvertTest, LargeSlicesOfADataFileBeginOnAPage) {
  const Message inside = model_of({floats("a", 256, 1), floats("b", 1U << 18U, 2)});
  EXPECT_EQ(converted(inside.view(), saved_as(Format::onnx_external)),
            model_of({linked_floats("a", 256, "w.bin"), linked_floats("b", 1U << 18U, "w.bin", 4096)}).view());
}

}  // namespace
}  // namespace onnxar::testing
