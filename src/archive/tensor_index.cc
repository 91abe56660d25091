// Finds the tensors of an archive by name.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "archive/access.h"
#include "archive/tensor_text.h"
#include "base/keyed_hash.h"
#include "onnxar/tensors.h"

namespace onnxar {
namespace {

/// True if the tensor is an initializer of the main graph. Runtimes look weights up by the names of initializers. A
/// Constant's tensor may have the same name by chance, and in most models the nodes precede the initializers.
bool is_initializer(const StoredTensor& tensor) { return tensor.site.starts_with("graph.initializer["); }

}  // namespace

struct TensorIndex::Parts {
  /// Holds the first tensor that a name means, and how many tensors have the name.
  struct Named {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  std::vector<StoredTensor> tensors;
  std::filesystem::path path;
  // Views of `tensors`, which never changes. The hash is keyed, so that a hostile model cannot choose colliding names.
  base::KeyedMap<std::string_view, Named> by_name = {};
};

TensorIndex::TensorIndex(const Archive& archive) : parts_(detail::own<Parts>(tensors(archive), archive.path())) {
  const std::vector<StoredTensor>& all = parts_->tensors;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name.empty()) continue;
    Parts::Named& named = parts_->by_name.try_emplace(all[i].name, Parts::Named{i, 0}).first->second;
    const bool was_initializer = is_initializer(all[named.first]);
    if (is_initializer(all[i]) == was_initializer) {
      ++named.count;
    } else if (!was_initializer) {
      named = {i, 1};
    }
  }
}

const StoredTensor* TensorIndex::begin() const& noexcept { return parts_->tensors.data(); }
const StoredTensor* TensorIndex::end() const& noexcept { return begin() + parts_->tensors.size(); }

const StoredTensor* TensorIndex::find(std::string_view name) const& {
  const auto found = parts_->by_name.find(name);
  if (found == parts_->by_name.end()) return nullptr;
  const StoredTensor& first = (*this)[found->second.first];
  if (found->second.count == 1) return &first;
  std::vector<std::string> sites;
  for (const StoredTensor& tensor : *this) {
    if (sites.size() == most_candidates) break;
    if (tensor.name == name && is_initializer(tensor) == is_initializer(first)) sites.push_back(tensor.site);
  }
  throw ambiguous_tensor(name, found->second.count, "list the tensors, and choose one by its site", sites)
      .with_path(parts_->path);
}

}  // namespace onnxar
