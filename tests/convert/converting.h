// A test of conversions has a folder, and compares the bytes of outputs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "onnxar/convert.h"
#include "support/samples.h"

namespace onnxar::testing {

class ConvertTest : public ::testing::Test {
 protected:
  /// The output of converting a file with these bytes.
  [[nodiscard]] Blob converted(const Blob& input, const SaveOptions& save, const LoadOptions& load = {}) {
    const std::filesystem::path path = folder_.write_file("in", input);
    std::filesystem::remove(folder_ / "out");
    report_ = pack_or_unpack(path, folder_ / "out", save, load);
    return folder_.read_file("out");
  }
  [[nodiscard]] Blob packed(const Message& model, const SaveOptions& save = saved_as(Format::archive)) {
    return converted(model.view(), save);
  }
  [[nodiscard]] Blob unpacked(const Blob& archive) { return converted(archive, saved_as(Format::onnx_inline)); }

  TempDir folder_;
  ConvertReport report_;
};

}  // namespace onnxar::testing
