// Reads weights from another file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "onnxar/model/model.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// The tensors of another file, by name.
class Weights {
 public:
  Weights() = default;
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;
  virtual ~Weights() = default;

  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  /// Sets the data of `tensor` from the tensor of the same name. `tensor` has a name and a type. `fits` throws if the
  /// shape does not match. Errors: as `freeze`.
  using Fits = std::function<void(const std::vector<std::int64_t>&)>;
  virtual void fill(Model& model, schema::TensorProto& tensor, const Fits& fits) = 0;
};

/// Opens `options.weights`: an `.npz`, a safetensors file, or a model in any form; the content tells which. Errors: as
/// `freeze`.
std::unique_ptr<Weights> open_weights(const FreezeOptions& options);

// Fills tensors without data from another file.

/// Fills initializers without data, and inputs without an initializer, from `weights`, and counts them in `report`.
/// Errors: as `freeze`; the model may then be partly changed.
void fill(Model& model, Weights& weights, FreezeReport& report);

}  // namespace onnxar
