// Reads the pieces of a rope one after another.
#include "onnx/rope.h"

#include <utility>

#include "base/sources.h"

namespace onnxar::onnx {

void Rope::append(base::Kept<Bytes> view) {
  if (view.empty()) return;
  size_ += view.size();
  pieces_.push_back({view, {}, nullptr});
}

void Rope::append(std::string text) {
  if (text.empty()) return;
  size_ += text.size();
  pieces_.push_back({{}, std::move(text), nullptr});
}

void Rope::append(std::shared_ptr<const ByteSource> source) {
  const std::uint64_t size = source->size();
  if (size == 0) return;
  size_ = base::add_announced(size_, size);
  pieces_.push_back({{}, {}, std::move(source)});
}

void Rope::read(const ByteSink& sink) const {
  for (const Piece& piece : pieces_) {
    if (piece.source) {
      piece.source->read(sink);
    } else {
      sink(piece.text.empty() ? piece.view : as_bytes(piece.text));
    }
  }
}

void Rope::locate(const std::function<void(const Location&)>& visit) const {
  for (const Piece& piece : pieces_) {
    if (piece.source) piece.source->locate(visit);
  }
}

std::vector<std::byte> Rope::flat() const { return base::gathered(*this); }

}  // namespace onnxar::onnx
