#include "convert/save.h"

#include "convert/checksum.h"
#include "convert/placing.h"
#include "convert/progress.h"
#include "onnxar/archive_writer.h"

namespace onnxar {
namespace {

std::uint64_t size_of_archive(const Outside& outside, const std::vector<SideFile>& side_files, std::uint64_t model_size,
                              std::uint64_t alignment) {
  std::vector<std::pair<std::string_view, std::uint64_t>> entries;
  for (const Outside::Placed& placed : outside.placed()) {
    entries.emplace_back(placed.slice.location, placed.payload->size());
  }
  for (const SideFile& file : side_files) entries.emplace_back(file.name, file.source->size());
  return archive_size(entries, model_size, alignment);
}

/// In a dry run one of the same length.
std::string checksum_for(const Payload& payload, const SaveOptions& options) {
  if (options.checksum == Checksum::none) return {};
  return options.dry_run ? std::string(checksum_length, '0') : checksum_of(*payload.source);
}

}  // namespace

void save_archive(const LoadedModel& model, const std::vector<SideFile>& side_files,
                  const std::filesystem::path& output, const SaveOptions& options, ConvertReport& report) {
  constexpr bool verify_model = false;  // its links are made here, for entries that are added below
  ArchiveWriter writer = ArchiveWriter::create(
      output, {options.alignment, options.replace, options.sync, options.num_threads, verify_model});
  KeyMaker keys;
  reserve_names(keys, side_files);
  Outside outside([&](const onnx::TensorSite& site, const Payload& payload) {
    return onnx::ExternalLink{keys.make(site.tensor.name), 0, payload.size(), checksum_for(payload, options)};
  });
  const wire::Rope proto = place_payloads(model, options, outside);
  check_model_size(proto.size(), output, "a lower --threshold or --all-sites moves more tensors out of it");
  report.file_bytes = size_of_archive(outside, side_files, proto.size(), options.alignment);
  report.model_bytes = proto.size();
  outside.add_to(report);
  if (options.dry_run) return;
  writer.reserve(report.file_bytes);
  Progress progress(options.progress, report.payload_bytes + size_of(side_files) + report.model_bytes);
  const auto add = [&](std::string_view name, const ByteSource& source) {
    writer.add(name, CountedSource(source, progress));
  };
  for (const Outside::Placed& placed : outside.placed()) add(placed.slice.location, *placed.payload->source);
  for (const SideFile& file : side_files) add(file.name, *file.source);
  writer.finish(CountedSource(proto, progress));
}

}  // namespace onnxar
