#include "sink/save.h"

#include <bit>
#include <utility>

#include "base/text.h"
#include "sink/gather.h"

namespace onnxar {
namespace {

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
  check_archive_options(options, output);
  ConvertReport report;
  if (auto note = note_of_left_out(model))
    report.remarks.push_back(std::move(*note));  // first, as it is about data that is lost
  report.remarks.insert(report.remarks.end(), model.remarks.begin(), model.remarks.end());
  report.typed_made_raw = model.typed_made_raw;
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
      throw Error(Code::usage_argument, "core cannot write text; use Model::save or dump of onnxar::model", {}, output);
  }
  // A cast can give the enumeration any number.
  throw Error(Code::usage_argument,
              base::concat("no format has the number ", static_cast<unsigned>(options.format), "; nothing is written"),
              {}, output);
}

}  // namespace onnxar
