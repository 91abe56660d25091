// Holds the state of a writer: what writing a new archive and editing one have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "archive/model_proof.h"
#include "base/annotated.h"
#include "base/steps.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "os/file.h"
#include "zip/writer.h"

namespace onnxar {

/// Returns the parts of a writer. Throws usage.argument if it was moved from.
template <typename Owned>
auto& parts_in(const Owned& parts) {
  if (!parts) throw Error(Code::usage_argument, "the writer was moved from; use the one that it was moved to");
  return *parts;
}

/// Takes the steps of an edit that writing a new archive does not have.
class EditSteps {
 public:
  EditSteps() = default;
  EditSteps(const EditSteps&) = delete;
  EditSteps& operator=(const EditSteps&) = delete;
  virtual ~EditSteps() = default;

  /// Opens the file. Called in the first step that writes, so planning may continue until then.
  virtual zip::Writer open(const os::File& lock) = 0;
  /// Called in each step that adds an entry or the model, before it is written. Adds the entries that must lie before
  /// it to the writer, which `open` opens.
  virtual void prepare(std::string_view name, const std::function<zip::Writer&()>& writer) = 0;
  [[nodiscard]] virtual std::uint64_t max_model_size() const = 0;
};

/// Admits one call at a time, and no call after one that failed (base::Steps). Errors name `target`.
struct detail::EntryState {
  /// For a new archive. REQUIRES: zip::check_alignment(alignment) does not throw.
  EntryState(zip::Writer opened, std::uint64_t alignment_of, std::filesystem::path path);
  /// For an edit. REQUIRES: as above.
  EntryState(os::File lock_of, std::unique_ptr<EditSteps> steps_of_edit, std::uint64_t alignment_of,
             std::filesystem::path path);

  /// Runs a step. With `in_entry`, the step is allowed only between `begin` and `end`. If it throws, the writer has
  /// failed.
  template <bool in_entry = false, typename Action>
  void step(const Action& action) {
    base::annotated(target, [&] {
      steps.take([&] {
        if (begun.has_value() != in_entry) refuse_order();
        action();
      });
    });
  }

  /// Throws archive.model.too_large if protobuf or the limit of an edit does not allow a model of `size` bytes.
  void check_model_size(std::uint64_t size) const;

  /// Proves the model or an added graph from the bytes in the file, before the file is published. If it throws, nothing
  /// is published.
  using ProveModel = std::function<void(std::string_view name, Bytes model)>;
  struct Proofs {
    bool written = true;      ///< calls `prove_written` for each
    ProveModel further = {};  ///< called after `prove_written`; may be empty
  };
  /// Writes model and directory, and publishes the file. Passes `before_end` to zip::Writer::finish. Throws
  /// archive.model.too_large, io.*, and what `proofs` and OutputFile::publish throw.
  void finish(const ByteSource& model, base::Sync before_end, base::Sync sync, const Proofs& proofs);

  // The following must be called in a step.
  zip::Writer& writer();
  /// Checks the order, and adds the entries that must lie before one of this name.
  void prepare(std::string_view name);

  os::File lock;  // of an edit; the first member, so that it is released last
  base::Steps steps;
  std::optional<zip::Writer> opened_writer;  // empty until the file is open
  std::uint64_t alignment;
  std::filesystem::path target;
  std::optional<std::string> begun;  // the name of the entry between `begin` and `end`
  std::unique_ptr<EditSteps> edit;   // after the writer: an archive must not be mapped when the writer truncates it

 private:
  [[noreturn]] void refuse_order() const;
  void prove_models(const Proofs& proofs);
  void expect_graphs_last(std::string_view name);
  void expect_weights_first();

  std::string graph_;                       // the name of the last added graph; empty if there is none
  std::optional<std::size_t> first_other_;  // the first added side file, or weight whose name is not a key
};

}  // namespace onnxar
