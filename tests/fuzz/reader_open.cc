// Opens any bytes with the reader of reader/, in memory and by callbacks, and uses every entry. The library gives the
// same verdict, with the same code, entry and offset, and the same bytes.
#include <algorithm>

#include "fuzz/c_reader.h"
#include "onnxar/archive.h"

namespace onnxar::fuzz::reader_open_target {
namespace {

template <typename Work>
std::optional<Refusal> refusal_by_library(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return refusal_of(error.finding());
  }
  return std::nullopt;
}

std::optional<Refusal> use(const CReader& archive, std::size_t index, onnxar_reader_range& range) {
  onnxar_reader_error error;
  return refusal_of(onnxar_reader_get_data(archive.get(), index, &range, &error), error);
}

void compare_entry(const CReader& archive, const CReader& by_callbacks, const Archive& library, std::size_t index) {
  const ArchiveEntry expected = library.entry(index);
  onnxar_reader_entry entry = {};
  onnxar_reader_range range = {}, read = {};
  require(onnxar_reader_get_entry(archive.get(), index, &entry, nullptr) == 0, "an index below the count");
  require(std::string_view(entry.name, entry.name_length) == expected.name, "both readers see the same name");
  require(entry.size == expected.size && entry.crc32 == expected.crc32, "both readers see the same size and CRC-32");
  require(onnxar_reader_find(archive.get(), entry.name, entry.name_length) == index, "an entry is found by its name");
  Bytes bytes;
  const auto of_library = refusal_by_library([&] { bytes = library.bytes(expected); });
  require(use(archive, index, range) == of_library, "both readers give the same verdict of a local header");
  require(use(by_callbacks, index, read) == of_library, "reading and mapping give the same verdict");
  if (of_library) return;
  require(range.data == bytes.data() && range.size == bytes.size(), "both readers give the same bytes");
  require(read.data == nullptr && read.offset == range.offset && read.size == range.size,
          "reading finds the same place");
}

}  // namespace

void run(Bytes input) {
  std::optional<Refusal> refusal, of_reading;
  const CReader archive = open_in_memory(input, refusal);
  const CReader by_callbacks = open_by_callbacks(input, of_reading);
  require(refusal == of_reading, "reading and mapping give the same verdict");
  std::optional<Archive> library;
  const auto of_library = refusal_by_library([&] { library = Archive::open(input, nullptr); });
  require(refusal == of_library, "both readers give the same verdict");
  if (!archive) return;
  require(onnxar_reader_count(archive.get()) == library->size(), "both readers see as many entries");
  for (std::size_t i = 0; i < library->size(); ++i) compare_entry(archive, by_callbacks, *library, i);
}

}  // namespace onnxar::fuzz::reader_open_target
