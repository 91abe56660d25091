// All that the other sources here must not do, done lawfully: this one must compile.
#include <utility>

#include "onnxar/archive.h"
#include "onnxar/resolve.h"

std::size_t lawful() {
  onnxar::Archive archive = onnxar::Archive::open("a.onnxar");
  const onnxar::Archive moved = std::move(archive);
  const auto entry = moved.entry(0);
  const auto found = moved.find("w");
  const onnxar::ByteSpan span = onnxar::ByteSpan::own({});
  return moved.model().size() + moved.bytes(entry).size() + moved.resolve("w").size() + moved.file().size() +
         span.bytes().size() + (found ? 1 : 0) + onnxar::resolve(moved, onnxar::TensorMessage()).value().size();
}
