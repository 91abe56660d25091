#include "convert/payload.h"

#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/sha1.h"
#include "base/text.h"

namespace onnxar {
std::optional<std::string> parse_checksum(std::string_view text) {
  constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";
  if (text.size() != checksum_length || text.find_first_not_of(hexadecimal) != std::string_view::npos)
    return std::nullopt;
  return base::folded_copy(text);
}

std::string no_checksum(std::string_view text) {
  return base::concat("its checksum ", base::quoted(text), " is not a SHA-1 in 40 hexadecimal digits");
}

std::string checksum_of(const ByteSource& source) {
  base::Sha1 sum;
  source.read([&sum](Bytes piece) { sum.update(piece); });
  return std::move(sum).hex();
}

/// The sum is known only after the last piece, when the sink has all bytes. Outputs get their names after that, so a
/// difference leaves no file.
void ChecksumSource::read(const ByteSink& sink) const {
  base::Sha1 sum;
  source_->read([&](Bytes piece) {
    sum.update(piece);
    sink(piece);
  });
  if (std::move(sum).hex() != checksum_) throw Error(mismatch_.code, mismatch_.message, mismatch_.place, path_);
}

void ChecksumSource::locate(const std::function<void(const Location&)>& visit) const {
  source_->locate([&visit](Location run) {
    run.verified = true;  // a consumer that takes the bytes from where they lie would skip the comparison
    visit(run);
  });
}

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
