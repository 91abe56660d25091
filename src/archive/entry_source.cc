#include "archive/entry_source.h"

#include "base/crc32.h"
#include "zip/crc_fault.h"

namespace onnxar {

EntrySource::EntrySource(const Archive& archive, const ArchiveEntry& entry, std::size_t threads)
    : archive_(archive), entry_(entry), bytes_(archive.bytes(entry)), threads_(threads) {}

void EntrySource::read(const ByteSink& sink) const {
  expect(base::crc32_while(0, bytes_, [&] { sink(bytes_); }, threads_));
}

void EntrySource::verify() const { expect(base::crc32(0, bytes_)); }

void EntrySource::expect(std::uint32_t crc) const {
  if (crc == entry_.crc32) return;
  const Place place{std::string(entry_.name), archive_.locate(entry_).offset};
  throw zip::crc_fault(place, "the archive", entry_.crc32, crc, bytes_).with_path(archive_.path());
}

}  // namespace onnxar
