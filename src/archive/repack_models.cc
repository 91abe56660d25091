#include "archive/repack_models.h"

#include "archive/keys.h"
#include "archive/model_size.h"
#include "base/annotate.h"
#include "onnxar/archive.h"

namespace onnxar {

void RepackModels::check_size(const zip::ForeignEntry& model) {
  if (fits_protobuf(model.size)) return;
  throw Error(Code::archive_model_too_large, oversize_text("the model is", model.size),  // P8
              {std::string(model.name), model.central_offset}, {}, {Hint::pack_moves_tensors});
}

const RepackModels::Names& RepackModels::links(const zip::ForeignEntry& model) {
  if (links_) return *links_;
  links_ = reading_.linked_names(bytes_of(model));
  // All graphs share one budget, because a zip may hold any number of them.
  ZipExpansion expansion(file_.size(), max_expansion_);
  for (const zip::ForeignEntry& entry : directory_.entries()) {
    if (!is_graph_name(entry.name) || &entry == &model) continue;
    for (const std::string& name : links_of_graph(entry, expansion)) links_->insert(name);
  }
  return *links_;
}

const RepackModels::Names* RepackModels::links_if_readable(const zip::ForeignEntry& model) {
  try {
    return &links(model);
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;
    return nullptr;
  }
}

bool RepackModels::has_links(const zip::ForeignEntry& graph) const {
  ZipExpansion expansion(file_.size(), max_expansion_);
  return !links_of_graph(graph, expansion).empty();
}

void RepackModels::prove_model_name(const zip::ForeignEntry& model, std::span<const std::string_view> names) const {
  try {
    reading_.prove_model_name(bytes_of(model), names);
  } catch (const Error& error) {
    throw base::annotate(error, {.place = Place{std::string(model.name), model.central_offset}});
  }
}

RepackModels::Names RepackModels::links_of_graph(const zip::ForeignEntry& graph, ZipExpansion& expansion) const {
  expansion.add(graph);  // before the graph is inflated: it may be a zip bomb
  try {
    return reading_.linked_names(bytes_of(graph));
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;
    return {};
  }
}

std::vector<std::byte> RepackModels::bytes_of(const zip::ForeignEntry& model) const {
  check_size(model);
  std::vector<std::byte> bytes;
  zip::data_source(file_, model)->read([&bytes](Bytes piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return bytes;
}

}  // namespace onnxar
