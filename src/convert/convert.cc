#include "onnxar/convert.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "archive/keys.h"
#include "archive/opening.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "convert/loaded_model.h"
#include "convert/save.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

void check_alignment(const SaveOptions& save) {
  // Of archives the writer knows the limits; a data file has none but Windows' granularity of mappings.
  constexpr std::uint64_t data_file_maximum = 65536;
  if (save.format != Format::onnx_external) return;
  if (std::has_single_bit(save.alignment) && save.alignment <= data_file_maximum) return;
  throw Error(Code::usage_argument,
              base::concat("alignment ", save.alignment, " is not possible; it must be a power of two up to ",
                           data_file_maximum));
}

SideFile side_file(const AddedFile& added) {
  if (is_identifier(added.name)) {
    throw Error(Code::usage_argument, base::concat("a side file cannot be named ", base::quoted(added.name),
                                                   ": C identifiers are keys of tensors; give it an extension"));
  }
  auto file = std::make_shared<const base::MappedFile>(base::MappedFile::open(added.path));
  auto source = std::make_shared<SpanSource>(file->bytes());
  return {added.name, std::make_shared<OwnedSource>(std::move(source), std::move(file))};
}

/// The side files with others added, each in place of one of the same name.
std::vector<SideFile> with_added(std::vector<SideFile> files, const std::vector<AddedFile>& add) {
  for (const AddedFile& added : add) {
    SideFile file = side_file(added);
    const auto same = std::ranges::find(files, added.name, &SideFile::name);
    if (same == files.end()) {
      files.push_back(std::move(file));
    } else {
      *same = std::move(file);
    }
  }
  return files;
}

void check_archive_options(const SaveOptions& save) {
  if (save.format == Format::archive || (save.add.empty() && save.checksum == Checksum::none)) return;
  throw Error(Code::usage_argument, "side files can be added to archives alone, and checksums put into them alone");
}

}  // namespace

ConvertReport save_model(const LoadedModel& model, const fs::path& output, const SaveOptions& options,
                         const fs::path& input) {
  check_alignment(options);
  check_archive_options(options);
  ConvertReport report;
  report.remarks = model.remarks;
  switch (options.format) {
    case Format::archive: {
      const std::vector<SideFile> side_files = with_added(model.side_files, options.add);
      report.side_files = side_files.size();
      report.model_path = output;
      save_archive(model, side_files, output, options, report);
      break;
    }
    case Format::onnx_inline:
    case Format::onnx_external:
      save_plain(model, Destination::of(output, input, options.format), options, report);
      break;
    case Format::textproto:
      throw Error(Code::usage_argument, "text is written by onnxar::model: Model::save or convert_to_text");
  }
  return report;
}

ConvertReport convert(const fs::path& input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  LoadOptions options = load;
  // There has to be room, anyhow.
  if (options.temporary_dir.empty()) options.temporary_dir = Destination::of(output, {}, save.format).folder_above();
  const base::FileDescriptor lock = save.replace && !save.dry_run ? lock_for_replacing(output) : base::FileDescriptor();
  return save_model(load_model(input, MovePolicy::of(save), options), output, save, input);
}

ConvertReport convert(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return save_model(load_model(ModelSource::of(input, nullptr, load), MovePolicy::of(save), load), output, save);
}

}  // namespace onnxar
