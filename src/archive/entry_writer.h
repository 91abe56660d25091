// Adds entries and the model, from memory, files and streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/model_proof.h"
#include "base/steps.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "zip/writer.h"

namespace onnxar {

/// Returns the parts of a writer. Throws usage.argument if it was moved from.
template <typename Owned>
auto& parts_in(const Owned& parts) {
  if (!parts) throw Error(Code::usage_argument, "the writer was moved from; use the one that it was moved to");
  return *parts;
}

/// Implements what writing and editing an archive share: reserved names, kinds of sources, the size limit of the model.
/// Errors name `target`. Admits one call at a time, and no call after one that failed (base::Steps).
class EntryWriter {
 public:
  /// REQUIRES: zip::check_alignment(alignment) does not throw.
  EntryWriter(zip::Writer writer, std::uint64_t alignment, std::filesystem::path target);

  /// Holds the callbacks of an edit, which does more than writing a new archive.
  struct Edit {
    std::function<zip::Writer()> open;  ///< called in the first step that writes; planning may continue until then
    /// Called in each step that adds an entry or the model, before it is written. Writes the entries that must lie
    /// before it.
    std::function<void(std::string_view name)> before = {};
    std::uint64_t max_model_size = model_size_maximum;
  };
  /// REQUIRES: as above.
  EntryWriter(Edit edit, std::uint64_t alignment, std::filesystem::path target);

  /// Returns true if a step has opened the file. Must be called in a step.
  [[nodiscard]] bool is_open() const noexcept { return writer_.has_value(); }
  void reserve(std::uint64_t size);

  /// Runs a step that does not write. If it throws, the writer has failed, as with any step.
  void attempt(const std::function<void()>& action);

  // Do what the functions of ArchiveWriter with these parameters do.
  void add(std::string_view name, const FileRange& range);
  void add(std::string_view name, std::uint64_t size, const StreamReader& read);
  void add(std::string_view name, const ByteSource& source);
  void add_graph(std::string_view name, const ByteSource& model);
  void begin(std::string_view name, std::uint64_t size);
  void write(Bytes bytes);
  void end();
  /// Writes an entry in a step, for Edit::before.
  void write(std::string_view name, const ByteSource& source);

  /// Throws archive.model.too_large if protobuf or the limit of an edit does not allow a model of `size` bytes.
  void check_model_size(std::uint64_t size) const;

  /// Lists all entries of the new archive with their sizes, sorted by name.
  using Entries = NamedSizes;
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

 private:
  /// Runs a step. With `in_entry`, the step is allowed only between `begin` and `end`.
  template <bool in_entry = false, typename Action>
  decltype(auto) step(const Action& action);
  [[noreturn]] void refuse_order() const;
  void write_next(std::string_view name, const ByteSource& source);
  void prepare(std::string_view name);
  void prove_models(const Proofs& proofs);
  void expect_graphs_last(std::string_view name);
  void expect_weights_first();

  zip::Writer& writer();

  base::Steps steps_;
  Edit edit_;
  std::optional<zip::Writer> writer_;  // empty until the file is open
  std::uint64_t alignment_;
  std::filesystem::path target_;
  std::string graph_;                       // the name of the last added graph; empty if there is none
  std::optional<std::string> begun_;        // the name of the entry between `begin` and `end`
  std::optional<std::size_t> first_other_;  // the first added side file, or weight whose name is not a key
};

}  // namespace onnxar
