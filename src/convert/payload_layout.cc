// Decides the place of each payload of an output before anything is written.
#include "convert/payload_layout.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "archive/graph_rules.h"
#include "archive/keys.h"
#include "archive/model_proof.h"
#include "archive/tensor_text.h"
#include "base/annotated.h"
#include "base/checked.h"
#include "base/paths.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/duplicates.h"
#include "convert/expansion.h"
#include "convert/external_policy.h"
#include "onnx/duplicates.h"
#include "onnx/rewrite.h"
#include "onnx/rope.h"
#include "onnxar/archive_writer.h"
#include "os/names.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// Refuses a link to a file that was not loaded, unless the output may keep it: locations are relative to the model's
/// folder, so that must not change, and the output must not replace the data file.
void check_kept_link(const LoadedModel& model, const onnx::TensorSite& site, Format format, const fs::path& target) {
  const std::string_view location = site.tensor.external.location.value_or("");
  const auto refuse = [&](std::string_view why) {
    throw Error(Code::usage_not_loaded, base::concat(not_loaded_text(describe(site), location), "; ", why), {}, target);
  };
  if (format != Format::onnx_inline) refuse("only the format onnx_inline keeps such links; load the data, too");
  const fs::path folder = base::folder_of(target);
  // Compared by device and inode, because one folder can have many paths.
  if (model.data_folder.empty() || !base::are_same(folder, model.data_folder)) {
    refuse("save the model in the folder to which its links are relative, or load the data, too");
  }
  if (base::are_same(model.data_folder / os::path_of(location), target)) {
    refuse("choose a different output: this would replace the data");
  }
}

}  // namespace

void PayloadLayout::count(const onnx::TensorSite& site, const Payload& payload) {
  const auto added = [&] { return base::Annotation{.prefix = describe(site), .path = output_}; };
  bytes_ = base::annotated(added, [&] { return base::add_announced(bytes_, payload.size(), {}, zip::largest_entry); });
}

bool PayloadLayout::has(const Payload& payload) const {
  const Extent extent(payload);
  const auto first = known_.lower_bound({extent, {}});
  return first != known_.end() && first->first.first == extent;
}

const onnx::ExternalLink& PayloadLayout::put(const onnx::TensorSite& site, const Payload& payload) {
  ++tensors_;
  if (!site.is_main_initializer()) ++nested_;
  // The key begins with the place of the bytes: tensors that share data in the input share it in the output, without a
  // comparison.
  const auto [known, added] = known_.try_emplace({Extent(payload), group_});
  if (added) known->second = add(site, payload);
  return known->second;
}

onnx::ExternalLink PayloadLayout::add(const onnx::TensorSite& site, const Payload& payload) {
  count(site, payload);  // first: placing adds the size to offsets
  if (sharing_ == Sharing::equal_bytes) {
    if (const Payload* first = equal_.first_of(site.tensor.type, payload)) {
      shared_ += payload.size();
      return known_.at({Extent(*first), group_});
    }
  }
  Placement place = place_(folder_, site, payload);
  // If the output already has equal data in an entry that it keeps, a link is enough.
  if (place.data == Data::to_write) {
    placed_.push_back({folder_, place.slice, &payload});
  } else {
    shared_ += payload.size();
  }
  return std::move(place.slice);
}

void PayloadLayout::note_without_data(const onnx::TensorSite& site, const PlacesWithoutData& places) {
  remarks_.push_back(no_data(site, places));
}

void PayloadLayout::add_to(ConvertReport& report) {
  std::ranges::move(remarks_, std::back_inserter(report.remarks));  // there may be millions
  report.tensors_outside = tensors_;
  report.nested_outside = nested_;
  report.shared_bytes = shared_;
  report.payloads = placed_.size();
  for (const Placed& placed : placed_) report.payload_bytes += placed.payload->size();
}

onnx::Rope place_payloads(const LoadedModel& model, const OptionsOf& options_of, PayloadLayout& layout,
                          std::vector<PlacedGraph>& graphs) {
  const SaveOptions* options = nullptr;  // options of the graph that is being rewritten
  ExternalPolicy policy;
  Expansion expansion(model);
  const PlacesWithoutData* places = &model.without_data;
  onnx::DuplicateNames duplicates;
  const auto is_external = [&](const onnx::TensorSite& site, const Payload& payload) {
    if (payload.size() == 0 || !duplicates.has(site)) return policy.is_external(site, payload.size());
    if (!payload.may_be_shared) return false;  // the program supplied it and had it in its message
    if (options->format == Format::onnx_inline) refuse_duplicate(site, layout.output(), Hint::external_data);
    return true;  // loading leaves data that was in the model there
  };
  const auto decide = [&](const onnx::TensorSite& site) {
    const Payload* payload = model.payload_of(site);
    if (payload == nullptr) {
      if (site.tensor.is_external()) check_kept_link(model, site, options->format, layout.output());
      if (site.tensor.lacks_data()) layout.note_without_data(site, *places);
      return onnx::TensorEdit::keep();
    }
    if (is_external(site, *payload)) {
      // Data is written once, for any number of tensors. First: placing may read it for its checksum.
      if (!layout.has(*payload)) expansion.add(*payload);
      return onnx::TensorEdit::link_to(layout.put(site, *payload));
    }
    expansion.add(*payload);
    layout.count(site, *payload);
    return onnx::TensorEdit::put_inline(payload->source);
  };
  onnx::MetadataEdit metadata;  // the name distinguishes a model from other graphs (G4), which only archives have
  const auto begin = [&](const std::string& graph, std::string_view path) {
    options = &options_of(graph);
    policy = ExternalPolicy::of(*options);
    layout.set_folder(std::string(options->format == Format::archive ? "" : folder_of_name(path)), options->data_file);
  };
  begin("", model_name_of(model.skeleton).value_or(""));
  if (options->format != Format::archive) metadata.drop_key = model_name_key;
  onnx::Rope proto = onnx::rewrite_tensors(model.skeleton, decide, metadata);
  metadata.drop_key = model_name_key;  // a model that became a graph has the name of its entry
  // Graphs come after the model, with the same layout, so that data that they share with the model is placed once.
  for (PlacedGraph& graph : graphs) {
    places = &graph.graph->without_data;
    duplicates = {};
    begin(graph.name, graph.name);
    graph.proto = onnx::rewrite_tensors(graph.graph->skeleton, decide, metadata);
  }
  return proto;
}

std::vector<PlacedGraph> graphs_of(base::Kept<const LoadedModel> model) {
  std::vector<PlacedGraph> graphs;
  for (const LoadedGraph& graph : model.get().graphs) graphs.push_back({graph.name, &graph});
  return graphs;
}

std::uint64_t size_of(const std::vector<PlacedGraph>& graphs) {
  std::uint64_t size = 0;
  for (const PlacedGraph& graph : graphs) size += graph.proto.size();
  return size;
}

void check_model_size(std::uint64_t size, const std::filesystem::path& output, Hint hint) {
  if (fits_protobuf(size)) return;
  throw Error(Code::onnx_model_too_large, oversize_text("the model would be", size), {}, output, {hint});
}

}  // namespace onnxar
