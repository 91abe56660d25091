#include "onnxar/convert.h"

#include <memory>
#include <utility>

#include "archive/keys.h"
#include "archive/opening.h"
#include "os/names.h"
#include "sink/save.h"
#include "skeleton/load.h"
#include "source/family_resolver.h"
#include "source/model_folder.h"
#include "source/open.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// Data that has to be inflated goes to the disk of the output, which needs room for it anyway. A dry run keeps the
/// default folder, since the output's may be read-only.
LoadOptions with_folder(const LoadOptions& load, const fs::path& output, const SaveOptions& save) {
  LoadOptions options = load;
  if (options.temporary_dir.empty() && !save.output.dry_run)
    options.temporary_dir = Destination::of(output, {}, save.format).folder_above();
  return options;
}

/// The lock is taken before the input is read: if the input is the archive that is replaced, an edit between reading
/// and replacing would be lost.
os::File lock_output(const fs::path& output, const SaveOptions& save) {
  return save.output.overwrite && !save.output.dry_run ? lock_for_replacing(output) : os::File();
}

ConvertReport convert_input(const fs::path& input, const fs::path& output, const SaveOptions& save,
                            const LoadOptions& load) {
  const os::File lock = lock_output(output, save);
  const LoadOptions options = with_folder(load, output, save);
  // In a folder, a graph has its own name, and a model that of its file.
  const fs::path name = load.graph.empty() ? input : os::path_of(graph_file_name(load.graph));
  return save_model(load_model(input, ExternalPolicy::of(save), options), output, save, name);
}

ConvertReport pack_folder(const fs::path& folder, const fs::path& output, const SaveOptions& save,
                          const LoadOptions& load) {
  const os::File lock = lock_output(output, save);
  const LoadOptions options = with_folder(load, output, save);
  return save_model(load_folder(folder, ExternalPolicy::of(save), options, output), output, save);
}

/// Opens one of several models. Errors name its path.
FamilyMember member_of(const ModelFile& file, const LoadOptions& options) {
  std::unique_ptr<Resolver> source = open_any_resolver(file.path, options);
  std::string name = file.name;
  if (is_graph_name(name)) name.resize(name.size() - graph_suffix.size());
  if (name.empty()) {
    try {
      name = model_name_of(source->model()).value_or(os::text_of(file.path.stem()));
    } catch (const Error& error) {
      throw source->with_place(error);
    }
  }
  return {std::move(name), std::move(source)};
}

/// Refuses a file that would take the place of a model which is given, too. Graphs of archives may be replaced.
void refuse_added_models(const std::vector<FamilyMember>& members, const std::vector<AddedFile>& added) {
  base::KeyedSet<std::string> graphs;
  for (const FamilyMember& member : members) graphs.insert(member.name + std::string(graph_suffix));
  for (const AddedFile& file : added) {
    if (!graphs.contains(file.name)) continue;
    throw Error(Code::usage_argument, "a model that is packed has this name, and so has a file that is added",
                {file.name, std::nullopt}, file.path, {Hint::name_graph});
  }
}

ConvertReport convert_input(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return save_model(load_model(resolver_of(input, nullptr, load), ExternalPolicy::of(save), load), output, save);
}

void expect_archive(const SaveOptions& save, const fs::path& output) {
  if (save.format == Format::archive) return;
  throw Error(Code::usage_argument, "`pack` writes archives; for other formats call `unpack`", {}, output);
}

/// The default of SaveOptions is Format::archive, which only `pack` can mean.
SaveOptions as_plain_model(const SaveOptions& save) {
  SaveOptions plain = save;
  if (plain.format == Format::archive) plain.format = Format::onnx_inline;
  return plain;
}

}  // namespace

ConvertReport pack(const fs::path& input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  expect_archive(save, output);
  return ModelFolder::is_one(input) ? pack_folder(input, output, save, load) : convert_input(input, output, save, load);
}

ConvertReport pack(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  expect_archive(save, output);
  return convert_input(input, output, save, load);
}

ConvertReport pack(std::span<const ModelFile> models, const fs::path& output, const SaveOptions& save,
                   const LoadOptions& load) {
  expect_archive(save, output);
  if (models.empty()) throw Error(Code::usage_argument, "no model was given to pack", {}, output);
  const os::File lock = lock_output(output, save);
  const LoadOptions options = with_folder(load, output, save);
  std::vector<FamilyMember> members;
  for (const ModelFile& file : models) members.push_back(member_of(file, options));
  refuse_added_models(members, save.add);
  return save_model(load_family(std::move(members), ExternalPolicy::of(save), options), output, save);
}

ConvertReport unpack(const fs::path& input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return convert_input(input, output, as_plain_model(save), load);
}

ConvertReport unpack(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return convert_input(input, output, as_plain_model(save), load);
}

}  // namespace onnxar
