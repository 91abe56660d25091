// Holds a sequence of bytes whose pieces lie elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/kept.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// Joins views, owned strings and other sources. Memory: a few dozen bytes per piece, regardless of its length.
class Rope final : public ByteSource {
 public:
  /// The rope keeps the view.
  void append(base::Kept<Bytes> view);
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

}  // namespace onnxar::onnx
