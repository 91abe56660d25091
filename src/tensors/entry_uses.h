// What each entry of an archive is for: only this file decides that.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/listing.h"

namespace onnxar {

/// Which entries the tensors name. First every tensor of the model and of all graphs is noted, then questions have an
/// answer. The archive must outlive it.
class EntryUses {
 public:
  explicit EntryUses(const Archive& archive) : archive_(archive), named_(archive.size()) {}

  /// A link counts for its entry even if it is broken in another way.
  void note(const onnx::TensorSite& site);
  void note(std::size_t index) { named_[index] = true; }
  [[nodiscard]] bool is_named(std::size_t index) const { return named_[index]; }
  [[nodiscard]] EntryKind kind_of(std::size_t index) const;
  /// How many entries there are up to the last one that a tensor names, the model aside.
  [[nodiscard]] std::size_t end_of_weights() const;

 private:
  const Archive& archive_;
  std::vector<bool> named_;
};

/// Walks the model and all graphs. Errors: wire.*, onnx.*, naming the entry. Cost: O(directory + model + graphs).
EntryUses uses_of(const Archive& archive, const LoadOptions& options);

/// As `uses_of`, if a further graph may be broken: the part of it that can be read counts. For listings, and for edits
/// that remove the graph.
EntryUses uses_as_far_as_read(const Archive& archive, const LoadOptions& options);

/// Notes the tensors of the model or of a graph as far as it can be read. Returns whether that was to its end.
bool note_as_far_as_read(EntryUses& uses, const Archive& archive, const ArchiveEntry& graph,
                         const LoadOptions& options);

/// Notes all further graphs in that way. Returns the indices of those that could not be read to their end.
std::vector<std::size_t> note_graphs_as_far_as_read(EntryUses& uses, const Archive& archive,
                                                    const LoadOptions& options);

/// Refuses to replace the model if `graph`, the last one that was noted, has a tensor in the bytes of the old model.
/// Errors: usage.argument, naming the graph.
void refuse_use_of_model(const EntryUses& uses, const Archive& archive, const ArchiveEntry& graph);
/// Refuses to replace the model if a tensor of a graph has its data in the bytes of the old one: the tensor would get
/// other data silently. `stays` tells by index which graphs remain. Errors: usage.argument, naming the graph. Cost:
/// O(graphs).
void refuse_where_graphs_name_the_model(const Archive& archive, const std::function<bool(std::size_t)>& stays,
                                        const LoadOptions& options);

}  // namespace onnxar
