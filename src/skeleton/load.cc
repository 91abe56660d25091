#include "skeleton/load.h"

#include <utility>

#include "base/append.h"
#include "base/errors.h"
#include "base/text.h"
#include "onnx/external_data.h"
#include "onnx/fields.h"
#include "onnx/rewrite.h"
#include "os/names.h"
#include "skeleton/splitter.h"
#include "source/family_resolver.h"
#include "source/model_folder.h"
#include "source/open.h"

namespace onnxar {
namespace {

/// Splits the selected graph. The result has no name.
LoadedGraph split_selected(LoadedModel& model, const ExternalPolicy& policy, const LoadOptions& options) {
  try {
    Splitter splitter(model, model.source->owner(), policy, options, model.source->origin());
    std::vector<std::byte> skeleton = splitter.run(model.source->model());
    return {"", std::move(skeleton), splitter.take_without_data()};
  } catch (const Error& error) {
    throw model.source->with_place(error);
  }
}

/// A file that is not a graph may have its name by accident. The hint says how to keep it as a side file. A wrong
/// CRC-32 is damage and says nothing about the kind of the file.
Error with_graph_hint(const Error& error, const std::string& graph) {
  if (error.entry() != graph || kind(error.code()) != Kind::format || error.code() == Code::zip_data_crc) return error;
  return base::annotate(error, {.advice = {Hint::repack_side_file, escaped(graph)}});
}

void split_graphs(LoadedModel& model, const ExternalPolicy& policy, const LoadOptions& options) {
  const std::vector<std::string> names = model.source->graphs();
  std::uint64_t bytes = model.skeleton.size();
  for (const std::string& name : names) {
    try {
      model.source->select_graph(name);
      model.graphs.push_back(split_selected(model, policy, options));
      model.graphs.back().name = name;
    } catch (const Error& error) {
      throw with_graph_hint(error, name);
    }
    // The limit is on the sum, as a hostile archive may have thousands of graphs that are each just below it.
    bytes += model.graphs.back().skeleton.size();
    if (bytes > options.max_skeleton_size) {
      throw Error(Code::onnx_model_too_large,
                  base::concat("the model and its graphs without their large tensors are more than the limit of ",
                               base::human_size(options.max_skeleton_size)),
                  {name, std::nullopt}, model.source->path());
    }
  }
  if (!names.empty()) model.source->select_model();
}

/// Takes over side files, and the names of the entries that are left out.
void take_source_companions(LoadedModel& model) {
  SourceCompanions found = model.source->companions();
  base::append_all(model.side_files, std::move(found.side_files));
  base::append_all(model.left_out, std::move(found.left_out));
  base::append_all(model.remarks, std::move(found.remarks));
  model.left_out_bytes += found.left_out_bytes;
}

/// Puts the name among the graphs into the skeleton, in place of another.
void set_name(LoadedModel& model, const std::string& name) {
  onnx::MetadataEdit edit;
  edit.drop_key = model_name_key;
  onnx::append_string_entry(edit.add, onnx::model_field::metadata_props, model_name_key, name);
  const auto keep = [](const onnx::TensorSite&) { return onnx::TensorEdit::keep(); };
  model.skeleton = onnx::rewrite_tensors(model.skeleton, keep, {model.max_depth}, edit).flat();
}

LoadedModel load_family(std::unique_ptr<FamilyResolver> family, const ExternalPolicy& policy,
                        const LoadOptions& options) {
  const std::string name = family->model_name();
  LoadedModel model = load_model(std::move(family), policy, options);
  set_name(model, name);
  model.is_family = true;
  return model;
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& path, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions) {
  return load_model(open_any_resolver(path, options), policy, options, companions);
}

LoadedModel load_model(std::unique_ptr<Resolver> source, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions) {
  LoadedModel model;
  model.id = new_model_id();
  split_model(model, std::move(source), policy, options, companions);
  return model;
}

LoadedModel load_family(std::vector<FamilyMember> members, const ExternalPolicy& policy, const LoadOptions& options) {
  return load_family(std::make_unique<FamilyResolver>(std::move(members), options), policy, options);
}

LoadedModel load_folder(const std::filesystem::path& folder, const ExternalPolicy& policy, const LoadOptions& options,
                        const std::filesystem::path& output) {
  const ModelFolder found = ModelFolder::read(folder);
  std::vector<FamilyMember> members;
  for (const std::filesystem::path& path : found.models()) {
    members.push_back({os::text_of(path.stem()), open_resolver(path, options)});
  }
  auto family = std::make_unique<FamilyResolver>(std::move(members), options);
  const FamilyResolver& resolver = *family;  // the model keeps it
  LoadedModel model = load_family(std::move(family), policy, options);
  base::append_all(model.side_files, found.side_files(resolver.data_files(), output));
  model.remarks.insert(model.remarks.begin(), found.remark());
  if (auto remark = remark_on_places(model.side_files)) model.remarks.push_back(std::move(*remark));
  return model;
}

void split_model(LoadedModel& model, std::unique_ptr<Resolver> source, const ExternalPolicy& policy,
                 const LoadOptions& options, Companions companions) {
  model.source = std::move(source);
  model.max_depth = options.max_depth;
  model.max_expansion = options.max_expansion;
  const ExternalFiles* files = model.source->files();
  if (!options.load_external_data && files != nullptr) model.data_folder = files->folder();
  LoadedGraph graph = split_selected(model, policy, options);
  model.skeleton = std::move(graph.skeleton);
  model.without_data = std::move(graph.without_data);
  if (companions == Companions::taken) split_graphs(model, policy, options);
  model.input_size = model.source->input_size();
  base::append_all(model.remarks, model.source->remarks());
  // Side files are known only after every link of every graph was seen.
  if (companions == Companions::taken) take_source_companions(model);
}

void set_skeleton(LoadedModel& model, std::shared_ptr<const std::vector<std::byte>> bytes, const ExternalPolicy& policy,
                  const LoadOptions& options) {
  const Bytes view = *bytes;
  model.skeleton = Splitter(model, std::move(bytes), policy, options).run(view);
  model.without_data = {};  // `bytes` are not an input that the caller knows
}

}  // namespace onnxar
