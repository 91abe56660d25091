// Reads the model and the graphs of a zip file that is repacked.
#include "convert/repack_models.h"

#include <filesystem>
#include <utility>

#include "archive/access.h"
#include "archive/foreign_zip.h"
#include "archive/graph_rules.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/model_proof.h"
#include "base/annotated.h"
#include "base/sources.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "os/names.h"

namespace onnxar {
namespace {

/// Returns the locations that tensors name, each as written and normalised: in foreign zips, `./weights` leads to the
/// entry `weights`.
base::KeyedSet<std::string> linked_names(Bytes model) {
  base::KeyedSet<std::string> names;
  const auto add = [&names](const onnx::TensorSite& site) {
    const auto location = site.tensor.linked_location();
    if (!location) return;
    names.emplace(*location);
    names.insert(os::slashed_text_of(os::path_of(*location).lexically_normal()));
  };
  const auto in_model = [] { return base::Annotation{.place = Place{std::string(model_entry_name), std::nullopt}}; };
  base::annotated(in_model, [&] { onnx::walk_tensors(model, add); });
  return names;
}

}  // namespace

void RepackModels::check_size(const zip::ForeignEntry& model) {
  if (fits_protobuf(model.size)) return;
  throw Error(Code::archive_model_too_large, oversize_text("the model is", model.size),  // P8
              {std::string(model.name), model.central_offset}, {}, {Hint::pack_moves_tensors});
}

const RepackModels::Names& RepackModels::links(const zip::ForeignEntry& model) {
  if (links_) return *links_;
  links_ = linked_names(bytes_of(model));
  // All graphs share one budget, because a zip may hold any number of them.
  ZipExpansion expansion(file_.size(), max_expansion_);
  for (const zip::ForeignEntry& entry : directory_.entries()) {
    if (!is_graph_name(entry.name) || &entry == &model) continue;
    for (const std::string& name : links_of_graph(entry, expansion)) links_->insert(name);
  }
  return *links_;
}

RepackModels::Names RepackModels::links_of(const zip::ForeignEntry& graph) const {
  ZipExpansion expansion(file_.size(), max_expansion_);
  return links_of_graph(graph, expansion);
}

bool RepackModels::may_have_name(const zip::ForeignEntry& model) const {
  return has_text(*zip::data_source(file_, model), model_name_key);
}

void RepackModels::prove_model_name(const zip::ForeignEntry& model, std::span<const std::string_view> names) const {
  const auto here = [&] { return base::Annotation{.place = Place{std::string(model.name), model.central_offset}}; };
  base::annotated(here, [&] {
    const auto fault = model_name_fault(bytes_of(model), names);
    if (fault) throw Error(fault->code, fault->message);
  });
}

RepackModels::Names RepackModels::links_of_graph(const zip::ForeignEntry& graph, ZipExpansion& expansion) const {
  expansion.add(graph);  // before the graph is inflated: it may be a zip bomb
  try {
    return linked_names(bytes_of(graph));
  } catch (const Error&) {
    return {};
  }
}

std::vector<std::byte> RepackModels::bytes_of(const zip::ForeignEntry& model) const {
  check_size(model);
  return base::gathered(*zip::data_source(file_, model));
}

}  // namespace onnxar
