// Changes fields deep in a message, and keeps all other bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/kept.h"
#include "onnx/rope.h"
#include "onnx/wire.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// Collects edits of one serialised message. `result` is the message with all edits and with the new lengths of the
/// enclosing messages. All other bytes keep their order and encoding, including unknown fields. A length varint that
/// was longer than necessary keeps its width, so that removing bytes and inserting them again gives the original
/// message.
class Splice {
 public:
  /// An embedded message that encloses edits. Number 0 is the outermost message.
  using Frame = std::uint32_t;
  static constexpr Frame outermost = 0;

  /// The result also keeps `message`.
  explicit Splice(base::Kept<Bytes> message);

  /// Enters the embedded message in `field` of `parent`. Frames must be entered in wire order.
  Frame enter(Frame parent, const Field& field);
  /// Replaces `range`, which lies in `frame`, by `text` followed by `source` (null: none). Throws usage.argument
  /// (base::add_announced).
  void replace(Frame frame, Range range, std::string text, std::shared_ptr<const ByteSource> source = nullptr);

  [[nodiscard]] Rope result() &&;

 private:
  struct Enclosing {
    Range length;  // empty for the outermost message
    std::uint64_t old_size = 0;
    Frame parent{};
    std::uint64_t removed = 0;
    std::uint64_t added = 0;
  };
  struct Edit {
    Range range;
    std::size_t sequence;  // edits at one place stay in the order they were made
    std::string text;
    std::shared_ptr<const ByteSource> source;
  };

  void update_lengths();

  Bytes message_;
  std::vector<Enclosing> frames_;
  std::vector<Edit> edits_;
};

}  // namespace onnxar::onnx
