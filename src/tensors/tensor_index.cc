#include <utility>
#include <vector>

#include "base/attempt.h"
#include "base/keyed_hash.h"
#include "onnxar/listing.h"

namespace onnxar {

struct TensorIndex::Parts {
  struct Named {
    std::size_t first;  // the index of the tensor that `find` returns
    std::size_t count = 0;
  };

  const Archive* archive;
  std::vector<StoredTensor> tensors;
  // Views of `tensors`, which never changes. The hash is keyed, so that a hostile model cannot choose colliding names.
  base::KeyedMap<std::string_view, Named> by_name;
};

namespace {

/// Runtimes look weights up by the names of initializers. A Constant's tensor may have the same name by chance, and in
/// most models the nodes precede the initializers.
bool is_initializer(const StoredTensor& tensor) { return tensor.site.starts_with("graph.initializer["); }

}  // namespace

TensorIndex::TensorIndex(const Archive& archive, const LoadOptions& options)
    : parts_(std::make_unique<Parts>(Parts{&archive, tensors(archive, options), {}})) {
  const std::vector<StoredTensor>& all = parts_->tensors;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name.empty()) continue;
    Parts::Named& named = parts_->by_name.try_emplace(all[i].name, Parts::Named{i}).first->second;
    ++named.count;
    if (is_initializer(all[i]) && !is_initializer(all[named.first])) named.first = i;
  }
}

std::optional<TensorIndex> TensorIndex::make(const Archive& archive, Failure& failure) noexcept {
  return base::attempt<std::optional<TensorIndex>>(failure, [&] { return TensorIndex(archive); });
}

TensorIndex::TensorIndex(TensorIndex&& other) noexcept = default;
TensorIndex& TensorIndex::operator=(TensorIndex&& other) noexcept = default;
TensorIndex::~TensorIndex() = default;

std::size_t TensorIndex::size() const noexcept { return parts_->tensors.size(); }

ArchiveTensor TensorIndex::operator[](std::size_t index) const& noexcept {
  return {*parts_->archive, parts_->tensors[index]};
}

std::optional<ArchiveTensor> TensorIndex::find(std::string_view name) const& noexcept {
  const std::optional<std::size_t> index = index_of(name);
  return index ? std::optional((*this)[*index]) : std::nullopt;
}

std::optional<std::size_t> TensorIndex::index_of(std::string_view name) const noexcept {
  const auto found = parts_->by_name.find(name);
  return found == parts_->by_name.end() ? std::nullopt : std::optional(found->second.first);
}

std::size_t TensorIndex::count(std::string_view name) const noexcept {
  const auto found = parts_->by_name.find(name);
  return found == parts_->by_name.end() ? 0 : found->second.count;
}

}  // namespace onnxar
