// Keeps aligned copies up to a limit of bytes.
#include "archive/aligned_copies.h"

#include <algorithm>
#include <memory>
#include <span>

#include "base/checked.h"
#include "base/memory.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

ByteSpan copy_of(const ByteSource& source) {
  const std::uint64_t size = source.size();
  std::shared_ptr<std::byte> memory = base::allocate(base::in_memory(size), AlignedCopies::alignment);
  std::span<std::byte> rest(memory.get(), base::in_memory(size));
  source.read([&rest](Bytes piece) {
    // Values are counted before they are decoded, and mapped bytes may change in between.
    if (piece.size() > rest.size()) throw Error(Code::io_changed, "the model was changed while it was read");
    std::ranges::copy(piece, rest.begin());
    rest = rest.subspan(piece.size());
  });
  const Bytes bytes(memory.get(), base::in_memory(size));
  return ByteSpan::borrow(bytes, std::move(memory));
}

}  // namespace

ByteSpan AlignedCopies::get(const Key& key, const ByteSource& source, std::uint64_t limit) {
  // Held while copying, so that two threads do not make the same copy.
  const std::scoped_lock lock(mutex_);
  if (const auto kept = kept_.find(key); kept != kept_.end()) return kept->second;
  ByteSpan copy = copy_of(source);
  // Two comparisons, because the sum of both sizes could wrap.
  if (copy.size() <= limit && bytes_ <= limit - copy.size()) {
    kept_.emplace(key, copy);
    bytes_ += copy.size();
  }
  return copy;
}

}  // namespace onnxar
