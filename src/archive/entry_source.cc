#include "archive/entry_source.h"

#include <algorithm>

#include "base/crc32.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

constexpr std::size_t piece_size = 1U << 20U;  // stays in the cache for whoever reads it next

}  // namespace

EntrySource::EntrySource(const Archive& archive, const ArchiveEntry& entry)
    : archive_(archive), entry_(entry), bytes_(archive.bytes(entry)) {}

void EntrySource::read(const ByteSink& sink) const {
  std::uint32_t crc = 0;
  for (Bytes rest = bytes_; !rest.empty();) {
    const Bytes piece = rest.first(std::min(rest.size(), piece_size));
    crc = base::crc32(crc, piece);
    sink(piece);
    rest = rest.subspan(piece.size());
  }
  if (crc == entry_.crc32) return;
  throw Error(Code::zip_data_crc,
              base::concat("the data has CRC-32 ", base::hex(crc), ", the archive says ", base::hex(entry_.crc32),
                           ": it was damaged; fetch the file again"),
              {std::string(entry_.name), archive_.locate(entry_).offset}, archive_.path());
}

}  // namespace onnxar
