#include "archive/entry_source.h"

#include "base/crc32.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar {

EntrySource::EntrySource(const Archive& archive, const ArchiveEntry& entry, std::size_t threads)
    : archive_(archive), entry_(entry), bytes_(archive.bytes(entry)), threads_(threads) {}

void EntrySource::read(const ByteSink& sink) const {
  expect(base::crc32_while(0, bytes_, [&] { sink(bytes_); }, threads_));
}

void EntrySource::verify() const { expect(base::crc32(0, bytes_)); }

void EntrySource::expect(std::uint32_t crc) const {
  if (crc == entry_.crc32) return;
  throw Error(Code::zip_data_crc,
              base::concat("the data has CRC-32 ", base::hex(crc), ", the archive says ", base::hex(entry_.crc32),
                           ": it was damaged; fetch the file again"),
              {std::string(entry_.name), archive_.locate(entry_).offset}, archive_.path());
}

}  // namespace onnxar
