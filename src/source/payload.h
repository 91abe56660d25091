// The data of one tensor of a loaded model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "onnxar/bytes.h"

namespace onnxar {

struct Payload {
  /// Hands out the bytes; verifies them on the way where there is a CRC to hold them against.
  std::shared_ptr<const ByteSource> source;
  /// Where they lie in memory, and what keeps them alive; empty where they are converted while they are read.
  ByteSpan span;
  /// The archive entry they are in, if there is one.
  std::optional<std::size_t> entry;
  /// Where the model owns the bytes: the span that does. `span` is a view of it.
  std::shared_ptr<const ByteSpan> owned = nullptr;
  /// Of an entry of the archive that the model goes into: the checksum that the link to all of it has, which stays.
  std::string checksum = {};

  [[nodiscard]] std::uint64_t size() const { return source->size(); }
};

/// A payload of these bytes, which are not copied.
Payload payload_of(ByteSpan bytes);

/// All bytes of a source, in memory of their own.
ByteSpan gathered(const ByteSource& source);

/// A source that keeps alive what it is a view of.
class OwnedSource final : public ByteSource {
 public:
  OwnedSource(std::shared_ptr<const ByteSource> source, std::shared_ptr<const void> owner)
      : source_(std::move(source)), owner_(std::move(owner)) {}
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  void read(const ByteSink& sink) const override { source_->read(sink); }

 private:
  std::shared_ptr<const ByteSource> source_;
  std::shared_ptr<const void> owner_;
};

}  // namespace onnxar
