#include "base/buffered_output.h"
#include "base/output_file.h"
#include "onnxar/archive_writer.h"

namespace onnxar {

void write_file(const std::filesystem::path& target, Bytes bytes, const WriterOptions& options) {
  const auto existing = options.replace ? base::Existing::replace : base::Existing::refuse;
  base::BufferedOutput out(base::OutputFile::create(target, existing), options.sync);
  out.append(bytes);
  std::move(out).finish().publish(options.sync ? base::Sync::full : base::Sync::none);
}

}  // namespace onnxar
