// Loads a model: splits it and its graphs into skeletons and payloads.
#include "convert/load.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

#include "archive/evidence.h"
#include "archive/graph_rules.h"
#include "archive/keys.h"
#include "base/annotated.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "base/sha256.h"
#include "base/text.h"
#include "convert/open.h"
#include "convert/package.h"
#include "convert/splitter.h"
#include "onnx/duplicates.h"
#include "onnx/fields.h"
#include "onnx/rewrite.h"
#include "onnx/string_entry.h"

namespace onnxar {
namespace {

std::string digest_of(const ByteSource& source) {
  base::Sha256 digest;
  source.read([&digest](Bytes piece) { digest.update(piece); });
  return std::move(digest).hex();
}

/// Splits the graphs of sources into one model.
class Loading {
 public:
  Loading(base::Kept<LoadedModel> model, base::Kept<const ExternalPolicy> policy, base::Kept<const LoadOptions> options)
      : model_(model), policy_(policy), options_(options) {
    model_.max_expansion = options_.max_expansion;
  }

  /// Splits the selected graph as the model. Remarks call a file `name`.
  void add_model(ModelSource& source, const std::string& name) {
    LoadedGraph graph = split(source, name);
    model_.skeleton = std::move(graph.skeleton);
    model_.without_data = std::move(graph.without_data);
    skeleton_bytes_ += model_.skeleton.size();
  }

  /// Splits the selected graph as a graph of the model.
  void add_graph(ModelSource& source, const std::string& name) { take(split(source, name), source); }

  void add_graphs_of(ModelSource& source) {
    const std::vector<std::string> names = source.graphs();
    for (const std::string& name : names) {
      LoadedGraph graph = base::annotated(Evidence{.graph_by_name = name}, [&] {
        source.select(name);
        return split(source, name);
      });
      take(std::move(graph), source);
    }
    if (!names.empty()) source.select({});
  }

  /// Adds side files, and the names of omitted entries. REQUIRES: every link of every graph was resolved.
  void add_companions_of(ModelSource& source) {
    SourceCompanions found = source.companions();
    for (SideFile& file : found.side_files) add_side_file(std::move(file), source);
    std::ranges::move(found.left_out, std::back_inserter(model_.left_out));
    std::ranges::move(found.remarks, std::back_inserter(model_.remarks));
    model_.left_out_bytes += found.left_out_bytes;
  }

 private:
  LoadedGraph split(ModelSource& source, const std::string& name) {
    GraphBytes graph = source.graph();
    if (graph.entry.empty()) graph.entry = name;  // remarks have no path
    LoadedGraph loaded =
        source.placed([&] { return split_graph(model_, &source, std::move(graph), policy_, options_); });
    loaded.name = name;
    return loaded;
  }

  void take(LoadedGraph graph, const ModelSource& source) {
    // Limits the sum, because a hostile archive may have thousands of graphs that are each just below the limit.
    skeleton_bytes_ += graph.skeleton.size();
    if (skeleton_bytes_ > options_.max_skeleton_size) {
      throw Error(Code::onnx_model_too_large,
                  base::concat("the model and its graphs without their large tensors are more than the limit of ",
                               base::human_size(options_.max_skeleton_size)),
                  {graph.name, std::nullopt}, source.path());
    }
    model_.graphs.push_back(std::move(graph));
  }

  /// Adds a side file, unless an equal one exists: several models may have the same file, such as a tokenizer.
  void add_side_file(SideFile file, const ModelSource& source) {
    const auto [place, added] = side_files_.try_emplace(file.name, model_.side_files.size());
    if (added) return model_.side_files.push_back(std::move(file));
    const ByteSource& known = *model_.side_files[place->second].source;
    if (known.size() == file.source->size() && digest_of(known) == digest_of(*file.source)) return;
    throw Error(Code::usage_argument, "another model has a different side file of this name", {file.name, std::nullopt},
                source.path(), {Hint::repack_rename, escaped(file.name)});
  }

  LoadedModel& model_;
  const ExternalPolicy& policy_;
  const LoadOptions& options_;
  std::uint64_t skeleton_bytes_ = 0;
  base::KeyedMap<std::string, std::size_t> side_files_;  // indices in the model's list
};

/// Refuses names that the graphs of one archive cannot have.
class FamilyNames {
 public:
  void add(const std::string& graph, const std::filesystem::path& path) {
    if (const auto fault = graph_name_fault(graph)) {
      throw Error(
          Code::usage_argument,
          base::concat("it would be the graph ", base::quoted(graph), ", and no graph can have this name: ", *fault),
          {}, path, {Hint::name_graph});
    }
    const auto [first, added] = paths_.try_emplace(base::folded_copy(graph), path);
    if (added) return;
    throw Error(Code::usage_argument,
                base::concat("both this file and ", escaped_path(first->second), " would become the graph ",
                             base::quoted(graph)),
                {}, path, {Hint::name_graph});
  }

 private:
  base::KeyedMap<std::string, std::filesystem::path> paths_;  // by name in lower case
};

std::string file_name_of(const FamilyMember& member) { return member.name + std::string(graph_suffix); }

/// Sets the name among the graphs in the skeleton, and removes any other.
void set_name(LoadedModel& model, const std::string& name) {
  onnx::MetadataEdit edit;
  edit.drop_key = model_name_key;
  onnx::append_string_entry(edit.add, onnx::model_field::metadata_props, model_name_key, name);
  const auto keep = [](const onnx::TensorSite&) { return onnx::TensorEdit::keep(); };
  model.skeleton = onnx::rewrite_tensors(model.skeleton, keep, edit).flat();
}

/// Returns the name of a chosen graph that became the model, if other graphs or the manifest of a package stay with it.
std::optional<std::string> name_of_choice(const LoadedModel& model, const LoadOptions& options) {
  const Archive* const archive = options.graph.empty() ? nullptr : archive_of(*model.source);
  if (archive == nullptr || !is_graph_name(archive->model_entry().name)) return std::nullopt;
  const bool is_package = std::ranges::find(model.side_files, manifest_name, &SideFile::name) != model.side_files.end();
  if (model.graphs.empty() && !is_package) return std::nullopt;
  return std::string(stem_of_graph(archive->model_entry().name));
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& path, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions) {
  return load_model(open_any_source(path, options), policy, options, companions);
}

LoadedModel load_model(std::unique_ptr<ModelSource> source, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions) {
  LoadedModel model;
  model.id = new_model_id();
  split_model(model, std::move(source), policy, options, companions);
  return model;
}

void check_family_names(const std::vector<FamilyMember>& members) {
  FamilyNames names;
  for (const FamilyMember& member : members) {
    names.add(file_name_of(member), member.source->path());
    for (const std::string& graph : member.source->graphs()) names.add(graph, member.source->path());
  }
}

LoadedModel load_family(std::vector<FamilyMember> members, const ExternalPolicy& policy, const LoadOptions& options) {
  LoadedModel model;
  model.id = new_model_id();
  model.is_family = true;
  Loading loading(model, policy, options);
  for (const FamilyMember& member : members) {
    ModelSource& source = *member.source;
    &member == &members.front() ? loading.add_model(source, file_name_of(member))
                                : loading.add_graph(source, file_name_of(member));
    loading.add_graphs_of(source);
  }
  for (const FamilyMember& member : members) {
    model.input_size += member.source->input_size();
    std::ranges::move(member.source->remarks(), std::back_inserter(model.remarks));
  }
  for (FamilyMember& member : members) {
    loading.add_companions_of(*member.source);
    (model.source ? model.further_sources.emplace_back() : model.source) = std::move(member.source);
  }
  set_name(model, members.front().name);
  return model;
}

void split_model(LoadedModel& model, std::unique_ptr<ModelSource> source, const ExternalPolicy& policy,
                 const LoadOptions& options, Companions companions) {
  model.source = std::move(source);
  const ExternalFiles* files = files_of(*model.source);
  if (!options.load_external_data && files != nullptr) model.data_folder = files->folder();
  Loading loading(model, policy, options);
  loading.add_model(*model.source, {});
  if (companions == Companions::taken) loading.add_graphs_of(*model.source);
  model.input_size = model.source->input_size();
  std::ranges::move(model.source->remarks(), std::back_inserter(model.remarks));
  if (companions == Companions::left) return;
  loading.add_companions_of(*model.source);
  if (const auto name = name_of_choice(model, options)) set_name(model, *name);
}

void set_skeleton(LoadedModel& model, const std::shared_ptr<const std::vector<std::byte>>& bytes,
                  const ExternalPolicy& policy, const LoadOptions& options) {
  model.skeleton = split_graph(model, nullptr, {*bytes, bytes}, policy, options).skeleton;
  model.without_data = {};  // `bytes` are not the caller's input
}

}  // namespace onnxar
