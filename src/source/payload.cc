#include "source/payload.h"

#include <utility>
#include <vector>

namespace onnxar {

Payload payload_of(ByteSpan bytes) {
  if (!bytes.owned()) {
    auto source = std::make_shared<SpanSource>(bytes.bytes());
    return {std::make_shared<OwnedSource>(std::move(source), bytes.owner()), std::move(bytes), std::nullopt};
  }
  const auto owned = std::make_shared<const ByteSpan>(std::move(bytes));
  const Bytes view = owned->bytes();
  return {std::make_shared<OwnedSource>(std::make_shared<SpanSource>(view), owned), ByteSpan::borrow(view, owned),
          std::nullopt, owned};
}

ByteSpan gathered(const ByteSource& source) {
  std::vector<std::byte> buffer;
  buffer.reserve(source.size());
  source.read([&buffer](Bytes piece) { buffer.insert(buffer.end(), piece.begin(), piece.end()); });
  return ByteSpan::own(std::move(buffer));
}

}  // namespace onnxar
