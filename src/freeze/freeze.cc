#include "onnxar/model/freeze.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "archive/opening.h"
#include "base/file_status.h"
#include "base/near_names.h"
#include "base/text.h"
#include "freeze/prune.h"
#include "freeze/prune_graph.h"
#include "numpy/npz.h"
#include "onnxar/model/inspect.h"
#include "proto/messages.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;
using base::concat;

// --- Weights ---------------------------------------------------------------------------------------------------------

/// The tensors of another file, by name.
class Weights {
 public:
  Weights() = default;
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;
  virtual ~Weights() = default;

  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  /// Gives `tensor`, which has a name and a type, the data of the tensor of that name. `fits` throws if the shape does
  /// not match. Errors: as `freeze`.
  using Fits = std::function<void(const std::vector<std::int64_t>&)>;
  virtual void fill(Model& model, schema::TensorProto& tensor, const Fits& fits) = 0;
};

[[noreturn]] void refuse_type(const schema::TensorProto& tensor, const std::string& found) {
  throw Error(Code::onnx_weights_type,
              concat("tensor ", base::quoted(tensor.name()), " is to be ",
                     to_string(static_cast<DataType>(tensor.data_type())), ", but is of type ", found, " here"));
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
    const auto type = static_cast<DataType>(tensor.data_type());
    if (bits_per_element(type) % 8 != 0) {
      throw Error(Code::onnx_weights_type,
                  concat("tensor ", base::quoted(tensor.name()), " has elements of ", bits_per_element(type),
                         " bits, which NumPy does not pack; take it from a model or archive"));
    }
    if (!is_numpy_form(type, array.descr)) refuse_type(tensor, array.descr);
    fits(array.dims);
    set_dims(tensor, array.dims);
    model.set_payload(tensor, std::move(array.data));
  }

 private:
  NpzFile file_;
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
    const auto type = static_cast<DataType>(found.data_type());
    if (found.data_type() != tensor.data_type()) refuse_type(tensor, to_string(type));
    const std::vector<std::int64_t> dims(found.dims().begin(), found.dims().end());
    fits(dims);
    set_dims(tensor, dims);
    if (type == DataType::string) {
      *tensor.mutable_string_data() = found.string_data();
    } else {
      model.set_payload(tensor, model_.payload(found));
    }
  }

 private:
  Model model_;
  std::map<std::string, const schema::TensorProto*> tensors_;
};

std::unique_ptr<Weights> open_weights(const FreezeOptions& options) {
  if (!NpzFile::is_one(options.weights)) {
    return std::make_unique<WeightsOfModel>(Model::load(options.weights, options.load));
  }
  const LoadOptions& load = options.load;
  const fs::path folder = load.temporary_dir.empty() ? base::temporary_folder() : load.temporary_dir;
  return std::make_unique<WeightsOfArrays>(NpzFile::open(options.weights, folder, load.max_expansion));
}

// --- Tensors without data --------------------------------------------------------------------------------------------

[[noreturn]] void refuse_shape(const std::string& name, const std::string& wanted, const std::string& found) {
  throw Error(Code::onnx_weights_shape,
              concat("tensor ", base::quoted(name), " is to be of shape ", wanted, ", but is of ", found, " here"));
}

/// Errors: onnx.weights.shape if `dims` do not match the shape that an input declares.
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
    if (report_.filled == 0) refuse_all();
  }

 private:
  void initializers() {
    for (auto& tensor : *graph_.mutable_initializer()) {
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

  /// Whether there are weights of this name that no other tensor took.
  bool take(const std::string& name) {
    wanted_.push_back(name);
    return left_.erase(name) != 0;
  }

  [[noreturn]] void refuse_all() const {
    constexpr std::size_t most = 3;
    std::string text = "none of its tensors has the name of an initializer without data, or of an input without one";
    for (std::size_t i = 0; i < std::min(most, wanted_.size()); ++i) {
      text += concat(i == 0 ? "; the model wants " : ", ", base::quoted(wanted_[i]));
    }
    NearNames near(wanted_.empty() ? std::string_view() : wanted_.front());
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
  std::set<std::string> left_;       // names in the file that no tensor took yet
  std::vector<std::string> wanted_;  // names of tensors without data
};

void fill_from(Model& model, const FreezeOptions& options, FreezeReport& report) {
  try {
    const auto weights = open_weights(options);
    Filling(model, *weights, report).run();
  } catch (const Error& error) {
    throw error.with_path(options.weights);
  }
}

// --- Docs and metadata -----------------------------------------------------------------------------------------------

/// Clears the fields of this name in all messages.
void clear_everywhere(schema::ModelProto& model, const std::string& name) {
  for_each_message(model, [&name](google::protobuf::Message& message) {
    const auto* field = message.GetDescriptor()->FindFieldByName(name);
    if (field != nullptr) message.GetReflection()->ClearField(&message, field);
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
  FreezeOptions beside = options;
  if (beside.load.temporary_dir.empty()) beside.load.temporary_dir = base::absolute_path(output).parent_path();
  try {
    const auto lock = save.output.overwrite && !save.output.dry_run ? lock_for_replacing(output) : os::File();
    Model model = Model::load(input, options.load);
    FreezeReport report = freeze(model, beside);
    report.saved = model.save(output, save);
    return report;
  } catch (const Error& error) {
    throw error.with_path(input);
  }
}

}  // namespace onnxar
