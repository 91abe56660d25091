// Handles the `checksum` of external data: SHA-1 of the whole file that the location names, 40 hexadecimal digits
// (onnx.proto, TensorProto.external_data).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

inline constexpr std::size_t checksum_length = 40;

/// Returns the checksum in lower case; nothing if `text` does not have 40 hexadecimal digits.
std::optional<std::string> parse_checksum(std::string_view text);

/// Returns the message for a text that is not a checksum.
std::string no_checksum(std::string_view text);

/// Returns the checksum of all bytes of a source, in lower case. Cost: reads the source.
std::string checksum_of(const ByteSource& source);

/// Passes on the bytes of a source and sums them. If the sum differs from `checksum`, `read` throws `mismatch` as an
/// error of the file at `path` after the last byte. Threads: any number may call `read` concurrently.
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

}  // namespace onnxar
