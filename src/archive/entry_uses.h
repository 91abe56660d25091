// Decides what each entry of an archive is for. No other file decides that.
#pragma once

#include <cstddef>
#include <vector>

#include "archive/access.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/listing.h"

namespace onnxar {

/// Records which entries tensors name. The results are valid only after every tensor of the model and of all graphs was
/// noted.
class EntryUses {
 public:
  explicit EntryUses(const Archive& archive) : archive_(ArchiveAccess::share(archive)), named_(archive.size()) {}

  /// Notes the entry that the tensor's link names, even if its offset or length is wrong.
  void note(const onnx::TensorSite& site);
  /// Notes an entry by its index.
  void note(std::size_t index) { named_[index] = true; }
  [[nodiscard]] bool is_named(std::size_t index) const { return named_[index]; }
  [[nodiscard]] EntryKind kind_of(std::size_t index) const;
  /// Returns one more than the index of the last entry that a tensor names; 0 if tensors name no entry. Ignores the
  /// model.
  [[nodiscard]] std::size_t end_of_weights() const;

 private:
  Archive archive_;
  std::vector<bool> named_;
};

/// Walks the model and all graphs, and notes their tensors. Throws wire.* and onnx.* with the name of the entry. Cost:
/// O(directory + model + graphs).
EntryUses uses_of(const Archive& archive);

/// Notes the tensors of the model or of a graph up to the first fault of its format. Returns true if it has no fault.
bool note_as_far_as_read(EntryUses& uses, const Archive& archive, const ArchiveEntry& graph);

/// Throws usage.argument with the name of `graph`, the last graph that was noted, if it has a tensor in the bytes of
/// the model: the model must not be replaced then.
void refuse_use_of_model(const EntryUses& uses, const Archive& archive, const ArchiveEntry& graph);

}  // namespace onnxar
