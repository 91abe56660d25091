// Archives in memory: opened, and edited as another writer would.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "support/zip_builder.h"
#include "support/zip_directory.h"

namespace onnxar::testing {

/// Keeps its bytes alive.
inline Archive opened(Blob bytes) {
  auto storage = std::make_shared<const Blob>(std::move(bytes));
  note_zip("opened", *storage);
  const Bytes view = *storage;
  return Archive::open(view, std::move(storage));
}

/// An archive of these entries and a model.
inline Built built_with(std::vector<ZipEntry> entries) {
  ZipBuilder builder;
  builder.entries = std::move(entries);
  builder.entries.push_back(zip_entry(model_entry, smallest_model()));
  return builder.build_placed();
}

/// With another model, told apart by its producer.
inline Built edited(const Built& built, std::string_view producer, std::vector<ZipEntry> extra = {}) {
  return append_edit(built, smallest_model(256, producer), std::move(extra));
}

/// A file of unrelated bytes that contains an archive at this offset.
inline Blob around(const Blob& archive, std::size_t offset) {
  Blob bytes = pattern(offset, 3);
  insert(bytes, offset, archive);
  insert(bytes, bytes.size(), pattern(1000, 4));
  return bytes;
}

inline std::vector<std::string> names_in(const Archive& archive) {
  std::vector<std::string> names;
  for (const ArchiveEntry& entry : archive.entries()) names.emplace_back(entry.name);
  return names;
}

/// All bytes of a source, which may come in pieces.
inline Blob all_of(const ByteSource& source) {
  Blob all;
  source.read([&all](Bytes piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  return all;
}

}  // namespace onnxar::testing
