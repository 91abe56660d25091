// Plans the repacking of a zip file, before anything is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/entry_writer.h"
#include "archive/renames.h"
#include "archive/zip_expansion.h"
#include "base/kept.h"
#include "convert/repack_models.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "zip/foreign_directory.h"
#include "zip/writer.h"

namespace onnxar {

/// Describes an entry of the input, with its name and alignment in the output.
struct PlannedEntry {
  const zip::ForeignEntry* entry;
  std::string_view name;
  std::uint64_t alignment;
  bool may_change;  ///< true if an edit appended it, so that `undo` can cut it off
};

/// Plans a repacking; a dry run needs nothing else. Refers to all constructor arguments.
class RepackPlan {
 public:
  /// Throws usage.argument, zip.name.* and archive.name.reserved for new names in the options.
  RepackPlan(base::Kept<Bytes> file, base::Kept<const zip::ForeignDirectory> directory,
             base::Kept<const RepackOptions> options);

  /// Plans every entry, and fills the report. Throws what `repack` throws, except errors of data and output.
  void make(RepackReport& report);

  /// Proves the files that become graphs of the archive, so that `check` does not refuse them later. With a null
  /// `writer`, proves stored graphs, and in a dry run all graphs; called before anything is written. Otherwise proves
  /// the inflated graphs, reading them from the output, so that they are not held in memory. Throws wire.*, onnx.*,
  /// archive.model.too_large, archive.graph.* and zip.data.*.
  void prove_graphs(zip::Writer* writer) const;
  /// Returns the entries of the output in their order, the model last.
  [[nodiscard]] const std::vector<PlannedEntry>& entries() const noexcept { return entries_; }

 private:
  using Entry = zip::ForeignEntry;

  std::size_t find_model(RepackReport& report);
  void add(const Entry& entry, std::string_view name);
  void add_model(const Entry& model);
  std::string_view new_name(const Entry& entry, const Entry& model);
  void check_kind(const Entry& entry, std::string_view name) const;
  void check_new_names() const;
  void check_model_name(const Entry& model) const;
  void check_hiding_names() const;
  void prove_graph(const PlannedEntry& planned, Bytes graph, const NamedSizes& sizes) const;
  void expect_not_linked(const std::vector<const Entry*>& left_out, const Entry& model);
  [[nodiscard]] bool may_change(const Entry& entry) const;
  [[nodiscard]] std::uint64_t alignment_of(const Entry& entry) const;
  [[nodiscard]] std::uint64_t file_size() const;

  Bytes file_;
  const zip::ForeignDirectory& directory_;
  const RepackOptions& options_;
  ZipExpansion expansion_;
  RepackModels models_;
  Renames renames_;
  std::optional<std::uint64_t> appended_from_;  // where edits begin to append; empty if the zip is not an archive
  std::vector<PlannedEntry> entries_;
};

}  // namespace onnxar
