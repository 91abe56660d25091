// Ropes of bytes, and changes of fields deep in a message that keep all other bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "onnx/wire.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

// A sequence of bytes whose pieces lie elsewhere.

/// Joins views, owned strings and other sources. Memory: a few dozen bytes per piece, regardless of its length.
class Rope final : public ByteSource {
 public:
  /// The bytes of the view must outlive the rope.
  void append(Bytes view);
  /// The rope owns the text.
  void append(std::string text);
  /// Asks the source for its size once. Throws usage.argument (base::add_announced).
  void append(std::shared_ptr<const ByteSource> source);

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(const ByteSink& sink) const override;
  /// Locates the bytes of the other sources only. Views are parts of the model between payloads, too short to share
  /// blocks.
  void locate(const std::function<void(const Location&)>& visit) const override;
  /// Copies all bytes into one buffer.
  [[nodiscard]] std::vector<std::byte> flat() const;

 private:
  struct Piece {
    Bytes view;  // used where `source` is null and `text` is empty
    std::string text;
    std::shared_ptr<const ByteSource> source;
  };

  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
};

// Changes fields deep in a message without touching the rest.

/// Collects edits of one serialised message. `result` is the message with all edits and with the new lengths of the
/// enclosing messages. All other bytes keep their order and encoding, including unknown fields. A length varint that
/// was longer than necessary keeps its width, so that removing bytes and inserting them again gives the original
/// message.
class Splice {
 public:
  /// An embedded message that encloses edits. Number 0 is the outermost message.
  using Frame = std::uint32_t;
  static constexpr Frame outermost = 0;

  /// `message` must outlive the splice and its result.
  explicit Splice(Bytes message);

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
