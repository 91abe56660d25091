// What each entry of an archive is there for: the one place where that is decided.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/listing.h"

namespace onnxar {

/// Which entries the tensors name. Every tensor of the model and of all graphs is noted first, then it can be asked.
/// The archive must outlive it.
class EntryUses {
 public:
  explicit EntryUses(const Archive& archive) : archive_(archive), named_(archive.size()) {}

  /// A link names its entry, also where it is broken in another way.
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

/// The same where a further graph may be broken: what was read of it counts. For those who look, and for taking it out.
EntryUses uses_as_far_as_read(const Archive& archive, const LoadOptions& options);

/// Notes the tensors of the model or of a graph. Whether it could be read to its end: what was read counts anyway.
bool note_as_far_as_read(EntryUses& uses, const Archive& archive, const ArchiveEntry& graph,
                         const LoadOptions& options);

/// The same of all further graphs. The indices of those that could not be read to their end.
std::vector<std::size_t> note_graphs_as_far_as_read(EntryUses& uses, const Archive& archive,
                                                    const LoadOptions& options);

/// Refuses another model where a tensor of a graph is in the bytes of this one: it would have other data without a
/// word. `stays` tells by index which graphs count. Errors: usage.argument, naming the graph. Cost: O(graphs).
void refuse_where_graphs_name_the_model(const Archive& archive, const std::function<bool(std::size_t)>& stays,
                                        const LoadOptions& options);

}  // namespace onnxar
