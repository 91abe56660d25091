// Writes files and checks alignments for the command, and serves its handlers of signals.
#include "archive/front_end.h"

#include <bit>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/evidence.h"
#include "archive/graphs.h"
#include "archive/output_options.h"
#include "base/annotated.h"
#include "base/buffered_output.h"
#include "base/extended_files.h"
#include "base/file_origin.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "os/file.h"
#include "zip/foreign_directory.h"

namespace onnxar {

void write_file(const std::filesystem::path& target, Bytes bytes, const OutputOptions& options) {
  // Finds the target even in a dry run, so that a target that cannot be written is reported.
  base::OutputTarget found = base::find_target(target, existing_of(options));
  if (options.dry_run) return;
  base::BufferedOutput out(base::OutputFile::create(std::move(found), existing_of(options)), options.sync);
  out.append(bytes);
  std::move(out).finish().publish(sync_of(options));
}

std::vector<EntryAlignment> check_alignment(const std::filesystem::path& path, std::uint64_t alignment) {
  if (!std::has_single_bit(alignment)) {
    throw Error(Code::usage_argument,
                base::concat("alignment ", alignment, " is not possible; it must be a power of two"));
  }
  const auto mapping = base::MappedFile::open(path);
  const Bytes file = mapping.bytes();
  std::vector<EntryAlignment> entries;
  base::annotated(Evidence{.path = &path, .zip = &mapping, .uncut = OpenOptions()}, [&] {
    const auto directory = zip::ForeignDirectory::read(file, {});
    for (const zip::ForeignEntry& entry : directory.entries()) {
      const auto kind = entry.folder     ? EntryAlignment::Kind::folder
                        : entry.deflated ? EntryAlignment::Kind::compressed
                                         : EntryAlignment::Kind::stored;
      const std::uint64_t off_by = kind == EntryAlignment::Kind::stored ? entry.data_offset % alignment : 0;
      entries.push_back({std::string(entry.name), entry.data_offset, off_by, kind});
    }
  });
  return entries;
}

void abandon_edits() noexcept { base::cut_back_extended_files(); }

std::string_view mapped_file_at(const void* address) noexcept { return base::mapped_file_at(address); }

}  // namespace onnxar
