// Loads models that a test builds, and shows their payloads.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "convert/load.h"
#include "support/samples.h"

namespace onnxar::testing {

class LoadedModelTest : public ::testing::Test {
 protected:
  [[nodiscard]] LoadedModel load(const std::filesystem::path& path, const LoadOptions& options = {}) const {
    return load_model(path, ExternalPolicy::of(options), options);
  }
  [[nodiscard]] LoadedModel load_onnx(const Message& model, const LoadOptions& options = {}) const {
    return load(folder_.write_file("m.onnx", model.view()), options);
  }
  void expect_refused(const Message& model, const Message& tensor, Code code, std::uint64_t offset = 0) const {
    const Error error = error_of([&] { static_cast<void>(load_onnx(model)); });
    expect_error(error, code, "", place_in(model.view(), tensor) + offset);
    EXPECT_EQ(error.path(), folder_ / "m.onnx");
  }
  /// Expects that a tensor is refused at its place in a model.
  void expect_refused(const Message& tensor, Code code) const {
    expect_refused(model_of({floats("first", 3), tensor}), tensor, code);
  }

  TempDir folder_;
};

/// The bytes of each tensor's payload by name. A tensor without a payload has none.
inline std::map<std::string, std::optional<Blob>> payloads_of(const LoadedModel& model) {
  std::map<std::string, std::optional<Blob>> all;
  onnx::walk_tensors(model.skeleton, [&](const onnx::TensorSite& site) {
    std::optional<Blob>& bytes = all[std::string(site.tensor.name)];
    const Payload* payload = model.payload_of(site);
    if (payload == nullptr) return;
    bytes.emplace();
    payload->source->read([&bytes](Bytes piece) { bytes->insert(bytes->end(), piece.begin(), piece.end()); });
    EXPECT_EQ(payload->size(), bytes->size());
  });
  return all;
}

}  // namespace onnxar::testing
