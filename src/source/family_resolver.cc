#include "source/family_resolver.h"

#include <utility>

#include "archive/keys.h"
#include "base/append.h"
#include "base/keyed_digest.h"
#include "base/text.h"
#include "source/graph_rules.h"

namespace onnxar {
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
