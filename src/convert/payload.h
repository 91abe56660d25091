// Holds the data of one tensor of a loaded model.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "onnx/external_data.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

// The `checksum` of external data: SHA-1 of the whole file that the location names, 40 hexadecimal digits
// (onnx.proto, TensorProto.external_data).

inline constexpr std::size_t checksum_length = 40;

/// The checksum in lower case; nothing if `text` does not have 40 hexadecimal digits.
std::optional<std::string> parse_checksum(std::string_view text);

/// Words the fault of a text that is not a checksum.
std::string no_checksum(std::string_view text);

/// The checksum of all bytes of a source, in lower case. Cost: reads the source.
std::string checksum_of(const ByteSource& source);

/// Passes on the bytes of a source and sums them. If the sum differs from `checksum`, `read` throws `mismatch` as an
/// error of the file at `path` after the last byte. Threads: `read` may be called on any number at once.
class ChecksumSource final : public ByteSource {
 public:
  ChecksumSource(std::shared_ptr<const ByteSource> source, std::string checksum, Finding mismatch,
                 std::filesystem::path path)
      : source_(std::move(source)),
        checksum_(std::move(checksum)),
        mismatch_(std::move(mismatch)),
        path_(std::move(path)) {}
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  void read(const ByteSink& sink) const override;
  void locate(const std::function<void(const Location&)>& visit) const override;

 private:
  std::shared_ptr<const ByteSource> source_;
  std::string checksum_;
  Finding mismatch_;
  std::filesystem::path path_;
};

/// The data of one tensor. Copying shares it.
struct Payload {
  /// Hands out the bytes. Verifies them if they have a CRC-32 or checksum, and LoadOptions::verify_data is set.
  std::shared_ptr<const ByteSource> source;
  /// Where the bytes lie in memory, and their owner; null if reading produces them.
  std::shared_ptr<const ByteSpan> span = nullptr;
  /// The link that the tensor keeps because its bytes are in the archive that the model goes into; otherwise null.
  std::shared_ptr<const onnx::ExternalLink> kept_link = nullptr;

  [[nodiscard]] std::uint64_t size() const { return source->size(); }
  /// The bytes in memory; empty if reading produces them.
  [[nodiscard]] Bytes bytes() const noexcept { return span ? span->bytes() : Bytes(); }
  /// A view of the bytes that shares their owner.
  [[nodiscard]] ByteSpan share() const;
  /// Whether reading produces the bytes, so that they do not lie in memory.
  [[nodiscard]] bool is_decoded() const { return bytes().empty() && size() != 0; }
};

/// Makes a payload of bytes in memory. Does not copy them if they are borrowed. `file` is the origin of their mapping;
/// null if they are not mapped.
Payload payload_of(ByteSpan bytes, const base::FileOrigin* file = nullptr);

/// Makes a payload whose bytes lie at `part`, which `owner` keeps alive, and are read through `source`.
Payload payload_at(Bytes part, std::shared_ptr<const void> owner, std::shared_ptr<const ByteSource> source);

/// Identifies data while it is alive. Two payloads with equal extents have the same bytes, so writers write, copy or
/// sum them once. Bytes in memory are identified by address and size, produced data by its source.
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

/// A source with a share in the storage that it views.
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
