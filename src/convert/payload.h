// Refers to the data of tensors, and identifies it.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/file_origin.h"
#include "onnx/external_data.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Refers to the data of one tensor. Copies share it.
struct Payload {
  /// Hands out the bytes. Verifies them if they have a CRC-32 or checksum and LoadOptions::verify_data is set.
  std::shared_ptr<const ByteSource> source;
  /// Where the bytes lie in memory, and their owner; null if reading produces them.
  std::shared_ptr<const ByteSpan> span = nullptr;
  /// The link that the tensor keeps, if its bytes are in the archive into which the model goes; otherwise null.
  std::shared_ptr<const onnx::ExternalLink> kept_link = nullptr;
  /// True if other tensors of the input may share these bytes. False if they are decoded from typed fields, or if the
  /// program supplied them.
  bool may_be_shared = true;
  /// Where produced bytes will lie once they are read, which identifies them; empty if they are decoded.
  Bytes place = {};

  [[nodiscard]] std::uint64_t size() const { return source->size(); }
  /// Returns the bytes in memory; empty if reading produces them.
  [[nodiscard]] Bytes bytes() const noexcept { return span ? span->bytes() : Bytes(); }
  /// Returns where the bytes lie or will lie.
  [[nodiscard]] Bytes region() const noexcept { return span ? span->bytes() : place; }
  /// Returns a view of the bytes that shares their owner.
  [[nodiscard]] ByteSpan share() const;
  /// True if reading produces the bytes, so they do not lie in memory.
  [[nodiscard]] bool is_decoded() const noexcept { return !span; }
};

/// Makes a payload of bytes in memory. Does not copy them if they are borrowed. `file` is the origin of their mapping;
/// null if they are not mapped.
Payload payload_of(ByteSpan bytes, const base::FileOrigin* file = nullptr);

/// Makes a payload whose bytes lie at `part`, which `owner` keeps alive, and are read through `source`.
Payload payload_at(Bytes part, std::shared_ptr<const void> owner, std::shared_ptr<const ByteSource> source);

/// Identifies data while it is alive. Two payloads with equal extents have the same bytes, so writers write, copy or
/// sum them once. Identifies bytes that have a place in memory by address and size, other data by its source.
class Extent {
 public:
  explicit Extent(Bytes bytes) noexcept : begin_(reinterpret_cast<std::uintptr_t>(bytes.data())), size_(bytes.size()) {}
  explicit Extent(const Payload& payload);

  [[nodiscard]] std::uintptr_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::uintptr_t end() const noexcept { return static_cast<std::uintptr_t>(begin_ + size_); }
  /// Orders by the first byte, then by size.
  auto operator<=>(const Extent&) const = default;

 private:
  std::uintptr_t begin_;
  std::uint64_t size_;
};

/// Copies all bytes of a source into an owned span.
ByteSpan gathered(const ByteSource& source);

/// Shares the ownership of the storage that a source views.
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
