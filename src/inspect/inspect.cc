// Makes the inspection that `show` prints, from all parts of a model.
#include "archive/change_detection.h"
#include "archive/evidence.h"
#include "base/annotated.h"
#include "base/keyed_hash.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/load.h"
#include "convert/open.h"
#include "inspect/cost.h"
#include "inspect/file_map.h"
#include "inspect/graph_summary.h"
#include "inspect/inspection.h"
#include "model/messages.h"
#include "model/text_parser.h"
#include "model/walk.h"
#include "onnx/operators.h"

namespace onnxar {
namespace {

void add_head(Inspection& inspection, const schema::ModelProto& model) {
  inspection.producer_name = model.producer_name();
  inspection.producer_version = model.producer_version();
  inspection.domain = model.domain();
  inspection.doc_string = model.doc_string();
  inspection.ir_version = model.ir_version();
  inspection.model_version = model.model_version();
  inspection.training_infos = static_cast<std::uint64_t>(model.training_info_size());
  for (const auto& opset : model.opset_import()) {
    inspection.opsets.push_back({std::string(onnx::canonical_domain(opset.domain())), opset.version()});
  }
  for (const auto& entry : model.metadata_props()) inspection.metadata.emplace_back(entry.key(), entry.value());
}

void add_functions(Inspection& inspection, const schema::ModelProto& model) {
  for (const auto& function : model.functions()) {
    FunctionSummary& summary = inspection.functions.emplace_back();
    summary.domain = onnx::canonical_domain(function.domain());
    summary.name = function.name();
    summary.overload = function.overload();
    summary.inputs.assign(function.input().begin(), function.input().end());
    summary.outputs.assign(function.output().begin(), function.output().end());
    for_each_node(function, {}, [&summary](const auto&, const auto&) { ++summary.nodes; });
  }
}

void add_nodes(Inspection& inspection, const schema::ModelProto& model, const std::string& op) {
  for_each_node(model, [&](const schema::NodeProto& node, const Site& site) {
    if (op.empty() || node.op_type() == op) inspection.nodes.push_back(summary_of(node, site));
  });
}

ModelForm form_of(const ModelSource& source) {
  if (archive_of(source) != nullptr) return ModelForm::archive;
  return source.graph().begin ? ModelForm::onnx : ModelForm::textproto;
}

/// Throws usage.argument (a name that no input has, a negative size).
Bindings bindings_for(const schema::GraphProto& graph, const std::vector<std::pair<std::string, std::int64_t>>& dims) {
  Bindings bindings;
  if (dims.empty()) return bindings;
  base::KeyedSet<std::string> names;
  std::string all;
  const auto offer = [&](const std::string& name) {
    if (names.insert(name).second) all += base::concat(all.empty() ? "" : ", ", base::quoted(name));
  };
  for (const auto& input : graph.input()) {
    const auto& type = input.type().tensor_type();
    std::size_t index = 0;
    for (const auto& dim : type.shape().dim()) {
      if (!dim.dim_param().empty()) offer(dim.dim_param());
      if (!dim.has_dim_value() && dim.dim_param().empty()) offer(OpenDimensions::name_of(input.name(), index));
      ++index;
    }
    if (type.has_shape() && type.shape().dim_size() == 0) offer(input.name());
  }
  for (const auto& [name, size] : dims) {
    if (!names.contains(name)) {
      throw Error(Code::usage_argument,
                  base::concat("no input has the dimension ", base::quoted(name), "; there are: ", all));
    }
    if (size < 0)
      throw Error(Code::usage_argument, base::concat("the dimension ", base::quoted(name), " must not be negative"));
    bindings[name] = size;
  }
  return bindings;
}

/// Parses the skeleton for the graph, and walks the source for the tensors, whose bytes have offsets only there.
Inspection inspection_of(const LoadedModel& loaded, const std::filesystem::path& path, const InspectOptions& options) {
  const Archive* archive = archive_of(*loaded.source);
  return base::annotated(Evidence{.archive = archive}, [&] {
    schema::ModelProto model;
    parse(model, loaded.skeleton);
    Inspection inspection;
    inspection.form = form_of(*loaded.source);
    inspection.remarks = loaded.remarks;
    add_head(inspection, model);
    add_functions(inspection, model);
    inspection.graph = summary_of_graph(model);
    add_tensors(inspection, path, *loaded.source, model, options);
    Budget budget = Budget::for_model(model.ByteSizeLong(), options.cost_steps.value_or(Budget::steps_for_all));
    inspection.cost = estimate_cost(model, budget, bindings_for(model.graph(), options.dims));
    if (options.nodes) add_nodes(inspection, model, options.op);
    // Checked last, after all reads: pages of a mapped file that was cut in the meantime may read as zeros, without an
    // error.
    if (archive != nullptr) expect_not_cut(*archive);
    return inspection;
  });
}

}  // namespace

std::string to_string(const OpsetSummary& opset) {
  return base::concat(onnx::domain_name(opset.domain), " ", opset.version);
}

std::string op_name(std::string_view domain, std::string_view op) {
  return onnx::is_default_domain(domain) ? std::string(op) : base::concat(domain, ".", op);
}

std::string to_string(const CostPolynomial& cost, const std::function<std::string(const std::string&)>& name) {
  base::check_namer(name);
  std::string text;
  for (const CostTerm& term : cost.terms) {
    const bool is_negative = term.coefficient < 0;
    text += text.empty() ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
    const std::string coefficient = std::to_string(term.coefficient).substr(is_negative ? 1 : 0);
    std::string product = coefficient == "1" && !term.factors.empty() ? "" : coefficient;
    for (const auto& [factor, power] : term.factors) {
      product += base::concat(product.empty() ? "" : "*", name(factor), power == 1 ? "" : base::concat("^", power));
    }
    text += product;
  }
  return text.empty() ? "0" : text;
}

std::string_view to_string(ModelForm form) noexcept {
  switch (form) {
    case ModelForm::archive: return "archive";
    case ModelForm::onnx: return "onnx";
    case ModelForm::textproto: return "textproto";
  }
  return "";
}

Inspection show(const std::filesystem::path& path, const InspectOptions& options) {
  // Links are listed, but not followed: a missing data file is part of the result, and weights are not read.
  InspectOptions unread = options;
  unread.load = with_text_parser(options.load);
  unread.load.load_external_data = false;
  unread.load.verify_data = false;
  return base::annotated(path, [&] {
    const LoadedModel loaded = load_model(path, ExternalPolicy::of(unread.load), unread.load, Companions::left);
    return inspection_of(loaded, path, unread);
  });
}

}  // namespace onnxar
