#include "wire/rope.h"

#include <utility>

#include "base/checked.h"
#include "base/exact_source.h"

namespace onnxar::wire {

void Rope::append(Bytes view) {
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

std::vector<std::byte> Rope::flat() const {
  std::vector<std::byte> all;
  all.reserve(base::in_memory(size_));
  read([&all](Bytes piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  return all;
}

}  // namespace onnxar::wire
