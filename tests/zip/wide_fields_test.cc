// Sizes and offsets that a directory header says through its zip64 field.
#include "zip/wide_fields.h"

#include <gtest/gtest.h>

#include "zip/directory.h"
#include "zip/reading.h"
#include "zip/records.h"
#include "zip/shared_checks.h"

namespace onnxar::testing {
namespace {

constexpr std::uint64_t far = 5'000'000'000;

/// The header of `w`, as one header shows it on its own: the numbers may be larger than the file.
template <typename Change>
zip::DirectoryEntry entry_of(const Change& change) {
  // The header's name is a view of the bytes, which are destroyed here. It is not used.
  const Built built = changed_entry(change);
  const PlacedEntry& w = built.entry("w");
  zip::DirectoryEntry entry;
  zip::read_central_header(Bytes(built.bytes).subspan(w.central_offset), w.central_offset, entry);
  entry.name = "w";
  return entry;
}

template <typename Change>
std::optional<Code> code_of_header(const Change& change) {
  return code_of([&] { return entry_of([&](ZipEntry& w) { change(w.central); }).size; });
}

void mean_size(ZipEntry& w, std::uint64_t size) {
  w.in_both([size](HeaderFields& header) { header.csize = header.usize = size; });
}

// Most entries of an archive of more than 4 GiB are like the offset alone, one large entry is like the size alone.
TEST(WideFields, ReadsNumbersThatNeedTheField) {
  struct Case {
    std::uint64_t size, offset;
  };
  for (const auto& [size, offset] : {Case{far, far + 1}, Case{sentinel, sentinel}, Case{sentinel - 1, sentinel - 1},
                                     Case{1024, far}, Case{far, 0}}) {
    const zip::DirectoryEntry entry = entry_of([=](ZipEntry& w) {
      mean_size(w, size);
      w.central.header_offset = offset;
    });
    EXPECT_EQ(entry.size, size);
    EXPECT_EQ(entry.header_offset, offset);
    EXPECT_FALSE(entry.unneeded_zip64) << size << ' ' << offset;
  }
}

TEST(WideFields, FieldIsNeededWhereOnlyItsFirstNumbersDoNotFit) {
  for (const std::uint64_t size : {sentinel - 1, far}) {
    const zip::DirectoryEntry entry = entry_of([=](ZipEntry& w) {
      mean_size(w, size);
      w.force_zip64_sizes = true;
      w.central.zip64_extra = zip64_record({size, size, 0});
    });
    EXPECT_EQ(entry.size, size);
    EXPECT_EQ(entry.unneeded_zip64, size < sentinel);
  }
}

// As Go wrote it until 1.26: all three numbers where any was needed, and the disk.
TEST(WideFields, CompleteFieldIsReadWhereItAgrees) {
  const auto complete = [](const Blob& field) {
    return entry_of([&field](ZipEntry& w) {
      w.force_zip64_sizes = true;
      w.central.header_offset = far;
      w.central.zip64_extra = field;
    });
  };
  EXPECT_EQ(complete(zip64_record({1024, 1024, far})).header_offset, far);
  EXPECT_FALSE(complete(zip64_record({1024, 1024, far})).unneeded_zip64);  // the offset calls for it
  Blob with_disk = zip64_record({1024, 1024, far});
  put_u16(with_disk, 2, 28);
  with_disk.resize(32);
  EXPECT_EQ(complete(with_disk).header_offset, far);
  EXPECT_EQ(complete(with_disk).size, 1024U);
  put_u16(with_disk, 28, 1);
  EXPECT_EQ(code_of([&] { return complete(with_disk).size; }), Code::zip_entry_disk);
}

// Readers that take the first value for the first sentinel would find another offset: Python's zipfile and unzip read a
// superseded model where the field of all three stood beside the offset's sentinel alone.
TEST(WideFields, RefusesCompleteFieldReadOutOfStep) {
  const auto code_beside = [](bool usize, bool csize, bool offset) {
    return code_of_header([=](CentralFields& c) {
      if (usize) c.usize32 = sentinel;
      if (csize) c.csize32 = sentinel;
      if (offset) c.header_offset32 = sentinel;
      c.zip64_extra = zip64_record({1024, 1024, 0});
    });
  };
  EXPECT_EQ(code_beside(false, false, true), Code::zip_zip64_extra);
  EXPECT_EQ(code_beside(false, true, false), Code::zip_zip64_extra);
  EXPECT_EQ(code_beside(false, true, true), Code::zip_zip64_extra);
  EXPECT_EQ(code_beside(true, false, true), Code::zip_zip64_extra);
  EXPECT_EQ(code_beside(true, false, false), std::nullopt);
  EXPECT_EQ(code_beside(true, true, false), std::nullopt);
  EXPECT_EQ(code_beside(true, true, true), std::nullopt);
}

TEST(WideFields, KeepsTheNumbersThatFitIntoTheHeader) {
  zip::CentralFileHeader header;
  header.uncompressed_size = 10;
  header.compressed_size = 5;
  header.relative_offset_of_local_header = 0xffffffff;
  Blob field(8);
  put_u64(field, 0, far);
  const zip::WideFields wide = zip::read_wide_fields(header, Bytes(field), zip::Rules::foreign, {"w", 0});
  EXPECT_EQ(wide.size, 10U);
  EXPECT_EQ(wide.compressed_size, 5U);
  EXPECT_EQ(wide.header_offset, far);
}

TEST(WideFields, FieldOfAnotherSizeIsRefused) {
  for (std::size_t size = 0; size <= 44; ++size) {
    const bool fits = size == 16 || size == 24 || size == 28;
    if (fits) continue;
    EXPECT_EQ(code_of_header([size](CentralFields& c) {
                c.csize32 = c.usize32 = sentinel;
                c.zip64_extra = extra_record(1, Blob(size));
              }),
              Code::zip_zip64_extra)
        << size;
  }
}

TEST(WideFields, RefusesContradictionIn64BitsOnly) {
  constexpr std::uint64_t larger = 1024 + (1ULL << 32U);
  EXPECT_EQ(code_of_header([](CentralFields& c) { c.zip64_extra = zip64_record({larger, larger, 0}); }),
            Code::zip_zip64_extra);
}

}  // namespace
}  // namespace onnxar::testing
