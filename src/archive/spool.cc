#include "archive/spool.h"

#include "base/checked.h"
#include "base/crc32.h"
#include "onnxar/byte_source.h"
#include "zip/format.h"

namespace onnxar {

Spool::Spool(const std::filesystem::path& folder, Bytes zip, std::uint64_t capacity)
    : zip_(zip), file_(base::OutputFile::create_nameless(folder)) {
  file_.set_size(capacity);
  mapping_.emplace(file_.map());
}

Bytes Spool::place_of(const zip::LenientEntry& entry) {
  const std::scoped_lock lock(mutex_);
  const auto [place, added] = places_.try_emplace(entry.header_offset, Place{end_, false});
  if (added) end_ = base::align_up(end_ + entry.size, zip::alignment_minimum);
  return mapping_->bytes().subspan(place->second.offset, entry.size);
}

Bytes Spool::bytes(const zip::LenientEntry& entry) {
  const std::scoped_lock lock(mutex_);
  Place& place = places_.at(entry.header_offset);
  if (!place.filled) fill(entry, place.offset);
  place.filled = true;
  return mapping_->bytes().subspan(place.offset, entry.size);
}

void Spool::fill(const zip::LenientEntry& entry, std::uint64_t offset) {
  std::uint32_t crc = 0;
  zip::data_source(zip_, entry)->read([&](Bytes piece) {
    crc = base::crc32(crc, piece);
    file_.write_at(offset, piece);
    offset += piece.size();
  });
  zip::expect_crc(zip_, entry, crc);
}

}  // namespace onnxar
