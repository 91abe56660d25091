// Plans an edit with its data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// An entry to write. The source is borrowed.
struct NewEntry {
  std::string_view name;
  const ByteSource* source;
};

/// Plans an edit with its data.
class EditAccess {
 public:
  /// Returns the size of the file after the edit, and proves what it adds, as ArchiveEditor::commit does later: names,
  /// graphs, and `model` if its bytes lie in memory in one piece. Other models come from a plan that proved their
  /// links. `added` are all entries that the edit adds. Errors: as ArchiveEditor::size_with and `commit`.
  static std::uint64_t plan(const ArchiveEditor& editor, std::span<const NewEntry> added, const ByteSource& model);
};

}  // namespace onnxar
