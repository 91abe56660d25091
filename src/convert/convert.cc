#include "onnxar/convert.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <utility>

#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/opening.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "convert/load.h"
#include "convert/model_folder.h"
#include "convert/open.h"
#include "convert/save.h"
#include "os/names.h"

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

ConvertReport convert_input(const fs::path& input, const fs::path& output, const SaveOptions& save,
                            const LoadOptions& load) {
  const os::File lock = lock_output(output, save.output);
  const LoadOptions options = with_folder(load, output, save);
  // In a folder, a graph has its own name, and a model that of its file.
  const fs::path name = load.graph.empty() ? input : os::path_of(graph_file_name(load.graph));
  return save_model(load_model(input, ExternalPolicy::of(save), options), output, save, name);
}

/// The paths of the data files that the links of all models led to.
base::KeyedSet<std::string> data_files_of(const LoadedModel& model) {
  base::KeyedSet<std::string> names;
  const auto add = [&names](const ModelSource& source) {
    const ExternalFiles* const files = files_of(source);
    if (files == nullptr) return;
    for (const std::string& name : files->names())
      names.insert(os::slashed_text_of(files->folder() / os::path_of(name)));
  };
  add(*model.source);
  for (const auto& source : model.further_sources) add(*source);
  return names;
}

/// Loads all models of a folder, and its other files as side files, except those that hold data of the models and the
/// one at `output`. Errors: as `load_family` and ModelFolder.
LoadedModel load_folder(const fs::path& folder, const SaveOptions& save, const LoadOptions& options,
                        const fs::path& output) {
  const ModelFolder found = ModelFolder::read(folder);
  std::vector<FamilyMember> members;
  for (const std::string& name : found.models()) {
    std::string stem = name.substr(0, name.size() - graph_suffix.size());
    members.push_back({std::move(stem), open_source(found.path_of(name), options)});
  }
  LoadedModel model = load_family(std::move(members), ExternalPolicy::of(save), options);
  std::ranges::move(found.side_files(data_files_of(model), output), std::back_inserter(model.side_files));
  model.remarks.insert(model.remarks.begin(), found.remark());
  if (auto remark = remark_on_places(model.side_files)) model.remarks.push_back(std::move(*remark));
  return model;
}

ConvertReport pack_folder(const fs::path& folder, const fs::path& output, const SaveOptions& save,
                          const LoadOptions& load) {
  const os::File lock = lock_output(output, save.output);
  return save_model(load_folder(folder, save, with_folder(load, output, save), output), output, save);
}

/// Opens one of several models. Errors name its path.
FamilyMember member_of(const ModelFile& file, const LoadOptions& options) {
  std::unique_ptr<ModelSource> source = open_any_source(file.path, options);
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

ConvertReport convert_input(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return save_model(load_model(source_of(input, nullptr, load), ExternalPolicy::of(save), load), output, save);
}

void expect_archive(const SaveOptions& save, const fs::path& output) {
  if (save.format == Format::archive) return;
  throw Error(Code::usage_argument, "`pack` writes archives; for other formats use `unpack`", {}, output);
}

/// The default of SaveOptions is Format::archive, which only `pack` can mean.
SaveOptions as_plain_model(const SaveOptions& save) {
  SaveOptions plain = save;
  if (plain.format == Format::archive) plain.format = Format::onnx_inline;
  return plain;
}

void check_alignment(const SaveOptions& save, const std::filesystem::path& output) {
  // The archive's writer checks its own limits. In a data file, the granularity of mappings on
  // Windows, 64 KiB, is the largest alignment of use.
  constexpr std::uint64_t data_file_maximum = 65536;
  if (save.format != Format::onnx_external) return;
  if (std::has_single_bit(save.alignment) && save.alignment <= data_file_maximum) return;
  throw Error(Code::usage_argument,
              base::concat("alignment ", save.alignment, " is not possible; it must be a power of two up to ",
                           data_file_maximum),
              {}, output);
}

void check_data_files(const SaveOptions& save, const std::filesystem::path& output) {
  if (save.format != Format::onnx_external || !save.file_per_tensor || save.data_file.empty()) return;
  throw Error(Code::usage_argument, "one data file and a data file for each tensor exclude each other: choose one", {},
              output);
}

void check_archive_options(const SaveOptions& save, const std::filesystem::path& output) {
  if (save.checksum != Checksum::none && save.checksum != Checksum::sha1) {
    throw Error(Code::usage_argument,
                base::concat("no kind of checksum has the number ", static_cast<unsigned>(save.checksum),
                             "; nothing is written"),
                {}, output);
  }
  // Refused and not ignored, because a caller who asks for side files or checksums would miss them only later.
  const bool has_side_files = !save.add.empty() || !save.side_files_of.empty() || !save.rename.empty();
  if (save.format == Format::archive || (!has_side_files && save.checksum == Checksum::none)) return;
  throw Error(Code::usage_argument, "only an archive can get added or renamed side files, or checksums", {}, output);
}

}  // namespace

ConvertReport save_model(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                         const std::filesystem::path& input) {
  // Options come first: planning may read all data for checksums, and a wrong option must not cost that.
  check_alignment(options, output);
  check_data_files(options, output);
  check_archive_options(options, output);
  ConvertReport report;
  if (auto note = note_of_left_out(model))
    report.remarks.push_back(std::move(*note));  // first, as it is about data that is lost
  report.remarks.insert(report.remarks.end(), model.remarks.begin(), model.remarks.end());
  report.typed_made_raw = model.typed_made_raw;
  report.reencoded = model.reencoded;
  switch (options.format) {
    case Format::archive: {
      const ArchiveCompanions companions = companions_to_save(model, options, output);
      report.side_files = companions.side_files.size();
      report.graphs = companions.graphs.size() + companions.whole_graphs.size();
      report.model_path = output;
      save_archive(model, companions, output, options, report);
      return report;
    }
    case Format::onnx_inline:
    case Format::onnx_external:
      save_onnx(model, Destination::of(output, name_in_folder(model, input), options.format), options, report);
      return report;
    // Core has no protobuf, and protobuf's printer is the only writer of its text format.
    case Format::textproto:
      throw Error(Code::usage_argument, "text needs a library with protobuf; `dump` of the command line writes it", {},
                  output);
  }
  // A cast can give the enumeration any number.
  throw Error(Code::usage_argument,
              base::concat("no format has the number ", static_cast<unsigned>(options.format), "; nothing is written"),
              {}, output);
}

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
  const os::File lock = lock_output(output, save.output);
  const LoadOptions options = with_folder(load, output, save);
  std::vector<FamilyMember> members;
  for (const ModelFile& file : models) members.push_back(member_of(file, options));
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
