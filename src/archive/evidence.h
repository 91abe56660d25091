// Explains errors of a file by what is known of it: what it is, whether it is being changed, and what helps.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "archive/archive_file.h"
#include "base/kept.h"
#include "base/mapped_file.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar {

/// Returns what usually helps after an error with this code; Hint::none if that does not depend on the code alone.
/// Hint::kind_other: the file may be of another kind.
Hint hint_on(Code code) noexcept;

/// Holds what is known of a file, and explains errors in it: `base::annotated(Evidence{.archive = &archive}, action)`.
/// Members that are not set explain nothing. Cheap to make, so that it can be made before each step that may fail; what
/// it points to must outlive it.
struct Evidence {
  const std::filesystem::path* path = nullptr;  ///< the file
  std::optional<ArchiveFile> file = {};         ///< its bytes, read as an archive
  const base::MappedFile* zip = nullptr;        ///< its mapping, read as a zip of any program
  std::optional<OpenOptions> uncut = {};        ///< opens an earlier state, if an edit may not have finished
  const Archive* archive = nullptr;             ///< was opened from the file
  std::optional<ArchiveEntry> graph = {};       ///< offsets of errors without a place count from its first byte
  std::string_view graph_by_name = {};          ///< an entry that is a graph because of its name
  Hint of_links = Hint::none;                   ///< helps if a link of that graph is wrong

  /// Returns the error with its path and place. An error of the format becomes archive.busy or io.changed if the file
  /// is being edited or was changed, and archive.torn after an interrupted edit (X9); others get advice on the file,
  /// unless they have advice.
  [[nodiscard]] Error operator()(const Error& error) const;
};

/// Returns what explains errors of an open archive, for reads that take nanoseconds: Evidence is made only on failure.
inline auto evidence_of(base::Kept<const Archive> archive) noexcept {
  return [archive](const Error& error) { return Evidence{.archive = &archive.get()}(error); };
}

}  // namespace onnxar
