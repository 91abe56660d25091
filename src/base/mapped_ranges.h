// Keeps track of mapped files, so that a signal handler can name the one that an access faulted in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// Notes a mapping from its construction to its destruction, which must precede the end of the mapping. At most 1024
/// mappings are noted at a time; further ones have no name in that case. Threads: any.
class MappedRange {
 public:
  /// `path` is empty for a file without a name, which is not noted.
  MappedRange(Bytes mapping, const std::filesystem::path& path);
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;
  ~MappedRange();

 private:
  std::string text_;  // of the path; the table points to it
  std::size_t place_ = 0;
};

/// The path of the noted mapping that holds the address, as escaped_path writes it; empty if none does. The text is
/// valid as long as the mapping. Safe in signal handlers: it only reads lock-free atomics.
std::string_view mapped_file_at(const void* address) noexcept;

}  // namespace onnxar::base
