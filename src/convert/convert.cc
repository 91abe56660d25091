// Packs models of any form into archives, and unpacks archives into plain models.
#include "onnxar/convert.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "archive/graph_rules.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/opening.h"
#include "archive/output_options.h"
#include "base/annotated.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "convert/companions.h"
#include "convert/file_targets.h"
#include "convert/load.h"
#include "convert/model_folder.h"
#include "convert/open.h"
#include "convert/publish.h"
#include "convert/save.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// Makes inflated data go to the disk of the output, which needs room for it anyway. A dry run keeps the default
/// folder, because the output's folder may be read-only. While the input is read, one thread sums the output; the
/// others may verify the input.
LoadOptions loading_for(const LoadOptions& load, const fs::path& output, const SaveOptions& save) {
  LoadOptions options = load;
  if (options.temporary_dir.empty() && !save.output.dry_run)
    options.temporary_dir = Destination::of(output, {}, save.format).folder_above();
  const std::size_t threads = save.output.threads;
  if (options.threads == 0 && threads != 0) options.threads = std::max<std::size_t>(threads - 1, 1);
  return options;
}

ConvertReport convert_input(const fs::path& input, const fs::path& output, const SaveOptions& save,
                            const LoadOptions& load) {
  const os::File lock = lock_output(output, save.output);
  const LoadOptions options = loading_for(load, output, save);
  // In a folder, a graph has its own name, and a model has the name of its file.
  const fs::path name = load.graph.empty() ? input : os::path_of(graph_file_name(load.graph));
  return save_model(load_model(input, ExternalPolicy::of(save), options), output, save, name);
}

/// Returns the paths of the data files to which the links of all models led.
base::KeyedSet<std::string> data_files_of(const LoadedModel& model) {
  base::KeyedSet<std::string> names;
  const auto add = [&names](const ModelSource& source) {
    const ExternalFiles* const files = files_of(source);
    if (files == nullptr) return;
    for (const fs::path& path : files->paths()) names.insert(os::slashed_text_of(path));
  };
  add(*model.source);
  for (const auto& source : model.further_sources) add(*source);
  return names;
}

/// Returns advice on packing the folder anyway if the file with this error may not be a model.
Advice advice_on_folder(const ModelFolder& folder, const Error& error) {
  const bool may_be_no_model = id(error.code()).starts_with("wire.") || error.code() == Code::onnx_model_invalid;
  const auto has_path = [&](const FolderFile& model) { return folder.path_of(model.name) == error.path(); };
  const auto model = std::ranges::find_if(folder.models(), has_path);
  if (!may_be_no_model || model == folder.models().end()) return {};
  return {Hint::no_model, escaped(model->name)};
}

/// Loads all models of a folder, and its other files as side files, except the models' data files and the file at
/// `output`. Throws what `load_family` and ModelFolder throw.
LoadedModel load_folder(const ModelFolder& folder, const SaveOptions& save, const LoadOptions& options,
                        const fs::path& output) {
  const auto explained = [&](const Error& error) {
    return base::annotate(error, {.advice = advice_on_folder(folder, error)});
  };
  LoadedModel model = base::annotated(explained, [&] {
    std::vector<FamilyMember> members;
    const auto files = std::make_shared<ExternalFiles::Files>();
    for (const auto& [name, entry] : folder.models()) {
      std::unique_ptr<ModelSource> source = source_of(folder.open(name), options);
      if (auto* const file = dynamic_cast<FileSource*>(source.get());
          file != nullptr && options.external_data_dir.empty())
        file->look_in(folder.path(), folder.data_folders_of(name), files);
      members.push_back({std::string(stem_of_graph(entry)), std::move(source)});
    }
    return load_family(std::move(members), ExternalPolicy::of(save), options);
  });
  std::ranges::move(folder.side_files(data_files_of(model), output), std::back_inserter(model.side_files));
  std::vector<Finding> remarks = folder.remarks();
  model.remarks.insert(model.remarks.begin(), std::make_move_iterator(remarks.begin()),
                       std::make_move_iterator(remarks.end()));
  if (auto remark = remark_on_places(model.side_files)) model.remarks.push_back(std::move(*remark));
  if (auto remark = remark_on_folders(model.side_files)) model.remarks.push_back(std::move(*remark));
  return model;
}

ConvertReport pack_folder(const fs::path& path, const fs::path& output, const SaveOptions& save,
                          const LoadOptions& load) {
  const os::File lock = lock_output(output, save.output);
  const ModelFolder folder = ModelFolder::read(path, save);
  SaveOptions others = save;
  others.rename = folder.other_renames();
  return save_model(load_folder(folder, save, loading_for(load, output, save), output), output, others);
}

/// Moves the model of this name to the front.
void put_first(std::vector<FamilyMember>& members, const std::string& first, const fs::path& output) {
  if (first.empty()) return;
  const auto found = std::ranges::find(members, stem_of_graph(first), &FamilyMember::name);
  if (found == members.end()) {
    throw Error(Code::usage_argument,
                base::concat("no packed model has the name ", base::quoted(first), ", so it cannot be the first"), {},
                output);
  }
  std::rotate(members.begin(), found, found + 1);
}

/// Opens one of several models. Errors name its path.
FamilyMember member_of(const ModelFile& file, const LoadOptions& options) {
  std::unique_ptr<ModelSource> source = open_any_source(file.path, options);
  std::string name(stem_of_graph(file.name));
  if (name.empty()) {
    name = source->placed([&] { return model_name_of(source->model()).value_or(os::text_of(file.path.stem())); });
  }
  return {std::move(name), std::move(source)};
}

ConvertReport convert_input(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return save_model(load_model(source_of(input, nullptr, load), ExternalPolicy::of(save), load), output, save);
}

void expect_archive(const SaveOptions& save, const fs::path& output) {
  if (save.format == Format::archive) return;
  throw Error(Code::usage_argument, "`pack` writes archives; for other formats use `unpack`", {}, output);
}

/// Returns the options for a plain model: replaces Format::archive, the default of SaveOptions, which only `pack` can
/// mean.
SaveOptions as_plain_model(const SaveOptions& save) {
  SaveOptions plain = save;
  if (plain.format == Format::archive) plain.format = Format::onnx_inline;
  return plain;
}

}  // namespace

ConvertReport pack(const fs::path& input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  expect_archive(save, output);
  if (ModelFolder::is_one(input)) return pack_folder(input, output, save, load);
  if (!save.first.empty() || !save.exclude.empty()) {
    throw Error(Code::usage_argument, "is one file, but `first` and `exclude` are for a folder or several models", {},
                input);
  }
  // A variant has a name, so the model needs one too.
  if (!save.variants.empty() && load.graph.empty()) return pack(std::vector{ModelFile{input}}, output, save, load);
  return convert_input(input, output, save, load);
}

ConvertReport pack(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  expect_archive(save, output);
  return convert_input(input, output, save, load);
}

ConvertReport pack(std::span<const ModelFile> models, const fs::path& output, const SaveOptions& save,
                   const LoadOptions& load) {
  expect_archive(save, output);
  if (models.empty()) throw Error(Code::usage_argument, "no model was given to pack", {}, output);
  if (!save.exclude.empty()) throw Error(Code::usage_argument, "`exclude` is for the files of a folder", {}, output);
  const os::File lock = lock_output(output, save.output);
  const LoadOptions options = loading_for(load, output, save);
  std::vector<FamilyMember> members;
  for (const ModelFile& file : models) members.push_back(member_of(file, options));
  check_family_names(members);
  put_first(members, save.first, output);
  std::vector<std::string> given;
  for (const FamilyMember& member : members) given.push_back(member.name + std::string(graph_suffix));
  LoadedModel model = load_family(std::move(members), ExternalPolicy::of(save), options);
  model.given = std::move(given);
  return save_model(model, output, save);
}

ConvertReport unpack(const fs::path& input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return convert_input(input, output, as_plain_model(save), load);
}

ConvertReport unpack(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return convert_input(input, output, as_plain_model(save), load);
}

}  // namespace onnxar
