// Proves models and graphs against the entries of the archive that they become part of.
#include "archive/model_proof.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "archive/access.h"
#include "archive/external_tensor.h"
#include "archive/graph_rules.h"
#include "archive/tensor_text.h"
#include "base/annotated.h"
#include "base/kept.h"
#include "base/sources.h"
#include "base/text.h"
#include "onnx/sites.h"
#include "onnx/tensor_values.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

using base::concat;

/// Returns the size of the entry with this name, compared exactly; nothing if `entries` do not have it.
std::optional<std::uint64_t> size_of(const NamedSizes& entries, std::string_view name) {
  const auto found = std::ranges::equal_range(entries, name, {}, [](const auto& entry) { return entry.first; });
  if (found.empty()) return std::nullopt;
  return found.front().second;
}

std::vector<std::string_view> names_of(const NamedSizes& entries) {
  std::vector<std::string_view> names;
  for (const auto& [name, size] : entries) names.push_back(name);
  return names;
}

/// Proves the link of one tensor against the entries of the archive. Throws what `resolve` throws.
void prove_target(const onnx::TensorView& tensor, std::string_view graph, const NamedSizes& entries) {
  const onnx::ExternalSlice slice = proved_link(tensor);
  const auto size = size_of(entries, slice.location);
  if (!size) onnx::refuse_missing(slice.location, "the archive", tensor.range.begin);
  static_cast<void>(onnx::length_in(slice, tensor.expected_size(), *size, "entry", tensor.range.begin));
  const std::string beside = name_beside(graph, slice.location);
  if (size_of(entries, beside)) throw shadow_error(beside, slice.location, tensor.range.begin);
}

void prove_tensor(const onnx::TensorSite& site, std::string_view graph, const NamedSizes& entries) {
  const bool with_values = graph != model_entry_name;
  const auto here = [&site] { return base::Annotation{.prefix = describe(site), .place = Place{}}; };
  base::annotated(here, [&] {
    if (with_values) onnx::prove_type(site.tensor);
    if (site.tensor.is_external()) prove_target(site.tensor, graph, entries);
    if (with_values) onnx::prove_values(site.model, site.tensor);
  });
}

void check_graph_size(std::uint64_t size) {
  if (!fits_protobuf(size)) throw Error(Code::archive_model_too_large, oversize_text("the graph is", size));  // G2
}

void prove_metadata(const std::optional<MetadataFault>& fault) {
  if (fault) throw Error(fault->code, fault->message);
}

/// Calls `prove`, and adds the consequence for the archive to its errors.
template <typename Prove>
void prove_for_archive(std::string_view name, const Prove& prove) {
  try {
    prove();
  } catch (const Error& error) {
    const bool is_graph = name != model_entry_name;
    const std::string message =
        is_graph
            ? concat("a file NAME.onnx is a graph of the archive, and this file is not a valid one: ", error.message(),
                     "; under the name `", name, ".bin` it is a side file")
            : concat("an archive cannot end with this model: ", error.message());
    const bool is_missing = !is_graph && error.code() == Code::onnx_external_missing;
    throw Error(error.code(), message, {std::string(name), std::nullopt}, {},
                is_missing ? Advice{Hint::add_entry_first} : error.advice());
  }
}

}  // namespace

std::string oversize_text(std::string_view subject_and_verb, std::uint64_t size) {
  return base::concat(subject_and_verb, " ", base::human_size(size), ", and protobuf reads less than 2 GiB");
}

void prove_model_entry(std::string_view name, Bytes model, const NamedSizes& entries) {
  const bool is_graph = name != model_entry_name;
  if (is_graph) check_graph_size(model.size());
  // Proves values only in graphs. `pack` writes the inline values of a model unchanged, even if a runtime refuses them;
  // `check` reports them.
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) { prove_tensor(site, name, entries); });
  prove_metadata(is_graph ? link_marker_fault(model) : model_name_fault(model, names_of(entries)));
}

void prove_written(std::string_view name, Bytes model, const NamedSizes& entries) {
  prove_for_archive(name, [&] { prove_model_entry(name, model, entries); });
}

ByteSpan bytes_of_graph(std::string_view name, base::Kept<const ByteSource> graph) {
  if (const auto whole = base::in_one_piece(graph)) return ByteSpan::borrow(*whole, nullptr);
  prove_for_archive(name, [&] { check_graph_size(graph.get().size()); });
  return ByteSpan::own(base::gathered(graph));
}

}  // namespace onnxar
