// Reads any bytes as a foreign zip file. They are refused, or the entries lie in the file and do not overlap. `repack`
// makes an archive of it, and repacking that changes nothing. Both readers agree on archives.
#include <algorithm>
#include <string>
#include <vector>

#include "archive/access.h"
#include "archive/container_check.h"
#include "base/crc32.h"
#include "fuzz/fuzz.h"
#include "fuzz/scratch.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "zip/foreign_directory.h"

namespace onnxar::fuzz::repack_target {
namespace {

void check_places(const zip::ForeignDirectory& directory, std::uint64_t file_size) {
  require(directory.offset() <= file_size, "the directory lies in the file");
  std::uint64_t end = 0;
  for (const zip::ForeignEntry& entry : directory.entries()) {
    require(entry.header_offset >= end, "entries ascend and do not overlap");
    require(entry.data_offset >= entry.header_offset + 30 + entry.name.size(), "data lies behind its header");
    require(entry.stored_size <= directory.offset() && entry.data_offset <= directory.offset() - entry.stored_size,
            "data ends before the directory");
    end = entry.data_offset + entry.stored_size;
    require(entry.end >= end && entry.end <= directory.offset(), "so does its descriptor");
    require(entry.size <= entry.stored_size * 1032, "what is inflated is bounded by the file");
    require(entry.deflated || entry.size == entry.stored_size, "what is stored has one size");
    require(entry.folder == (entry.name.back() == '/'), "folders are known by their names");
    end = entry.end;
  }
}

/// The bytes of an entry; nothing if they are damaged.
std::optional<std::vector<std::byte>> bytes_of(Bytes file, const zip::ForeignEntry& entry) {
  return accepted([&] {
    std::vector<std::byte> data;
    zip::data_source(file, entry)->read([&](Bytes piece) {
      require(data.size() + piece.size() <= entry.size, "never more than was announced");
      data.insert(data.end(), piece.begin(), piece.end());
    });
    zip::expect_crc(entry, base::crc32(0, data));
    return data;
  });
}

/// Whether all entries can be read. Then the foreign reader must see the same.
bool is_sound_archive(Bytes input) {
  const auto archive = accepted([&] { return Archive::open(input, nullptr); });
  if (!archive || !passed(check_container(*archive))) return false;
  for (std::size_t i = 0; i < archive->size(); ++i) {
    if (!accepted([&] { return archive->verify(archive->entry(i)), true; })) return false;
  }
  const auto directory = must("an archive is a zip", [&] { return zip::ForeignDirectory::read(input, {}); });
  require(directory.entries().size() == archive->size(), "with as many entries");
  for (std::size_t i = 0; i < archive->size(); ++i) {
    const zip::ForeignEntry& entry = directory.entries()[i];
    const Bytes bytes = archive->bytes(archive->entry(i));
    require(entry.name == archive->entry(i).name, "of the same names");
    const std::uint64_t alignment =
        std::max<std::uint64_t>(entry.alignment, 64);  // without a record the alignment is 64
    require(alignment == archive->locate(archive->entry(i)).alignment, "the same alignment");
    require(bytes.data() == input.data() + entry.data_offset && bytes.size() == entry.size, "the same bytes");
  }
  return true;
}

void check_output(std::uint64_t announced) {
  const std::vector<std::byte> once = get("out");
  require(once.size() == announced, "the size is known before anything is written");
  const Archive archive = must("what repack writes is an archive", [&] { return Archive::open(once, nullptr); });
  require(check_container(archive).empty(), "of which there is nothing to say");
  for (std::size_t i = 0; i < archive.size(); ++i) archive.verify(archive.entry(i));
}

RepackReport repack_to_out(const char* source) {
  return repack(scratch() / source, scratch() / "out", {.output = {.overwrite = true, .sync = false}});
}

void check_again() {
  const std::vector<std::byte> once = get("out");
  const RepackReport again = must("an archive can be repacked", [] { return repack_to_out("out"); });
  require(again.remarks.empty(), "as an archive");
  require(get("out") == once, "and stays the same");
}

bool all_read(Bytes input, const zip::ForeignDirectory& directory) {
  bool all = true;
  for (const zip::ForeignEntry& entry : directory.entries()) {
    all = (entry.folder || bytes_of(input, entry).has_value()) && all;
  }
  return all;
}

}  // namespace

void run(Bytes input) {
  const auto directory = accepted([&] { return zip::ForeignDirectory::read(input, {}); });
  if (directory) check_places(*directory, input.size());
  if (is_turn(input, 0, 3)) {
    const bool read = directory && all_read(input, *directory);
    require(!is_sound_archive(input) || read, "an archive is read in full");
  }
  if (!is_turn(input, 1, 3) && !is_turn(input, 2, 3)) return;
  put("in", input);
  const auto report = accepted([] { return repack_to_out("in"); });
  require(report.has_value() || !is_sound_archive(input), "an archive can be repacked");
  require(!report || directory.has_value(), "what is repacked was read");
  if (!report) return;
  if (is_turn(input, 1, 3)) check_output(report->file_bytes);
  if (is_turn(input, 2, 3)) check_again();
}

}  // namespace onnxar::fuzz::repack_target
