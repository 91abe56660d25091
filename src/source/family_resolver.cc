#include "source/family_resolver.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "archive/keys.h"
#include "base/append.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "onnx/external_data.h"
#include "source/link_marker.h"
#include "zip/names.h"

namespace onnxar {
namespace {

using base::concat;

std::vector<onnx::MetadataEntry> names_in(Bytes model) {
  std::vector<onnx::MetadataEntry> found = onnx::find_metadata(model, model_name_key);
  std::erase_if(found, [](const onnx::MetadataEntry& entry) { return entry.entry.key != model_name_key; });
  return found;
}

/// Says why the first `count` names cannot be in one archive. A `count` of one more than `names` has includes `name`.
std::optional<std::string> clash_among(std::size_t count, const EntryNames& names, const std::string& name) {
  try {
    static_cast<void>(zip::index_of_names(
        count, [&](std::uint32_t i) { return i < names.count ? names.name_of(i) : std::string_view(name); },
        [](std::uint32_t) { return std::optional<std::uint64_t>(); }));
    return std::nullopt;
  } catch (const Error& error) {
    return error.message();
  }
}

/// Says why an entry with this name could not be added. A clash among the existing entries is not the fault of `name`,
/// so it is reported by the checks of the directory alone.
std::optional<std::string> clash_of(const std::string& name, const EntryNames& names) {
  auto clash = clash_among(names.count + 1, names, name);
  return clash && !clash_among(names.count, names, name) ? clash : std::nullopt;
}

}  // namespace

std::optional<std::string> graph_name_fault(const std::string& name) {
  if (!name.ends_with(graph_suffix) || name.size() == graph_suffix.size()) return "is empty";
  if (const auto fault = zip::name_fault(name)) return std::string(fault->message);
  if (name.find('/') != std::string::npos) return "contains a slash";
  if (is_reserved_name(name)) return "begins like the format's own names";
  return std::nullopt;
}

std::optional<MetadataFault> link_marker_fault(Bytes graph) {
  const auto found = onnx::find_metadata(graph, link_key_prefix);
  if (found.empty()) return std::nullopt;
  return MetadataFault{Code::archive_graph_link_marker,  // G3
                       concat("metadata_props has ", base::quoted(found.front().entry.key),
                              ", which makes it a link to an archive: its locations would be files and not entries"),
                       found.front().whole.begin};
}

std::optional<MetadataFault> model_name_fault(Bytes model, const EntryNames& names) {
  const std::vector<onnx::MetadataEntry> found = names_in(model);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) {  // G4
    return MetadataFault{Code::archive_graph_name, concat("metadata_props has ", model_name_key, " twice"),
                         found[1].whole.begin};
  }
  const std::string name = concat(found.front().entry.value, graph_suffix);
  auto fault = graph_name_fault(name);
  if (!fault) fault = clash_of(name, names);
  if (!fault) return std::nullopt;
  return MetadataFault{Code::archive_graph_name,  // G4
                       concat("the model's name among the graphs, ", base::quoted(found.front().entry.value),
                              ", cannot be that of an entry ", base::quoted(name), ": ", *fault),
                       found.front().whole.begin};
}

void expect_free_model_name(Bytes model, std::span<const std::string_view> names, const std::filesystem::path& archive,
                            const Advice& advice) {
  const auto fault = model_name_fault(model, {names.size(), [names](std::size_t i) { return names[i]; }});
  if (fault) throw Error(fault->code, fault->message, {std::string(model_entry_name), std::nullopt}, archive, advice);
}

std::vector<std::string> model_names_of(Bytes model) {
  std::vector<std::string> names;
  for (const onnx::MetadataEntry& found : names_in(model)) names.emplace_back(found.entry.value);
  return names;
}

/// A name that no entry could have counts as none: `check` reports it, and reading goes on without it.
std::optional<std::string> model_name_of(Bytes model) {
  const std::vector<onnx::MetadataEntry> found = names_in(model);
  if (found.empty()) return std::nullopt;
  const std::string_view name = found.front().entry.value;
  if (graph_name_fault(concat(name, graph_suffix))) return std::nullopt;
  return std::string(name);
}

namespace {

base::Digest digest_of(const ByteSource& source) {
  base::KeyedDigest digest;
  source.read([&digest](Bytes piece) { digest.add(piece); });
  return digest.result();
}

/// Side files by name. Members may have the same file, such as a tokenizer.
class SideFilesByName {
 public:
  explicit SideFilesByName(std::vector<SideFile>& files) : files_(files) {}

  void add(SideFile file, const std::filesystem::path& path) {
    const auto [place, added] = by_name_.try_emplace(file.name, files_.size());
    if (added) return files_.push_back(std::move(file));
    const ByteSource& known = *files_[place->second].source;
    if (known.size() == file.source->size() && digest_of(known) == digest_of(*file.source)) return;
    throw Error(Code::usage_argument, "another model has a different side file of this name", {file.name, std::nullopt},
                path, {Hint::repack_rename, escaped(file.name)});
  }

 private:
  std::vector<SideFile>& files_;
  base::KeyedMap<std::string, std::size_t> by_name_;
};

}  // namespace

FamilyResolver::FamilyResolver(std::vector<FamilyMember> members, const LoadOptions& options)
    : Resolver(options), members_(std::move(members)) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    add({members_[i].name + std::string(graph_suffix), i, {}});
    for (std::string& name : members_[i].source->graphs()) add({name, i, name});
  }
  select_model();
}

void FamilyResolver::add(Graph graph) {
  const std::filesystem::path& path = members_[graph.member].source->path();
  if (const auto fault = graph_name_fault(graph.name)) {
    throw Error(
        Code::usage_argument,
        base::concat("it would be the graph ", base::quoted(graph.name), ", and no graph can have this name: ", *fault),
        {}, path, {Hint::name_graph});
  }
  const auto [known, added] = by_name_.try_emplace(base::folded_copy(graph.name), graphs_.size());
  if (!added) {
    const Graph& first = graphs_[known->second];
    throw Error(Code::usage_argument,
                base::concat("it would be the graph ", base::quoted(graph.name), ", and so would ",
                             escaped_path(members_[first.member].source->path())),
                {}, path, {Hint::name_graph});
  }
  graphs_.push_back(std::move(graph));
}

void FamilyResolver::select(std::size_t index) {
  selected_ = index;
  Resolver& member = selected();
  graph().name_in_member.empty() ? member.select_model() : member.select_graph(graph().name_in_member);
  set_path(member.path());
  set_graph({member.model(), member.owner(), member.from_text(), member.origin()});
}

Place FamilyResolver::place(std::optional<std::uint64_t> offset) const {
  Place place = selected().place(offset);
  if (place.entry.empty()) place.entry = graph().name;
  return place;
}

std::uint64_t FamilyResolver::input_size() const {
  std::uint64_t size = 0;
  for (const FamilyMember& member : members_) size += member.source->input_size();
  return size;
}

std::vector<std::string> FamilyResolver::graphs() const {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < graphs_.size(); ++i) names.push_back(graphs_[i].name);
  return names;
}

void FamilyResolver::select_graph(const std::string& name) { select(by_name_.at(base::folded_copy(name))); }

void FamilyResolver::select_model() { select(0); }

std::vector<Finding> FamilyResolver::remarks() const {
  std::vector<Finding> remarks;
  for (const FamilyMember& member : members_) base::append_all(remarks, member.source->remarks());
  return remarks;
}

base::KeyedSet<std::string> FamilyResolver::data_files() const {
  base::KeyedSet<std::string> names;
  for (const FamilyMember& member : members_) {
    if (const ExternalFiles* files = member.source->files()) {
      for (std::string& name : files->names()) names.insert(std::move(name));
    }
  }
  return names;
}

SourceCompanions FamilyResolver::companions() {
  SourceCompanions all;
  SideFilesByName side_files(all.side_files);
  for (const FamilyMember& member : members_) {
    SourceCompanions found = member.source->companions();
    for (SideFile& file : found.side_files) side_files.add(std::move(file), member.source->path());
    base::append_all(all.left_out, std::move(found.left_out));
    base::append_all(all.remarks, std::move(found.remarks));
    all.left_out_bytes += found.left_out_bytes;
  }
  return all;
}

Resolved FamilyResolver::find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  return selected().find(site, slice);
}

}  // namespace onnxar
