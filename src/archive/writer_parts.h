// The private parts of ArchiveWriter and ArchiveEditor, and their seam to the rooms above.
//
// Both classes prove a model before they publish the file, and this room does not know ONNX. So they receive the proofs
// as functions when they are made. Only the public members that make them, `ArchiveWriter::create` and
// `ArchiveEditor::open`, are defined above (sink/written_model.cc); they choose the proofs and call `Parts::create` and
// `Parts::open`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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
  EntryWriter::ProveModel prove;  // empty if the model is not proved

  /// As ArchiveWriter::create. `options.verify_model` does not apply.
  static std::unique_ptr<Parts> create(const std::filesystem::path& target, const WriterOptions& options,
                                       EntryWriter::ProveModel prove);
};

/// The functions by which an edit reads models.
struct EditRules {
  /// Finds the entries of the archive that may be removed. Errors: as `entry_kinds`.
  std::function<EditPlan::Removable(const Archive& archive)> removable_in;
  /// As EntryWriter::ProveModel, also against what the plan removes and moves. Empty if the model is not proved.
  std::function<void(const EditPlan& plan, std::string_view name, Bytes written, const EntryWriter::Entries& entries)>
      prove;
};

/// Planning an edit (`plan`) and writing it (`writer`) are separate: `writer` opens the file for writing in its first
/// step.
struct ArchiveEditor::Parts {
  Parts(os::File lock_of, EditPlan plan_of, const EditOptions& how, EditRules rules_of);
  /// As ArchiveEditor::open. `options.verify_model` does not apply.
  static std::unique_ptr<Parts> open(const std::filesystem::path& path, const EditOptions& options, EditRules rules);

  os::File lock;  // the first member, so that it is released last
  EditOptions options;
  EditRules rules;
  EntryWriter writer;
  EditPlan plan;  // after the writer, so that the archive is not mapped any more when the writer cuts bytes off
  bool has_begun = false;  // whether an entry was added
  enum class Appended : std::uint8_t { nothing, side_files, all };
  Appended appended = Appended::nothing;  // the entries of the run that were appended again

  /// Appends the entries of the run that precede an entry of this name. Errors: as `add`.
  void append_run_before(std::string_view name);

 private:
  [[nodiscard]] zip::Writer open_for_writing() const;
};

}  // namespace onnxar
