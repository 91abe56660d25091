#include "onnxar/convert.h"

#include <bit>

#include "base/text.h"
#include "convert/loaded_model.h"
#include "convert/save.h"

namespace onnxar {
namespace {

void check_alignment(const SaveOptions& save) {
  // Of archives the writer knows the limits; a data file has none but Windows' granularity of mappings.
  constexpr std::uint64_t data_file_maximum = 65536;
  if (save.format != Format::onnx_external) return;
  if (std::has_single_bit(save.alignment) && save.alignment <= data_file_maximum) return;
  throw Error(Code::usage_argument,
              base::concat("alignment ", save.alignment, " is not possible; it must be a power of two up to ",
                           data_file_maximum));
}

void note_side_files(const LoadedModel& model, ConvertReport& report) {
  for (const SideFile& file : model.side_files) {
    report.remarks.push_back({Severity::note,
                              Code::archive_entry_unused,
                              {file.name, std::nullopt},
                              "no tensor is in this entry; it stays in the archive (`onnxar cat` prints it)"});
  }
}

}  // namespace

ConvertReport save_model(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options) {
  check_alignment(options);
  ConvertReport report;
  report.remarks = model.remarks;
  switch (options.format) {
    case Format::archive: save_archive(model, output, options, report); break;
    case Format::onnx_inline: save_inline(model, output, options, report); break;
    case Format::onnx_external: save_external(model, output, options, report); break;
  }
  if (options.format != Format::archive) note_side_files(model, report);
  return report;
}

ConvertReport convert(const std::filesystem::path& input, const std::filesystem::path& output, const SaveOptions& save,
                      const LoadOptions& load) {
  LoadOptions options = load;
  if (options.temporary_dir.empty()) options.temporary_dir = output.parent_path();  // there has to be room, anyhow
  return save_model(load_model(input, MovePolicy::of(save), options), output, save);
}

}  // namespace onnxar
