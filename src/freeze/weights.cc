#include "freeze/weights.h"

#include <filesystem>
#include <map>
#include <utility>

#include "base/paths.h"
#include "base/text.h"
#include "numpy/npz.h"
#include "numpy/safetensors.h"
#include "proto/messages.h"

namespace onnxar {
namespace {

using base::concat;

[[noreturn]] void refuse_type(const schema::TensorProto& tensor, const std::string& found) {
  throw Error(Code::onnx_weights_type, concat("tensor ", base::quoted(tensor.name()), " must have type ",
                                              to_string(type_of(tensor)), ", but has type ", found, " in this file"));
}

void set_dims(schema::TensorProto& tensor, const std::vector<std::int64_t>& dims) {
  tensor.mutable_dims()->Assign(dims.begin(), dims.end());
}

class WeightsOfArrays final : public Weights {
 public:
  explicit WeightsOfArrays(NpzFile file) : file_(std::move(file)) {}

  [[nodiscard]] std::vector<std::string> names() const override { return file_.names(); }

  void fill(Model& model, schema::TensorProto& tensor, const Fits& fits) override {
    NpzFile::Array array = file_.read(tensor.name());
    const DataType type = type_of(tensor);
    // ml_dtypes stores one element per byte. Packing would be a conversion, and freeze converts nothing.
    if (bits_per_element(type) % 8 != 0) {
      throw Error(Code::onnx_weights_type,
                  concat("tensor ", base::quoted(tensor.name()), " has elements of ", bits_per_element(type),
                         " bits, which NumPy does not pack; fill it from a model or archive"));
    }
    // NumPy has no bfloat16 or float8, so arrays of the same width are accepted.
    if (!is_numpy_form(type, array.descr)) refuse_type(tensor, array.descr);
    // Only after both checks: the declared shape may leave dimensions open, and those of the array replace it.
    fits(array.dims);
    set_dims(tensor, array.dims);
    model.set_payload(tensor, std::move(array.data));
  }

 private:
  NpzFile file_;
};

class WeightsOfSafetensors final : public Weights {
 public:
  explicit WeightsOfSafetensors(SafetensorsFile file) : file_(std::move(file)) {}

  [[nodiscard]] std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : file_.tensors()) names.push_back(name);
    return names;
  }

  void fill(Model& model, schema::TensorProto& tensor, const Fits& fits) override {
    const SafeTensor& found = file_.tensors().at(tensor.name());
    if (type_of(tensor) != found.type) refuse_type(tensor, to_string(found.type));
    fits(found.dims);
    set_dims(tensor, found.dims);
    model.set_payload(tensor, file_.data(found));
  }

 private:
  SafetensorsFile file_;
};

class WeightsOfModel final : public Weights {
 public:
  explicit WeightsOfModel(Model model) : model_(std::move(model)) {
    for (const auto& tensor : model_.proto().graph().initializer()) tensors_.emplace(tensor.name(), &tensor);
  }

  [[nodiscard]] std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& tensor : model_.proto().graph().initializer()) names.push_back(tensor.name());
    return names;
  }

  void fill(Model& model, schema::TensorProto& tensor, const Fits& fits) override {
    const schema::TensorProto& found = *tensors_.at(tensor.name());
    const DataType type = type_of(found);
    if (found.data_type() != tensor.data_type()) refuse_type(tensor, to_string(type));
    const std::vector<std::int64_t> dims(found.dims().begin(), found.dims().end());
    fits(dims);
    set_dims(tensor, dims);
    // Strings have no raw bytes, so a payload cannot hold them.
    if (type == DataType::string) {
      *tensor.mutable_string_data() = found.string_data();
    } else {
      model.set_payload(tensor, lasting_payload(found));
    }
  }

 private:
  /// Copies data that is inside a message of this model, because the filled model outlives it. Linked data has a share
  /// in its file, so a view is enough.
  [[nodiscard]] ByteSpan lasting_payload(const schema::TensorProto& tensor) const {
    ByteSpan data = model_.payload(tensor);
    if (is_linked(tensor) || data.owned()) return data;
    return ByteSpan::own({data.bytes().begin(), data.bytes().end()});
  }

  Model model_;
  std::map<std::string, const schema::TensorProto*> tensors_;
};

}  // namespace

std::unique_ptr<Weights> open_weights(const FreezeOptions& options) {
  if (SafetensorsFile::is_one(options.weights)) {
    return std::make_unique<WeightsOfSafetensors>(SafetensorsFile::open(options.weights));
  }
  if (!NpzFile::is_one(options.weights)) {
    return std::make_unique<WeightsOfModel>(Model::load(options.weights, options.load));
  }
  const LoadOptions& load = options.load;
  const std::filesystem::path folder = load.temporary_dir.empty() ? base::temporary_folder() : load.temporary_dir;
  return std::make_unique<WeightsOfArrays>(NpzFile::open(options.weights, folder, load.max_expansion));
}

}  // namespace onnxar
