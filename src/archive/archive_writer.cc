// Writes new archives entry by entry.
#include "onnxar/archive_writer.h"

#include <utility>
#include <vector>

#include "archive/entry_writer.h"
#include "archive/front_end.h"
#include "archive/graphs.h"
#include "archive/opening.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar {

struct ArchiveWriter::Parts {
  EntryWriter writer;
  base::Sync sync;
  bool verify_model;
};

ArchiveWriter::ArchiveWriter(detail::Owned<Parts> parts) noexcept : parts_(std::move(parts)) {}

ArchiveWriter ArchiveWriter::create(const std::filesystem::path& target, const WriterOptions& options) {
  zip::check_alignment(options.alignment);
  if (options.output.dry_run) {
    throw Error(Code::usage_argument, "a writer does not support dry_run; archive_size computes the size of the file");
  }
  auto file = base::OutputFile::create(target, existing_of(options.output));
  zip::Writer writer({std::move(file), options.output.sync}, options.output.threads);
  return ArchiveWriter(detail::own<Parts>(EntryWriter(std::move(writer), options.alignment, target),
                                          sync_of(options.output), options.verify_model));
}

void ArchiveWriter::reserve(std::uint64_t bytes) { parts_in(parts_).writer.reserve(bytes); }

void ArchiveWriter::add(std::string_view name, Bytes bytes) { add(name, SpanSource(bytes)); }
void ArchiveWriter::add(std::string_view name, const FileRange& range) { parts_in(parts_).writer.add(name, range); }
void ArchiveWriter::add(std::string_view name, std::uint64_t size, const StreamReader& read) {
  parts_in(parts_).writer.add(name, size, read);
}
void ArchiveWriter::add(std::string_view name, const ByteSource& source) { parts_in(parts_).writer.add(name, source); }

void ArchiveWriter::add_graph(std::string_view name, Bytes model) { add_graph(name, SpanSource(model)); }
void ArchiveWriter::add_graph(std::string_view name, const ByteSource& model) {
  parts_in(parts_).writer.add_graph(name, model);
}

void ArchiveWriter::begin(std::string_view name, std::uint64_t size) { parts_in(parts_).writer.begin(name, size); }
void ArchiveWriter::write(Bytes bytes) { parts_in(parts_).writer.write(bytes); }
void ArchiveWriter::end() { parts_in(parts_).writer.end(); }

void ArchiveWriter::finish(Bytes model) { finish(SpanSource(model)); }
void ArchiveWriter::finish(const ByteSource& model) {
  Parts& parts = parts_in(parts_);
  parts.writer.finish(model, base::Sync::none, parts.sync, {.written = parts.verify_model});
}

std::uint64_t archive_size(EntrySizes entries, std::uint64_t model_size, std::uint64_t alignment) {
  zip::check_alignment(alignment);
  std::vector<std::pair<std::string_view, std::uint64_t>> all(entries.begin(), entries.end());
  all.emplace_back(model_entry_name, model_size);
  return zip::file_size(all, alignment);
}

}  // namespace onnxar
