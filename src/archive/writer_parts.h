// The private parts of ArchiveWriter and ArchiveEditor. Rooms above define some members of these classes.
#pragma once

#include <cstdint>
#include <string_view>

#include "archive/edit_plan.h"
#include "archive/entry_writer.h"
#include "base/output_file.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/edit.h"
#include "os/file.h"

namespace onnxar {

struct ArchiveWriter::Parts {
  os::File lock;  // on the file that is replaced; the first member, so that it is released last
  EntryWriter writer;
  base::Sync sync;
  bool verify_model;
};

/// Planning an edit (`plan`) and writing it (`writer`) are separate: `writer` opens the file for writing in its first
/// step.
struct ArchiveEditor::Parts {
  Parts(os::File lock_of, Archive archive, const EditOptions& how);

  os::File lock;  // the first member, so that it is released last
  EditOptions options;
  EditPlan plan;
  EntryWriter writer;
  bool has_begun = false;  // whether an entry was added
  enum class Appended : std::uint8_t { nothing, side_files, all };
  Appended appended = Appended::nothing;  // the entries of the run that were appended again

  /// Appends the entries of the run that precede an entry of this name. Errors: as `add`.
  void append_run_before(std::string_view name);

 private:
  [[nodiscard]] zip::Writer open_for_writing() const;
};

}  // namespace onnxar
