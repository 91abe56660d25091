// Writes the entries of an archive one after another, and then its directory.
#include "zip/writer.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/kept.h"
#include "base/sources.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/format.h"

namespace onnxar::zip {

Writer::Writer(base::BufferedOutput output, base::Kept<const Directory> before, const KeptDirectory& kept,
               std::size_t threads, const Limits& limits)
    : output_(std::move(output)),
      threads_(base::BufferedOutput::summing_threads(threads)),
      limits_(limits),
      kept_(kept) {
  const auto entries = before.get().entries();
  kept_entries_ = entries.first(base::in_memory(kept_.entries));
  names_ = WrittenNames(entries.size());
  const auto name_of = [this](std::uint32_t i) { return name_at(i); };
  for (std::uint32_t i = 0; i < kept_entries_.size(); ++i) names_.add_proved(i, name_of);
}

std::string_view Writer::name_at(std::size_t index, std::string_view added) const {
  if (index < kept_entries_.size()) return kept_entries_[index].name;
  const std::size_t place = index - kept_entries_.size();
  return place < entries_.size() ? std::string_view(entries_[place].name) : added;
}

std::uint32_t Writer::add(std::string_view name, std::uint64_t alignment, const ByteSource& source) {
  // Asks for the size once: a source that answers differently later could break the alignment.
  const base::ExactSource exact(source, "the data", {std::string(name), std::nullopt});
  begin(name, alignment, exact.size());
  begun_.crc32 = output_.append_with_crc(0, exact, threads_);
  return end();
}

void Writer::begin(std::string_view name, std::uint64_t alignment, std::uint64_t size) {
  names_.add(static_cast<std::uint32_t>(kept_entries_.size() + entries_.size()),
             [this, name](std::uint32_t i) { return name_at(i, name); });
  if (size > largest_entry) {
    throw Error(Code::usage_argument, "an entry of this size does not fit in a file",
                {std::string(name), std::nullopt});
  }
  const std::uint64_t offset = output_.position();
  begun_ = {std::string(name), place(offset, name.size(), size, entry_alignment(alignment, size)), 0};
  begun_headers_ = added_headers_ + directory_headers({&begun_, 1}).size();
  // Checked before the data is copied, so that an archive that readers would refuse fails at once and not after hours
  // (E11, E12).
  expect_within(limits_, kept_.entries + entries_.size() + 1, kept_.headers.size() + begun_headers_, {"", offset});
  // The CRC-32 is known after the data was copied. The header is written twice, because D3 forbids a descriptor.
  // Reading the source twice instead would cost more, and its bytes could change in between.
  output_.append(local_header_bytes(begun_));
}

void Writer::write(Bytes bytes) {
  if (bytes.size() > begun_.placement.end() - output_.position()) refuse_size("longer");
  begun_.crc32 = output_.append_with_crc(begun_.crc32, bytes, threads_);
}

std::uint32_t Writer::end() {
  if (output_.position() != begun_.placement.end()) refuse_size("shorter");
  output_.overwrite(begun_.placement.header_offset, local_header_bytes(begun_));
  entries_.push_back(std::move(begun_));
  added_headers_ = begun_headers_;
  return entries_.back().crc32;
}

void Writer::refuse_size(std::string_view how) const {
  throw base::source_size_error("the data", how, begun_.placement.size, {begun_.name, std::nullopt});
}

base::MappedFile Writer::map_added(std::size_t index) {
  const Placement& placement = entries_[index].placement;
  return output_.map(placement.data_offset, placement.size);
}

std::vector<std::pair<std::string_view, std::uint64_t>> Writer::sorted_sizes() const {
  std::vector<std::pair<std::string_view, std::uint64_t>> sizes;
  sizes.reserve(base::in_memory(kept_.entries + entries_.size()));
  for (const DirectoryEntry& entry : kept_entries_) sizes.emplace_back(entry.name, entry.size);
  for (const PlacedEntry& entry : entries_) sizes.emplace_back(entry.name, entry.placement.size);
  std::ranges::sort(sizes);
  return sizes;
}

base::OutputFile Writer::finish(base::Sync before_end, const std::function<void()>& before_valid) && {
  std::vector<std::byte> directory = directory_headers(entries_, kept_);
  append_end_records(directory, kept_.entries + entries_.size(), directory.size(), output_.position(), kept_.zip64_end);
  const Bytes end = Bytes(directory).last(end_record_size);
  output_.append(Bytes(directory).first(directory.size() - end.size()));
  // X3: until the end record is on the disk, the old state is the last one. Without this sync, the file system could
  // write the end record first.
  if (before_end == base::Sync::full) output_.sync();
  if (before_valid) before_valid();
  output_.begin_last_write();
  output_.append(end);
  const base::ThreadPool ended(std::move(threads_));  // the owner may keep the writer
  return std::move(output_).finish();
}

}  // namespace onnxar::zip
