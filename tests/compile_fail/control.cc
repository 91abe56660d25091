// Correct variants of the code in the other sources: this one must compile.
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/resolve.h"
#include "onnxar/tensors.h"

std::size_t lawful() {
  onnxar::Archive archive = onnxar::Archive::open("a.onnxar");
  const onnxar::Archive moved = std::move(archive);
  const auto entry = moved.entry(0);
  const auto found = moved.find("w");
  std::size_t sum = 0;
  for (const onnxar::ArchiveEntry& each : moved.entries()) sum += each.size;
  for (const onnxar::StoredTensor& each : onnxar::TensorIndex(moved)) sum += each.name.size();
  const onnxar::ByteSpan span = onnxar::ByteSpan::own({});
  const std::vector<std::byte> bytes(100);
  const onnxar::ByteSpan borrowed = onnxar::ByteSpan::borrow(bytes);
  const onnxar::ByteSpan of_view = onnxar::ByteSpan::borrow(onnxar::Bytes(bytes));  // a temporary that owns nothing
  const onnxar::Archive in_memory = onnxar::Archive::open(borrowed.bytes(), nullptr);
  onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create("b.onnxar");
  writer.add("a", {bytes.data(), bytes.size()});  // memory
  writer.add("b", bytes);
  writer.add("c", std::vector<std::byte>(100));  // read before the semicolon
  writer.add("d", onnxar::FileRange("file", 10));
  writer.add("e", onnxar::SpanSource(of_view.bytes()));
  return sum + moved.model().size() + moved.bytes(entry).size() + moved.resolve("w").size() + moved.file().size() +
         span.bytes().size() + (found ? 1 : 0) + onnxar::resolve(moved, onnxar::TensorMessage()).value().size();
}
