// What the writers of archives are made of, for their members that are defined in layers above.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "archive/entry_writer.h"
#include "base/open_file.h"
#include "base/output_file.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/edit.h"

namespace onnxar {

struct ArchiveWriter::Parts {
  os::File lock;  // of the file that is replaced; first in, last out
  EntryWriter writer;
  base::Sync sync;
  bool verify_model;
};

/// An edit lists the first `kept` entries of the archive again. What follows them is a run that ends in the old model:
/// what stays of it is appended again, side files before graphs, as they are ordered in a new archive.
struct ArchiveEditor::Parts {
  os::File lock;  // first in, last out
  Archive archive;
  EntryWriter writer;
  EditOptions options;

  std::size_t kept;
  std::vector<bool> removed;                  // by index
  std::optional<std::size_t> end_of_weights;  // once it was asked for
  std::vector<std::size_t> unread = {};       // graphs that cannot be read to their end, known with `end_of_weights`
  bool is_settled = true;                     // whether `writer` knows of `kept`
  bool has_begun = false;                     // whether anything was added
  enum class Appended : std::uint8_t { nothing, side_files, all };
  Appended appended = Appended::nothing;  // of the run

  [[nodiscard]] base::Sync sync() const { return options.output.sync ? base::Sync::full : base::Sync::none; }
  /// Whether the entry is of the run and stays.
  [[nodiscard]] bool moves(std::size_t index) const {
    return index >= kept && index + 1 < archive.size() && !removed[index];
  }
  /// Has `writer` list no more than is kept. Errors: io.*.
  void settle();
  /// Appends what of the run comes before an entry of this name. Errors: as `add`.
  void append_run_before(std::string_view name);
};

}  // namespace onnxar
