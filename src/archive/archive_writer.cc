// Writes new archives entry by entry.
#include "onnxar/archive_writer.h"

#include <utility>
#include <vector>

#include "archive/entry_writer.h"
#include "archive/front_end.h"
#include "archive/output_options.h"
#include "base/output_file.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar {

ArchiveWriter ArchiveWriter::create(const std::filesystem::path& target, const WriterOptions& options) {
  zip::check_alignment(options.alignment);
  if (options.output.dry_run) {
    throw Error(Code::usage_argument, "a writer does not support dry_run; archive_size computes the size of the file");
  }
  auto file = base::OutputFile::create(target, existing_of(options.output));
  zip::Writer writer({std::move(file), options.output.sync}, options.output.threads);
  return {detail::own<detail::EntryState>(std::move(writer), options.alignment, target), options.output.sync,
          options.verify_model};
}

void ArchiveWriter::finish(Bytes model) { finish(SpanSource(model)); }
void ArchiveWriter::finish(const ByteSource& model) {
  const base::Sync sync = sync_of({.sync = sync_});
  state().finish(model, base::Sync::none, sync, {.written = verify_model_});
}

std::uint64_t archive_size(EntrySizes entries, std::uint64_t model_size, std::uint64_t alignment) {
  zip::check_alignment(alignment);
  std::vector<std::pair<std::string_view, std::uint64_t>> all(entries.begin(), entries.end());
  all.emplace_back(model_entry_name, model_size);
  return zip::file_size(all, alignment);
}

}  // namespace onnxar
