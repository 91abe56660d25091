// The directory of a file that is read by ranges: which ranges are needed, and that no other byte is read.
#include <gtest/gtest.h>

#include "base/byte_range.h"
#include "zip/directory.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

struct Reading {
  zip::Directory directory;
  std::vector<std::vector<base::ByteRange>> steps;  // the ranges of each
};

/// A file in which every byte that was not asked for is inverted: reading one changes the outcome.
class RangedFile {
 public:
  explicit RangedFile(const Blob& bytes) : bytes_(bytes), known_(bytes) {
    for (std::byte& byte : known_) byte = ~byte;
  }
  [[nodiscard]] Bytes known() const { return known_; }
  void need(std::span<const base::ByteRange> ranges) {
    steps.emplace_back(ranges.begin(), ranges.end());
    for (const base::ByteRange& range : ranges) {
      const Bytes wanted = Bytes(bytes_).subspan(range.offset, range.length);
      std::ranges::copy(wanted, known_.begin() + static_cast<std::ptrdiff_t>(range.offset));
    }
  }

  std::vector<std::vector<base::ByteRange>> steps;

 private:
  const Blob& bytes_;
  Blob known_;
};

Reading read_by_ranges(const Blob& bytes, const zip::Limits& limits = {}) {
  RangedFile file(bytes);
  const auto need = [&file](std::span<const base::ByteRange> ranges) { file.need(ranges); };
  zip::Directory directory = zip::Directory::read(file.known(), limits, need);
  return {std::move(directory), std::move(file.steps)};
}

std::optional<std::string> error_by_ranges(const Blob& bytes, const zip::Limits& limits = {}) {
  const auto error = error_if_any([&] { return read_by_ranges(bytes, limits).steps.size(); });
  return error ? std::optional<std::string>(error->what()) : std::nullopt;
}

std::optional<std::string> error_at_once(const Blob& bytes, const zip::Limits& limits = {}) {
  const auto error = error_if_any([&] { return zip::Directory::read(bytes, limits).entries().size(); });
  return error ? std::optional<std::string>(error->what()) : std::nullopt;
}

void expect_same(const zip::Directory& a, const zip::Directory& b) {
  ASSERT_EQ(a.entries().size(), b.entries().size());
  EXPECT_TRUE(std::ranges::equal(a.headers(), b.headers()));
  EXPECT_EQ(a.unneeded_zip64(), b.unneeded_zip64());
  for (std::size_t i = 0; i < a.entries().size(); ++i) {
    EXPECT_EQ(a.entries()[i].name, b.entries()[i].name);
    EXPECT_EQ(a.limit_of(i), b.limit_of(i));
    EXPECT_EQ(a.proved_data_offset(i), b.proved_data_offset(i));
  }
}

// Here the directory implies the place of every entry's data.
TEST(DirectoryByRanges, NeedsOnlyTheEndAndTheDirectory) {
  const Built built = smallest_archive();
  const Reading reading = read_by_ranges(built.bytes);
  const std::uint64_t end = 56 + 20 + 22;  // zip64 end record, locator, end record
  const std::vector<std::vector<base::ByteRange>> steps = {{{built.bytes.size() - end, end}},
                                                           {{built.directory_offset, built.directory_size}}};
  EXPECT_EQ(reading.steps, steps);
  expect_same(reading.directory, zip::Directory::read(built.bytes, {}));
}

TEST(DirectoryByRanges, NeedsAllPlacesOfAMissingEndRecord) {
  const Blob none(100'000, std::byte{1});
  RangedFile file(none);
  const auto need = [&file](std::span<const base::ByteRange> ranges) { file.need(ranges); };
  EXPECT_EQ(code_of([&] { return zip::Directory::read(file.known(), {}, need).entries().size(); }),
            Code::zip_end_missing);
  const std::uint64_t end = 56 + 20 + 22, farthest = 22 + 65535;
  const std::vector<std::vector<base::ByteRange>> steps = {{{none.size() - end, end}},
                                                           {{0, 30}, {none.size() - farthest, farthest}}};
  EXPECT_EQ(file.steps, steps);
}

TEST(DirectoryByRanges, NeedsExactlyTheHeaderAndTheTailOfTheEntry) {
  constexpr std::size_t usual = 30 + 1 + 20 + 6 + 64;  // header, name, sizes, and padding to 64
  for (const std::size_t longer : {std::size_t{0}, std::size_t{64}, std::size_t{70'000}}) {
    SCOPED_TRACE(longer);
    Built built = changed_entry([](ZipEntry& w) { w.data = pattern(100'000); });
    const zip::Directory directory = zip::Directory::read(built.bytes, {});
    const std::size_t header = longer == 0 ? usual : 64 + longer;
    const auto extra = static_cast<std::uint16_t>(std::min<std::size_t>(header - 31, 65535));
    put_u16(built.bytes, 28, extra);  // the length of the extra fields of `w`
    RangedFile file(built.bytes);
    const std::size_t first = 0;
    directory.need_headers(file.known(), [&file](std::span<const base::ByteRange> ranges) { file.need(ranges); },
                           {&first, 1});
    const std::uint64_t next = built.entry(model_entry).header_offset, tail = 56 + 20 + 22;
    std::vector<std::vector<base::ByteRange>> steps = {{{0, usual}, {next - tail, tail}}};
    const base::ByteRange whole{0, std::min<std::uint64_t>(31U + extra, 65535)};
    if (longer != 0) steps.push_back({whole});
    EXPECT_EQ(file.steps, steps);
  }
}

TEST(DirectoryByRanges, NeedsLocalHeadersIfPlacesAreUnknown) {
  const Built built = append_edit(append_edit(smallest_archive(), smallest_model(256, "second")),
                                  smallest_model(256, "third"), {zip_entry("added", pattern(100))});
  const Reading reading = read_by_ranges(built.bytes);
  ASSERT_EQ(reading.steps.size(), 3U);
  EXPECT_EQ(reading.steps[2].at(0).length, 30U + 1 + 20 + 6 + 64) << "header, name, sizes, and padding to 64";
  expect_same(reading.directory, zip::Directory::read(built.bytes, {}));
  EXPECT_LT(reading.directory.first_appended(built.bytes), reading.directory.entries().size());
}

TEST(DirectoryByRanges, NeedsLongLocalHeadersInAStepOfTheirOwn) {
  for (const std::size_t padding : {64U, 1024U, 60032U}) {
    SCOPED_TRACE(padding);
    ZipBuilder builder = smallest_builder();
    builder.entry("w").local.more_padding = padding;
    const Built built = builder.build_placed();
    const Reading reading = read_by_ranges(built.bytes);
    expect_same(reading.directory, zip::Directory::read(built.bytes, {}));
    EXPECT_EQ(reading.steps.size(), 4U);
  }
}

TEST(DirectoryByRanges, NeedsAllThatProvingALocalHeaderTakes) {
  const Built built = smallest_archive();
  for (std::size_t at = 0; at < built.entry("w").data_offset; ++at) {
    Blob damaged = built.bytes;
    flip_bit(damaged, at, static_cast<unsigned>(at % 8));
    const zip::Directory directory = zip::Directory::read(damaged, {});
    const auto refusal = [&](Bytes bytes) {
      const auto error = error_if_any([&] { return directory.prove_local(bytes, 0).data_offset; });
      return error ? std::string(error->what()) : std::string();
    };
    RangedFile file(damaged);
    const std::size_t first = 0;
    directory.need_headers(file.known(), [&file](std::span<const base::ByteRange> ranges) { file.need(ranges); },
                           {&first, 1});
    EXPECT_EQ(refusal(file.known()), refusal(damaged)) << "at " << at;
    EXPECT_LE(file.steps.size(), 2U);
  }
}

TEST(DirectoryByRanges, ReadsZip64Records) {
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  const Built built = builder.build_placed();
  const Reading reading = read_by_ranges(built.bytes);
  expect_same(reading.directory, zip::Directory::read(built.bytes, {}));
  EXPECT_TRUE(reading.directory.unneeded_zip64());
}

TEST(DirectoryByRanges, RefusesEachPrefixLikeInMemory) {
  const Built built = append_edit(smallest_archive(), smallest_model(256, "second"));
  for (std::size_t length = 0; length < built.bytes.size(); length += length < 100 ? 1 : 13) {
    SCOPED_TRACE(length);
    const Blob cut = part(built.bytes, 0, length);
    EXPECT_EQ(error_by_ranges(cut), error_at_once(cut));
  }
}

TEST(DirectoryByRanges, RefusesEachFlippedBitLikeInMemory) {
  const Built built = append_edit(smallest_archive(), smallest_model(256, "second"));
  for (std::size_t at = 0; at < built.bytes.size(); ++at) {
    Blob damaged = built.bytes;
    flip_bit(damaged, at, static_cast<unsigned>(at % 8));
    EXPECT_EQ(error_by_ranges(damaged), error_at_once(damaged)) << "at " << at;
  }
}

TEST(DirectoryByRanges, FindsTheEndRecordBeforeBytesThatWereAppended) {
  for (const std::size_t length : {1U, 100U, 65535U, 70000U}) {
    SCOPED_TRACE(length);
    Blob appended = smallest_archive().bytes;
    appended.resize(appended.size() + length, std::byte{0x20});
    ASSERT_TRUE(error_at_once(appended));
    EXPECT_EQ(error_by_ranges(appended), error_at_once(appended));
  }
}

TEST(DirectoryByRanges, NeedsNoRangeForANumberBeyondTheLimits) {
  const Built built = smallest_archive();
  const zip::Limits limits{.directory_size = built.directory_size - 1};
  std::size_t steps = 0;
  const auto need = [&steps](std::span<const base::ByteRange> /*ranges*/) { ++steps; };
  EXPECT_EQ(code_of([&] { return zip::Directory::read(built.bytes, limits, need); }), Code::zip_limit_directory);
  EXPECT_EQ(steps, 1U);
}

}  // namespace
}  // namespace onnxar::testing
