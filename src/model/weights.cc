#include "model/weights.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/open_file.h"
#include "base/text.h"
#include "model/messages.h"
#include "model/npz.h"
#include "model/prune.h"
#include "model/safetensors.h"
#include "onnxar/model/inspect.h"

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

namespace {

using base::concat;

[[noreturn]] void refuse_shape(const std::string& name, const std::string& wanted, const std::string& found) {
  throw Error(Code::onnx_weights_shape, concat("tensor ", base::quoted(name), " must have shape ", wanted,
                                               ", but has shape ", found, " in this file"));
}

/// Compares `dims` with the shape that an input declares. Errors: onnx.weights.shape.
void expect_fit(const schema::ValueInfoProto& input, const std::vector<std::int64_t>& dims) {
  const auto& type = input.type().tensor_type();
  if (!type.has_shape()) return;
  const auto& shape = type.shape();
  bool fits = shape.dim_size() == static_cast<int>(dims.size());
  std::vector<Dimension> wanted;
  for (int i = 0; i < shape.dim_size(); ++i) {
    const auto& dim = shape.dim(i);
    if (dim.has_dim_value() && fits) fits = dim.dim_value() == dims[static_cast<std::size_t>(i)];
    wanted.push_back({dim.has_dim_value() ? std::optional(dim.dim_value()) : std::nullopt, dim.dim_param()});
  }
  if (fits) return;
  refuse_shape(input.name(), shape_text(wanted, std::identity()), shape_text(dims));
}

/// Fills the tensors of a model's graph from another file.
class Filling {
 public:
  Filling(Model& model, Weights& weights, FreezeReport& report)
      : model_(model), graph_(*model.proto().mutable_graph()), weights_(weights), report_(report) {
    for (std::string& name : weights.names()) left_.insert(std::move(name));
  }

  void run() {
    initializers();
    inputs();
    report_.surplus.assign(left_.begin(), left_.end());
    // If nothing matches, the file is probably the wrong one. Surplus tensors alone are only reported.
    if (report_.filled == 0) refuse_all();
  }

 private:
  void initializers() {
    for (auto& tensor : *graph_.mutable_initializer()) {
      // Data that the model has already is never replaced.
      if (!is_open(tensor) || !take(tensor.name())) continue;
      const std::vector<std::int64_t> wanted(tensor.dims().begin(), tensor.dims().end());
      fill(tensor, [&](const std::vector<std::int64_t>& dims) {
        if (dims != wanted) refuse_shape(tensor.name(), shape_text(wanted), shape_text(dims));
      });
    }
  }

  void inputs() {
    std::set<std::string> filled;
    std::set<std::string> initialized;
    for (const auto& tensor : graph_.initializer()) initialized.insert(tensor.name());
    for (const auto& input : graph_.input()) {
      const bool is_tensor = input.type().has_tensor_type();
      if (!is_tensor || initialized.contains(input.name()) || !take(input.name())) continue;
      // Added before it is filled: the contract allows a partly changed model after an error.
      schema::TensorProto& tensor = *graph_.add_initializer();
      tensor.set_name(input.name());
      tensor.set_data_type(input.type().tensor_type().elem_type());
      fill(tensor, [&](const std::vector<std::int64_t>& dims) { expect_fit(input, dims); });
      filled.insert(input.name());
    }
    constexpr std::int64_t first_without_inputs = 4;  // before IR version 4 every initializer must also be an input
    if (model_.proto().ir_version() < first_without_inputs) return;
    keep_only(*graph_.mutable_input(), [&](const auto& input) { return !filled.contains(input.name()); });
  }

  /// Takes the weights of this name. Returns whether they exist and no other tensor has taken them.
  bool take(const std::string& name) {
    wanted_.push_back(name);
    return left_.erase(name) != 0;
  }

  [[noreturn]] void refuse_all() const {
    constexpr std::size_t most = 3;
    std::string text =
        "no tensor in it has the name of an initializer without data, or of an input without an initializer";
    for (std::size_t i = 0; i < std::min(most, wanted_.size()); ++i) {
      text += concat(i == 0 ? "; the model needs " : ", ", base::quoted(wanted_[i]));
    }
    base::NearNames near(wanted_.empty() ? std::string_view() : wanted_.front());
    for (const std::string& name : left_) near.consider(name);
    throw Error(Code::usage_argument, text + near.text());
  }

  void fill(schema::TensorProto& tensor, const Weights::Fits& fits) {
    weights_.fill(model_, tensor, fits);
    ++report_.filled;
  }

  Model& model_;
  schema::GraphProto& graph_;
  Weights& weights_;
  FreezeReport& report_;
  std::set<std::string> left_;       // names in the file that no tensor has taken yet
  std::vector<std::string> wanted_;  // names of tensors without data
};

}  // namespace

void fill(Model& model, Weights& weights, FreezeReport& report) { Filling(model, weights, report).run(); }

}  // namespace onnxar
