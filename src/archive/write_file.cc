#include "base/buffered_output.h"
#include "base/output_file.h"
#include "onnxar/archive_writer.h"

namespace onnxar {

void write_file(const std::filesystem::path& target, Bytes bytes, const OutputOptions& options) {
  const auto existing = options.overwrite ? base::Existing::replace : base::Existing::refuse;
  if (options.dry_run) return base::OutputFile::check_target(target, existing);
  base::BufferedOutput out(base::OutputFile::create(target, existing), options.sync);
  out.append(bytes);
  std::move(out).finish().publish(options.sync ? base::Sync::full : base::Sync::none);
}

}  // namespace onnxar
