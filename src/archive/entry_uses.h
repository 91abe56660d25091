// Decides what each entry of an archive is for. No other file decides it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/content.h"

namespace onnxar {

// Finds entries by their bytes.

/// An index of some entries of an archive by size and CRC-32. The archive must outlive it.
class EntriesByContent {
 public:
  explicit EntriesByContent(const Archive& archive) : archive_(archive) {}

  /// Makes `entry` a candidate. Cost: O(log entries); its bytes are not read.
  void add(const ArchiveEntry& entry) { by_size_and_crc_.emplace(std::pair(entry.size, entry.crc32), entry.index); }

  /// Returns an entry with the bytes of `source`. Reads `source` only if an entry has its size, and an entry only if
  /// the CRC-32 is also equal. Compares only the first few entries of one CRC-32; if it misses an equal one, the caller
  /// writes the bytes a second time.
  [[nodiscard]] std::optional<ArchiveEntry> find(const ByteSource& source) const;

 private:
  const Archive& archive_;
  std::multimap<std::pair<std::uint64_t, std::uint32_t>, std::size_t> by_size_and_crc_;
};

/// The set of entries that tensors name. The answers are right only after every tensor of the model and of all graphs
/// was noted. The archive must outlive it.
class EntryUses {
 public:
  explicit EntryUses(const Archive& archive) : archive_(archive), named_(archive.size()) {}

  /// Notes the entry that the tensor's link names, even if its offset or length is wrong.
  void note(const onnx::TensorSite& site);
  /// Notes an entry by its index.
  void note(std::size_t index) { named_[index] = true; }
  [[nodiscard]] bool is_named(std::size_t index) const { return named_[index]; }
  [[nodiscard]] EntryKind kind_of(std::size_t index) const;
  /// One more than the index of the last entry that a tensor names; 0 if tensors name none. The model does not count.
  [[nodiscard]] std::size_t end_of_weights() const;

 private:
  const Archive& archive_;
  std::vector<bool> named_;
};

/// Walks the model and all graphs, and notes their tensors. Errors: wire.*, onnx.*, naming the entry. Cost: O(directory
/// + model + graphs).
EntryUses uses_of(const Archive& archive, const LoadOptions& options);

/// Notes the tensors of the model or of a graph up to the first fault of its format. Returns whether it has none.
bool note_as_far_as_read(EntryUses& uses, const Archive& archive, const ArchiveEntry& graph,
                         const LoadOptions& options);

/// Refuses to replace the model if `graph`, the last one that was noted, has a tensor in the bytes of the old model.
/// Errors: usage.argument, naming the graph.
void refuse_use_of_model(const EntryUses& uses, const Archive& archive, const ArchiveEntry& graph);

}  // namespace onnxar
