// Uses every entry of any archive that opens. Its local header is refused, or its bytes lie within the entry, aligned
// as recorded, and are equal for all ways of reading. The container check agrees with the results for the entries.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "archive/access.h"
#include "archive/container_check.h"
#include "fuzz/fuzz.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"

namespace onnxar::fuzz::local_header_target {
namespace {

struct Used {
  std::size_t entries = 0;   ///< entries with a valid local header
  std::ptrdiff_t tails = 0;  ///< tails of earlier states after entries
  std::uint64_t end = 0;
};

/// The bound of the entry: the next local header, or the directory.
std::uint64_t limit_of(const Archive& archive, const ArchiveEntry& entry) {
  return ArchiveAccess::directory(archive).limit_of(entry.index);
}

void check_place(const Archive& archive, const ArchiveEntry& entry, const EntryLocation& place, std::uint64_t before) {
  const std::uint64_t next = limit_of(archive, entry);
  require(next <= archive.file().size(), "entries end in the file");
  require(place.offset >= entry.header_offset + 30 + entry.name.size(), "the data begins behind its header");
  require(place.offset >= before, "no two entries overlap");
  require(place.offset <= next && entry.size <= next - place.offset, "the data ends before the next header");
  require(std::has_single_bit(place.alignment) && place.alignment >= 64 && place.alignment <= 32768, "L11: alignment");
  require(place.offset % place.alignment == 0, "L12: the data is aligned as recorded");
}

void check_bytes(const Archive& archive, const ArchiveEntry& entry, const EntryLocation& place) {
  for (int times = 0; times < 2; ++times) {  // the second time from the cached result
    const Bytes bytes = must("what can be located can be read", [&] { return archive.bytes(entry); });
    require(bytes.data() == archive.file().data() + place.offset && bytes.size() == entry.size,
            "the bytes are those that were located");
  }
  try {
    archive.verify(entry);
    require(entry.size != 0 || entry.crc32 == 0, "D15: the CRC-32 of nothing is 0");
  } catch (const Error& error) {
    require(error.code() == Code::zip_data_crc, "only the CRC-32 can be wrong now");
  }
}

Used use_all(const Archive& archive) {
  Used used;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    const auto place = accepted([&] { return archive.locate(entry); });
    if (!place) {
      require(!accepted([&] { return archive.bytes(entry); }), "what cannot be located cannot be read");
      continue;
    }
    check_place(archive, entry, *place, used.end);
    check_bytes(archive, entry, *place);
    ++used.entries;
    used.end = place->offset + entry.size;
    used.tails += used.end != limit_of(archive, entry) ? 1 : 0;
  }
  return used;
}

}  // namespace

void run(Bytes input) {
  const auto archive = accepted([&] { return Archive::open(input, nullptr); });
  if (!archive) return;
  const Used used = use_all(*archive);
  const bool all_used = used.entries == archive->size();
  const std::vector<Finding> findings = check_container(*archive);
  require(all_used || !passed(findings), "an archive that passes has no entry that cannot be used");
  const auto is_tail = [](const Finding& finding) { return finding.code == Code::archive_tail_superseded; };
  require(std::ranges::count_if(findings, is_tail) == used.tails, "every tail is noted");
}

}  // namespace onnxar::fuzz::local_header_target
