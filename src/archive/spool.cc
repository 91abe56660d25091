// Writes inflated entries to a nameless file, which is mapped once.
#include "archive/spool.h"

#include "base/byte_range.h"
#include "base/checked.h"
#include "zip/format.h"

namespace onnxar {

void Spool::make_file() {
  base::OutputFile file = base::OutputFile::create_nameless(folder_);
  // A sparse file of the whole capacity can be mapped once. Growing it would need new mappings and move the bytes.
  file.set_size(capacity_);
  mapping_.emplace(file.map());
  file_.emplace(std::move(file));
}

Bytes Spool::place_of(std::uint64_t header_offset, std::uint64_t size) {
  const std::scoped_lock lock(mutex_);
  if (!file_) make_file();
  const auto [place, added] = places_.try_emplace(header_offset, Place{end_, size, false});
  if (added) end_ = base::align_up(end_ + size, zip::alignment_minimum);
  return base::section(mapping_->bytes(), place->second.offset, size);
}

Bytes Spool::bytes(std::uint64_t header_offset, const Fill& fill) {
  const std::scoped_lock lock(mutex_);
  Place& place = places_.at(header_offset);
  if (!place.filled) {
    std::uint64_t offset = place.offset;
    // Written by system calls: if the disk is full, they fail, while a store to the mapping raises SIGBUS.
    fill([&](Bytes piece) {
      file_->write_at(offset, piece);
      offset += piece.size();
    });
  }
  place.filled = true;  // not reached if `fill` threw, so the next call fills again
  return base::section(mapping_->bytes(), place.offset, place.size);
}

}  // namespace onnxar
