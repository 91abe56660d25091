#include "archive/output_options.h"
#include "base/buffered_output.h"
#include "base/output_file.h"
#include "onnxar/archive_writer.h"

namespace onnxar {

void write_file(const std::filesystem::path& target, Bytes bytes, const OutputOptions& options) {
  // Found before a dry run ends, so that it reports a target that cannot be written.
  base::OutputTarget found = base::find_target(target, existing_of(options));
  if (options.dry_run) return;
  base::BufferedOutput out(base::OutputFile::create(std::move(found), existing_of(options)), options.sync);
  out.append(bytes);
  std::move(out).finish().publish(sync_of(options));
}

}  // namespace onnxar
