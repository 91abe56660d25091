// Repacks a zip file as an archive: plans the entries, and writes them.
#include <memory>
#include <string>
#include <utility>

#include "archive/entry_source.h"
#include "archive/evidence.h"
#include "archive/graphs.h"
#include "archive/output_options.h"
#include "base/annotated.h"
#include "base/byte_range.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/progress.h"
#include "base/sources.h"
#include "convert/repack_plan.h"
#include "onnxar/convert.h"
#include "zip/layout.h"
#include "zip/writer.h"

namespace onnxar {
namespace {

void write_entries(const base::MappedFile& mapping, const RepackPlan& plan, const ProgressCallback& tell,
                   zip::Writer& writer) {
  std::uint64_t total = 0;
  for (const PlannedEntry& planned : plan.entries()) total += planned.entry->size;
  base::Progress progress(tell, total);
  const Bytes file = mapping.bytes();
  for (const PlannedEntry& planned : plan.entries()) {
    std::unique_ptr<const ByteSource> source = zip::data_source(file, *planned.entry, mapping.origin());
    // The writer computes the sum of the bytes that it receives. Bytes that may change are copied first, so that the
    // sum is that of the output.
    if (planned.may_change) {
      source = std::make_unique<CopiedSource>(base::section(file, planned.entry->data_offset, planned.entry->size));
    }
    zip::expect_crc(*planned.entry,
                    writer.add(planned.name, planned.alignment, base::CountedSource(*source, progress)));
  }
}

}  // namespace

RepackReport repack(const std::filesystem::path& input, const std::filesystem::path& output,
                    const RepackOptions& options) {
  if (options.alignment) zip::check_alignment(*options.alignment);
  // Locks before the input is read, because input and output may be the same file (X8).
  const auto lock = lock_output(output, options.output);
  const auto mapping = base::MappedFile::open(input);
  const Bytes file = mapping.bytes();
  RepackReport report;
  base::annotated(Evidence{.path = &input, .zip = &mapping, .uncut = OpenOptions()}, [&] {
    const auto directory = zip::ForeignDirectory::read(file, {});
    RepackPlan plan(file, directory, options);
    plan.make(report);
    // Finds the target even in a dry run, so that a target that cannot be written is reported.
    base::OutputTarget target = base::find_target(output, existing_of(options.output));
    plan.prove_graphs(nullptr);  // stored graphs; in a dry run all
    if (options.output.dry_run) return;
    auto out = base::OutputFile::create(std::move(target), existing_of(options.output));
    zip::Writer writer({std::move(out), options.output.sync}, options.output.threads);
    writer.reserve(report.file_bytes);  // fails now, not after hours of copying, if the disk is too small
    write_entries(mapping, plan, options.progress, writer);
    plan.prove_graphs(&writer);  // graphs that were inflated
    std::move(writer).finish().publish(sync_of(options.output));
  });
  return report;
}

}  // namespace onnxar
