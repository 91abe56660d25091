// A long run of bytes made of pieces that lie elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar::wire {

/// Views, short strings of its own and other sources, one after another. Costs a few dozen bytes a piece, however long
/// the pieces are.
class Rope final : public ByteSource {
 public:
  /// A view; it must outlive the rope.
  void append(Bytes view);
  /// Bytes of its own.
  void append(std::string text);
  void append(std::shared_ptr<const ByteSource> source);

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(const ByteSink& sink) const override;
  /// Where the other sources lie: views are too short to be worth it.
  void locate(const std::function<void(const Location&)>& visit) const override;
  /// All bytes in one buffer.
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

}  // namespace onnxar::wire
