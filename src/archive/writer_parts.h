// The private parts of ArchiveWriter and ArchiveEditor, for members that layers above define.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "archive/entry_writer.h"
#include "base/file_descriptor.h"
#include "base/output_file.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/edit.h"

namespace onnxar {

struct ArchiveWriter::Parts {
  base::FileDescriptor lock;  // of the file that is replaced; the first member, so that it is released last
  EntryWriter writer;
  base::Sync sync;
  bool verify_model;
};

/// An edit lists the first `kept` entries of the archive again. The entries after them are a run that ends in the old
/// model (X2). Those of the run that stay are appended again, side files before graphs, in the order of a new archive.
struct ArchiveEditor::Parts {
  base::FileDescriptor lock;  // the first member, so that it is released last
  Archive archive;
  EntryWriter writer;
  EditOptions options;

  std::size_t kept;
  std::vector<bool> removed;                  // by index
  std::optional<std::size_t> end_of_weights;  // computed by the first removal
  std::vector<std::size_t> unread = {};       // graphs that cannot be read to their end; set with `end_of_weights`
  bool is_settled = true;                     // whether `writer` was made for the current `kept`
  bool has_begun = false;                     // whether anything was added
  enum class Appended : std::uint8_t { nothing, side_files, all };
  Appended appended = Appended::nothing;  // of the run

  /// Whether the entry is in the run and stays.
  [[nodiscard]] base::Sync sync() const { return options.output.sync ? base::Sync::full : base::Sync::none; }
  [[nodiscard]] bool moves(std::size_t index) const {
    return index >= kept && index + 1 < archive.size() && !removed[index];
  }
  /// Replaces `writer` by one that lists only the kept entries, if `kept` has changed. Errors: io.*.
  void settle();
  /// Appends the entries of the run that come before an entry of this name. Errors: as `add`.
  void append_run_before(std::string_view name);
};

}  // namespace onnxar
