#include "zip/writer.h"

#include "base/crc32.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/names.h"

namespace onnxar::zip {
namespace {

// Offsets stay below 2^63, which file systems and `place` rely on.
constexpr std::uint64_t largest_entry = 1ULL << 60U;

}  // namespace

void Writer::check_name(std::string_view name) {
  const Place place{std::string(name), std::nullopt};
  if (const auto fault = name_fault(name)) throw Error(fault->code, std::string(fault->message), place);
  const std::string key = folded_copy(name);
  if (!names_.insert(key).second) {
    throw Error(Code::zip_name_duplicate, "another entry has this name, upper and lower case aside", place);
  }
  if (folders_.contains(key)) throw Error(Code::zip_name_prefix, "this name is the folder of another entry", place);
  for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
    const std::string folder = key.substr(0, slash);
    if (names_.contains(folder))
      throw Error(Code::zip_name_prefix, "another entry has the name of this one's folder", place);
    folders_.insert(folder);
  }
}

std::uint32_t Writer::add(std::string_view name, std::uint64_t alignment, const ByteSource& source) {
  check_name(name);
  if (source.size() > largest_entry) throw Error(Code::usage_argument, "an entry of this size fits no file");
  const std::uint64_t offset = output_.position();
  PlacedEntry entry{std::string(name), place(offset, name.size(), source.size(), alignment), 0};
  output_.append(local_header_bytes(entry));  // holds the place; the CRC comes when the data has passed
  entry.crc32 = copy(source, entry);
  output_.overwrite(offset, local_header_bytes(entry));
  entries_.push_back(std::move(entry));
  return entries_.back().crc32;
}

std::uint32_t Writer::copy(const ByteSource& source, const PlacedEntry& entry) {
  std::uint32_t crc = 0;
  const auto refuse = [&entry](std::string_view what) {
    throw Error(Code::io_source_size,
                base::concat("the data is ", what, " than the ", entry.placement.size, " bytes that were announced"),
                {entry.name, std::nullopt});
  };
  source.read([&](Bytes bytes) {
    if (bytes.size() > entry.placement.end() - output_.position()) refuse("longer");
    crc = base::crc32_while(crc, bytes, [&] { output_.append(bytes); });
  });
  if (output_.position() != entry.placement.end()) refuse("shorter");
  return crc;
}

base::OutputFile Writer::finish() && {
  output_.append(directory_bytes(entries_, output_.position()));
  return std::move(output_).finish();
}

}  // namespace onnxar::zip
