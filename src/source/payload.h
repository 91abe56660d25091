// The data of one tensor of a loaded model.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "onnx/external_data.h"
#include "onnxar/bytes.h"

namespace onnxar {

struct Payload {
  /// Hands out the bytes; verifies them on the way where there is a CRC-32 or checksum to compare them with.
  std::shared_ptr<const ByteSource> source;
  /// Where the bytes lie in memory and what owns them; null where they are made while they are read.
  std::shared_ptr<const ByteSpan> span = nullptr;
  /// The link that the tensor keeps, as its bytes are in the archive that the model is going into; null elsewhere.
  std::shared_ptr<const onnx::ExternalLink> kept_link = nullptr;

  [[nodiscard]] std::uint64_t size() const { return source->size(); }
  /// Empty where they are made while they are read.
  [[nodiscard]] Bytes bytes() const noexcept { return span ? span->bytes() : Bytes(); }
  /// A view of the bytes with a share in what keeps them alive.
  [[nodiscard]] ByteSpan share() const;
  /// Whether the bytes are made while they are read.
  [[nodiscard]] bool is_decoded() const { return bytes().empty() && size() != 0; }
};

/// A payload of these bytes, which are not copied. `file` is what they are mapped from, if anything.
Payload payload_of(ByteSpan bytes, const base::FileOrigin* file = nullptr);

/// A payload whose bytes lie at `part`, which `owner` keeps alive, and are read through `source`.
Payload payload_at(Bytes part, std::shared_ptr<const void> owner, std::shared_ptr<const ByteSource> source);

/// Tells data apart while it is alive: two payloads with the same extent have the same bytes, which are then written,
/// copied or summed once. Bytes in memory go by their address; data that is made while it is read goes by its source.
class Extent {
 public:
  explicit Extent(Bytes bytes) noexcept : begin_(reinterpret_cast<std::uintptr_t>(bytes.data())), size_(bytes.size()) {}
  explicit Extent(const Payload& payload);

  [[nodiscard]] std::uintptr_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::uintptr_t end() const noexcept { return begin_ + size_; }
  /// By the first byte, then by length.
  auto operator<=>(const Extent&) const = default;

 private:
  std::uintptr_t begin_;
  std::uint64_t size_;
};

/// All bytes of a source, in memory of their own.
ByteSpan gathered(const ByteSource& source);

/// A source that keeps alive what it is a view of.
class OwnedSource final : public ByteSource {
 public:
  OwnedSource(std::shared_ptr<const ByteSource> source, std::shared_ptr<const void> owner)
      : source_(std::move(source)), owner_(std::move(owner)) {}
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  void read(const ByteSink& sink) const override { source_->read(sink); }
  void locate(const std::function<void(const Location&)>& visit) const override { source_->locate(visit); }

 private:
  std::shared_ptr<const ByteSource> source_;
  std::shared_ptr<const void> owner_;
};

}  // namespace onnxar
