#include "onnxar/archive_writer.h"

#include <string>
#include <utility>
#include <vector>

#include "archive/keys.h"
#include "archive/opening.h"
#include "archive/output_options.h"
#include "archive/writer_parts.h"
#include "onnxar/archive.h"

namespace onnxar {

ArchiveWriter::ArchiveWriter(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
ArchiveWriter::ArchiveWriter(ArchiveWriter&& other) noexcept = default;
ArchiveWriter& ArchiveWriter::operator=(ArchiveWriter&& other) noexcept = default;
ArchiveWriter::~ArchiveWriter() = default;

std::unique_ptr<ArchiveWriter::Parts> ArchiveWriter::Parts::create(const std::filesystem::path& target,
                                                                   const WriterOptions& options,
                                                                   EntryWriter::ProveModel prove) {
  zip::check_alignment(options.alignment);
  refuse_dry_run(options.output);
  auto file = base::OutputFile::create(target, existing_of(options.output));
  // Held until the output has its name, so that no edit of the old file is lost (X8).
  auto lock = options.output.overwrite ? lock_for_replacing(target) : os::File();
  return std::make_unique<Parts>(
      Parts{std::move(lock),
            EntryWriter(zip::Writer({std::move(file), options.output.sync}, options.output.threads), options.alignment,
                        target),
            sync_of(options.output), std::move(prove)});
}

void ArchiveWriter::reserve(std::uint64_t bytes) { parts_->writer.reserve(bytes); }

void ArchiveWriter::add(std::string_view name, Bytes bytes) { add(name, SpanSource(bytes)); }
void ArchiveWriter::add(std::string_view name, const FileRange& range) { parts_->writer.add(name, range); }
void ArchiveWriter::add(std::string_view name, std::uint64_t size, const StreamReader& read) {
  parts_->writer.add(name, size, read);
}
void ArchiveWriter::add(std::string_view name, const ByteSource& source) { parts_->writer.add(name, source); }

void ArchiveWriter::add_graph(std::string_view name, Bytes model) { add_graph(name, SpanSource(model)); }
void ArchiveWriter::add_graph(std::string_view name, const ByteSource& model) {
  const std::string entry = graph_file_name(name);
  parts_->writer.attempt("add_graph", [&] {
    // `add` refuses all else that is wrong with a name.
    if (is_graph_name(entry) || is_reserved_name(entry)) return;
    throw Error(Code::usage_argument, "a graph needs a name that is not empty and has no slash",
                {std::string(name), std::nullopt});
  });
  add(entry, model);
}

void ArchiveWriter::finish(Bytes model) { finish(SpanSource(model)); }
void ArchiveWriter::finish(const ByteSource& model) {
  parts_->writer.finish("finish", model, base::Sync::none, parts_->sync, parts_->prove);
}

std::uint64_t archive_size(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                           std::uint64_t model_size, std::uint64_t alignment) {
  zip::check_alignment(alignment);
  std::vector<std::pair<std::string_view, std::uint64_t>> all(names_and_sizes.begin(), names_and_sizes.end());
  all.emplace_back(model_entry_name, model_size);
  return zip::file_size(all, alignment);
}

}  // namespace onnxar
