// Writes files for the command, and serves its handlers of signals.
#include "archive/front_end.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include "archive/graphs.h"
#include "archive/opening.h"
#include "base/buffered_output.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "os/file.h"

namespace onnxar {

void write_file(const std::filesystem::path& target, Bytes bytes, const OutputOptions& options) {
  // Finds the target even in a dry run, so that a target that cannot be written is reported.
  base::OutputTarget found = base::find_target(target, existing_of(options));
  if (options.dry_run) return;
  base::BufferedOutput out(base::OutputFile::create(std::move(found), existing_of(options)), options.sync);
  out.append(bytes);
  std::move(out).finish().publish(sync_of(options));
}

void abandon_edits() noexcept { base::cut_back_extended_files(); }

std::string_view mapped_file_at(const void* address) noexcept { return base::mapped_file_at(address); }

}  // namespace onnxar
