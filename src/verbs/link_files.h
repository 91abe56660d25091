// Writes the files of links, which appear together.
#pragma once

#include <cstddef>
#include <vector>

#include "base/output_file.h"
#include "base/output_target.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// The links of one archive, and its copy if there is one. The destructor discards what was not published. Not
/// synchronised.
class LinkFiles {
 public:
  /// The options must outlive it.
  explicit LinkFiles(const OutputOptions& options) noexcept : options_(options) {}

  /// Writes a complete file, which has no name yet. A dry run writes nothing. Errors: io.*.
  void add(base::OutputTarget target, const ByteSource& bytes);

  /// Gives the files their names, all or none. That of the first is on the disk before the others appear: it may be
  /// what the others lead to. Errors: output.exists, io.*.
  void publish() &&;

 private:
  /// Files that stay open and nameless. More could exceed the limit of open files.
  static constexpr std::size_t most_open = 64;

  const OutputOptions& options_;
  std::vector<base::OutputFile> files_;
};

}  // namespace onnxar
