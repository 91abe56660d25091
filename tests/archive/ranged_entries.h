// Archives of ten weights for tests that read in ranges, and what a test compares.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "archive/opened.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "support/zip_builder.h"

namespace onnxar::testing {

/// Entries `w0` to `w9` of 100 000 bytes each, and the model.
inline Built ten_weights() {
  std::vector<ZipEntry> entries;
  for (int i = 0; i < 10; ++i) entries.push_back(zip_entry("w" + std::to_string(i), pattern(100'000)));
  return built_with(std::move(entries));
}

inline Blob copied_out(const Archive& archive, const ArchiveEntry& entry) {
  Blob found;
  archive.copy(entry, [&found](Bytes piece) { found.insert(found.end(), piece.begin(), piece.end()); });
  return found;
}

inline std::vector<std::string> finding_lines(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) lines.push_back(to_string(finding));
  return lines;
}

}  // namespace onnxar::testing
