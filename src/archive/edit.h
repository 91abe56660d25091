// Plans an edit with its data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Describes an entry to write. The source is borrowed.
struct NewEntry {
  std::string_view name;
  const ByteSource* source;
};

/// Plans an edit with its data.
class EditAccess {
 public:
  /// Returns the size of the file after the edit, and proves what it adds, as ArchiveEditor::commit does later: names,
  /// graphs, and `model` if its bytes lie in memory in one piece. The links of other models were proved by a plan.
  /// `added` must list all entries that the edit adds. Throws what ArchiveEditor::size_with and `commit` throw.
  static std::uint64_t plan(const ArchiveEditor& editor, std::span<const NewEntry> added, const ByteSource& model);
};

}  // namespace onnxar
