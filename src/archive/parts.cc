#include "archive/parts.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/memory.h"

namespace onnxar {
namespace {

ByteSpan copy_of(const ByteSource& source) {
  const std::uint64_t size = source.size();
  std::shared_ptr<std::byte> memory = base::allocate(base::in_memory(size), AlignedCopies::alignment);
  std::byte* end = memory.get();
  source.read([&end](Bytes piece) { end = std::ranges::copy(piece, end).out; });
  const Bytes bytes(memory.get(), base::in_memory(size));
  return ByteSpan::borrow(bytes, std::move(memory));
}

}  // namespace

ByteSpan AlignedCopies::get(const Key& key, const ByteSource& source, std::uint64_t limit) {
  // Held while copying, so that two threads do not make the same copy.
  const std::scoped_lock lock(mutex_);
  if (const auto kept = kept_.find(key); kept != kept_.end()) return kept->second;
  ByteSpan copy = copy_of(source);
  // In two comparisons, because the sum of both sizes could wrap.
  if (copy.size() <= limit && bytes_ <= limit - copy.size()) {
    kept_.emplace(key, copy);
    bytes_ += copy.size();
  }
  return copy;
}

}  // namespace onnxar
