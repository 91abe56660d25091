#include "onnxar/convert.h"

#include <bit>

#include "archive/opening.h"
#include "base/text.h"
#include "sink/save.h"
#include "sink/side_files.h"
#include "skeleton/load.h"
#include "source/open.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

void check_alignment(const SaveOptions& save) {
  // The archive's writer checks its own limits. In a data file, only Windows' granularity of mappings is a limit.
  constexpr std::uint64_t data_file_maximum = 65536;
  if (save.format != Format::onnx_external) return;
  if (std::has_single_bit(save.alignment) && save.alignment <= data_file_maximum) return;
  throw Error(Code::usage_argument,
              base::concat("alignment ", save.alignment, " is not possible; it must be a power of two up to ",
                           data_file_maximum));
}

void check_archive_options(const SaveOptions& save) {
  if (save.checksum != Checksum::none && save.checksum != Checksum::sha1) {
    throw Error(Code::usage_argument, base::concat("no checksum has the number ", static_cast<unsigned>(save.checksum),
                                                   "; nothing is written"));
  }
  const bool has_side_files = !save.add.empty() || !save.side_files_of.empty() || !save.rename.empty();
  if (save.format == Format::archive || (!has_side_files && save.checksum == Checksum::none)) return;
  throw Error(Code::usage_argument,
              "side files can be added and renamed in archives alone, and checksums put into them alone");
}

}  // namespace

ConvertReport save_model(const LoadedModel& model, const fs::path& output, const SaveOptions& options,
                         const fs::path& input) {
  check_alignment(options);
  check_archive_options(options);
  ConvertReport report;
  if (auto note = note_of_left_out(model)) report.remarks.push_back(std::move(*note));  // first: it is about data
  report.remarks.insert(report.remarks.end(), model.remarks.begin(), model.remarks.end());
  switch (options.format) {
    case Format::archive: {
      const Kept kept = kept_to_save(model, options);
      report.side_files = kept.side_files.size();
      report.graphs = kept.graphs.size() + kept.whole_graphs.size();
      report.model_path = output;
      save_archive(model, kept, output, options, report);
      return report;
    }
    case Format::onnx_inline:
    case Format::onnx_external:
      save_onnx(model, Destination::of(output, name_in_folder(model, input), options.format), options, report);
      return report;
    case Format::textproto: throw Error(Code::usage_argument, "text is written by onnxar::model: Model::save or dump");
  }
  throw Error(Code::usage_argument,
              base::concat("no format has the number ", static_cast<unsigned>(options.format), "; nothing is written"));
}

namespace {

ConvertReport convert_input(const fs::path& input, const fs::path& output, const SaveOptions& save,
                            const LoadOptions& load) {
  LoadOptions options = load;
  // The output needs room there anyway. A dry run may not be able to write there.
  if (options.temporary_dir.empty() && !save.output.dry_run)
    options.temporary_dir = Destination::of(output, {}, save.format).folder_above();
  const os::File lock = save.output.overwrite && !save.output.dry_run ? lock_for_replacing(output) : os::File();
  return save_model(load_model(input, ExternalPolicy::of(save), options), output, save, input);
}

ConvertReport convert_input(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return save_model(load_model(resolver_of(input, nullptr, load), ExternalPolicy::of(save), load), output, save);
}

void expect_archive(const SaveOptions& save) {
  if (save.format == Format::archive) return;
  throw Error(Code::usage_argument, "`pack` writes archives; for another format call `unpack`");
}

/// The default of SaveOptions is Format::archive, which only `pack` can mean.
SaveOptions as_plain_model(const SaveOptions& save) {
  SaveOptions plain = save;
  if (plain.format == Format::archive) plain.format = Format::onnx_inline;
  return plain;
}

}  // namespace

ConvertReport pack(const fs::path& input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  expect_archive(save);
  return convert_input(input, output, save, load);
}

ConvertReport pack(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  expect_archive(save);
  return convert_input(input, output, save, load);
}

ConvertReport unpack(const fs::path& input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return convert_input(input, output, as_plain_model(save), load);
}

ConvertReport unpack(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return convert_input(input, output, as_plain_model(save), load);
}

}  // namespace onnxar
