// Turns inputs of a model into initializers with given values, and prunes what its outputs do not need.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/file_kind.h"
#include "archive/opened_input.h"
#include "archive/output_options.h"
#include "base/annotated.h"
#include "base/kept.h"
#include "base/mapped_file.h"
#include "base/near_names.h"
#include "base/paths.h"
#include "base/text.h"
#include "model/front_end.h"
#include "model/messages.h"
#include "model/npy.h"
#include "model/npz.h"
#include "model/payload_table.h"
#include "model/prune.h"
#include "model/safetensors.h"
#include "model/scope.h"
#include "model/walk.h"
#include "onnx/fields.h"
#include "onnxar/model/model.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;
using base::concat;

/// Throws if the tensor must not have this shape.
using Fits = std::function<void(const std::vector<std::int64_t>&)>;

/// The tensors of another file, by name.
struct Weights {
  std::vector<std::string> names;
  /// Sets the data of a tensor, which has a name and a type, from the tensor of the same name. Throws what `freeze`
  /// throws.
  std::function<void(Model&, schema::TensorProto&, const Fits&)> fill;
};

[[noreturn]] void refuse_type(const schema::TensorProto& tensor, const std::string& found) {
  throw Error(Code::onnx_weights_type, concat("tensor ", base::quoted(tensor.name()), " must have type ",
                                              to_string(type_of(tensor)), ", but has type ", found, " in this file"));
}

void set_dims(schema::TensorProto& tensor, const std::vector<std::int64_t>& dims) {
  tensor.mutable_dims()->Assign(dims.begin(), dims.end());
}

Weights weights_of(NpzFile opened) {
  const auto file = std::make_shared<NpzFile>(std::move(opened));
  return {file->names(), [file](Model& model, schema::TensorProto& tensor, const Fits& fits) {
            NpzFile::Array array = file->read(tensor.name());
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
          }};
}

Weights weights_of(const std::shared_ptr<const base::MappedFile>& safetensors) {
  const std::map<std::string, SafeTensor> tensors = parse_safetensors(safetensors->bytes());
  Weights weights;
  for (const auto& [name, tensor] : tensors) weights.names.push_back(name);
  weights.fill = [safetensors, tensors](Model& model, schema::TensorProto& tensor, const Fits& fits) {
    const SafeTensor& found = tensors.at(tensor.name());
    if (type_of(tensor) != found.type) refuse_type(tensor, to_string(found.type));
    fits(found.dims);
    set_dims(tensor, found.dims);
    model.set_payload(tensor, ByteSpan::borrow(found.data, safetensors));
  };
  return weights;
}

Weights weights_of(Model opened) {
  const auto source = std::make_shared<const Model>(std::move(opened));
  Weights weights;
  std::map<std::string, const schema::TensorProto*> tensors;
  for (const auto& tensor : source->proto().graph().initializer()) {
    weights.names.push_back(tensor.name());
    tensors.emplace(tensor.name(), &tensor);
  }
  weights.fill = [source, tensors](Model& model, schema::TensorProto& tensor, const Fits& fits) {
    const schema::TensorProto& found = *tensors.at(tensor.name());
    const DataType type = type_of(found);
    if (found.data_type() != tensor.data_type()) refuse_type(tensor, to_string(type));
    const std::vector<std::int64_t> dims(found.dims().begin(), found.dims().end());
    fits(dims);
    set_dims(tensor, dims);
    // Strings have no raw bytes, so a payload cannot hold them.
    if (type == DataType::string) {
      *tensor.mutable_string_data() = found.string_data();
      return;
    }
    if (is_linked(found)) return PayloadTable::share(model, tensor, *source, found);
    // Data inside a message of the source is copied, because the filled model outlives it.
    const ByteSpan data = source->payload(found);
    model.set_payload(tensor, data.owned() ? data : ByteSpan::own({data.bytes().begin(), data.bytes().end()}));
  };
  return weights;
}

/// Opens `options.weights`: an `.npz`, a safetensors file, or a model in any form; the content decides.
Weights open_weights(const FreezeOptions& options) {
  const OpenedInput input(options.weights);
  if (safetensors_header(input.file()->bytes())) return weights_of(input.file());
  const LoadOptions& load = options.load;
  if (!NpzFile::is_one(input)) return weights_of(Model::load(options.weights, load));
  const fs::path folder = load.temporary_dir.empty() ? base::temporary_folder() : load.temporary_dir;
  return weights_of(NpzFile::open(input, folder, load.max_expansion));
}

[[noreturn]] void refuse_shape(const std::string& name, const std::string& wanted, const std::string& found) {
  throw Error(Code::onnx_weights_shape, concat("tensor ", base::quoted(name), " must have shape ", wanted,
                                               ", but has shape ", found, " in this file"));
}

/// Compares `dims` with the shape that an input declares. Throws onnx.weights.shape.
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

/// Fills initializers without data, and inputs without an initializer, from another file, and counts them.
class Filling {
 public:
  Filling(base::Kept<Model> model, base::Kept<const Weights> weights, base::Kept<FreezeReport> report)
      : model_(model), weights_(weights), report_(report) {
    left_.insert(weights_.names.begin(), weights_.names.end());
  }

  void run() {
    initializers();
    inputs();
    report_.surplus.assign(left_.begin(), left_.end());
    // If nothing matches, the file is probably the wrong one. Otherwise surplus tensors are only reported.
    if (report_.filled == 0) refuse_all();
  }

 private:
  [[nodiscard]] schema::GraphProto& graph() const { return *model_.proto().mutable_graph(); }

  void initializers() {
    for (auto& tensor : *graph().mutable_initializer()) {
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
    for (const auto& tensor : graph().initializer()) initialized.insert(tensor.name());
    for (const auto& sparse : graph().sparse_initializer()) initialized.insert(sparse.values().name());
    for (const auto& input : graph().input()) {
      const bool is_tensor = input.type().has_tensor_type();
      if (!is_tensor || initialized.contains(input.name()) || !take(input.name())) continue;
      // Added before it is filled: the contract allows a partly changed model after an error.
      schema::TensorProto& tensor = *graph().add_initializer();
      tensor.set_name(input.name());
      tensor.set_data_type(input.type().tensor_type().elem_type());
      fill(tensor, [&](const std::vector<std::int64_t>& dims) { expect_fit(input, dims); });
      filled.insert(input.name());
    }
    if (model_.proto().ir_version() < onnx::first_ir_with_own_initializers) return;
    keep_only(*graph().mutable_input(), [&](const auto& input) { return !filled.contains(input.name()); });
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

  void fill(schema::TensorProto& tensor, const Fits& fits) {
    weights_.fill(model_, tensor, fits);
    ++report_.filled;
  }

  Model& model_;
  const Weights& weights_;
  FreezeReport& report_;
  std::set<std::string> left_;       // names in the file that no tensor has taken yet
  std::vector<std::string> wanted_;  // names of tensors without data
};

void fill_from(Model& model, const FreezeOptions& options, FreezeReport& report) {
  base::annotated(options.weights, [&] {
    const Weights weights = open_weights(options);
    Filling(model, weights, report).run();
  });
}

/// Clears the field `name` in all messages. Reflection covers messages that ONNX adds later.
void clear_everywhere(schema::ModelProto& model, const std::string& name) {
  for_each_message(model, [&name](const google::protobuf::Message& message) {
    const auto* field = message.GetDescriptor()->FindFieldByName(name);
    if (field != nullptr) message.GetReflection()->ClearField(&changeable(message), field);
  });
}

}  // namespace

FreezeReport freeze(Model& model, const FreezeOptions& options) {
  FreezeReport report;
  if (!options.weights.empty()) fill_from(model, options, report);
  prune(model.proto(), report);
  if (options.strip_docs) clear_everywhere(model.proto(), "doc_string");
  if (options.strip_metadata) clear_everywhere(model.proto(), "metadata_props");
  return report;
}

FreezeReport freeze(const fs::path& input, const fs::path& output, const SaveOptions& save,
                    const FreezeOptions& options) {
  FreezeOptions beside = options;  // inflated weights go beside the output, where the space is needed anyway
  if (beside.load.temporary_dir.empty()) beside.load.temporary_dir = base::absolute_path(output).parent_path();
  return base::annotated(input, [&] {
    // Held until the output is in place. Otherwise, an edit of the archive that is replaced could be lost.
    const auto lock = lock_output(output, save.output);
    Model model = Model::load(input, options.load);
    FreezeReport report = freeze(model, beside);
    report.saved = model.save(output, save);
    return report;
  });
}

}  // namespace onnxar
