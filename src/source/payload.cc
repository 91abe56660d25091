#include "source/payload.h"

#include <utility>
#include <vector>

#include "base/checked.h"

namespace onnxar {
namespace {

/// Bytes in memory, with a share in their owner and the origin of their mapping.
class HeldSource final : public ByteSource {
 public:
  HeldSource(ByteSpan span, const base::FileOrigin* file) : span_(std::move(span)), file_(file) {}
  [[nodiscard]] std::uint64_t size() const override { return span_.size(); }
  void read(const ByteSink& sink) const override { sink(span_.bytes()); }
  void locate(const std::function<void(const Location&)>& visit) const override {
    visit({span_.bytes(), false, file_});
  }
  [[nodiscard]] const ByteSpan& span() const noexcept { return span_; }

 private:
  ByteSpan span_;
  const base::FileOrigin* file_;
};

}  // namespace

ByteSpan Payload::share() const {
  if (!span) return {};
  return span->owned() ? ByteSpan::borrow(span->bytes(), span) : *span;  // copying an owned span copies its bytes
}

Payload payload_of(ByteSpan bytes, const base::FileOrigin* file) {
  auto held = std::make_shared<const HeldSource>(std::move(bytes), file);
  const ByteSpan* const span = &held->span();
  // `span` shares the control block of `source`: a model may have 100 000 payloads, and each takes one allocation.
  return {held, std::shared_ptr<const ByteSpan>(held, span)};
}

Payload payload_at(Bytes part, std::shared_ptr<const void> owner, std::shared_ptr<const ByteSource> source) {
  return {std::move(source), std::make_shared<const ByteSpan>(ByteSpan::borrow(part, std::move(owner)))};
}

Extent::Extent(const Payload& payload) : Extent(payload.bytes()) {
  // Empty data may have any address, or one that larger data has as well. So it is identified by its source, as
  // produced data is.
  if (size_ == 0) begin_ = reinterpret_cast<std::uintptr_t>(payload.source.get());
}

ByteSpan gathered(const ByteSource& source) {
  std::vector<std::byte> buffer;
  buffer.reserve(base::in_memory(source.size()));
  source.read([&buffer](Bytes piece) { buffer.insert(buffer.end(), piece.begin(), piece.end()); });
  return ByteSpan::own(std::move(buffer));
}

}  // namespace onnxar
