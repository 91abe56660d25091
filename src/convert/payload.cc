// Makes payloads of bytes in memory, and identifies data by its place or its source.
#include "convert/payload.h"

#include "base/file_origin.h"
#include "base/sources.h"

namespace onnxar {
namespace {

/// Hands out bytes in memory. Shares their ownership, and holds the origin of their mapping.
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
  // `span` shares the control block of `source`, so each of possibly 100 000 payloads takes only one allocation.
  return {held, std::shared_ptr<const ByteSpan>(held, span)};
}

Payload payload_at(Bytes part, std::shared_ptr<const void> owner, std::shared_ptr<const ByteSource> source) {
  return {std::move(source), std::make_shared<const ByteSpan>(ByteSpan::borrow(part, std::move(owner)))};
}

Extent::Extent(const Payload& payload) : Extent(payload.region()) {
  // Empty data may have any address, even that of larger data. So it is identified by its source, like decoded data.
  if (size_ == 0) begin_ = reinterpret_cast<std::uintptr_t>(payload.source.get());
}

ByteSpan gathered(const ByteSource& source) { return ByteSpan::own(base::gathered(source)); }

}  // namespace onnxar
