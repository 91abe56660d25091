// Local headers: equal to the directory's, with the one padding that the rules allow.
#include "zip/local_header.h"

#include <gtest/gtest.h>

#include "zip/reading.h"

namespace onnxar::testing {
namespace {

/// The code for the changed archive, which has to name `w` and the place of its local header.
std::optional<Code> code_at_local_header(const Built& built) {
  const auto refusal = refusal_of_archive(built.bytes);
  if (!refusal) return std::nullopt;
  EXPECT_EQ(refusal->entry, "w");
  EXPECT_EQ(refusal->offset, built.entry("w").header_offset);
  return refusal->code;
}

template <typename Change>
std::optional<Code> code_of_entry(const Change& change) {
  return code_at_local_header(changed_entry(change));
}

template <typename Change>
std::optional<Code> code_of_local(const Change& change) {
  return code_of_entry([&](ZipEntry& w) { change(w.local); });
}

zip::LocalEntry local_of_w(const Built& built) {
  return zip::Directory::read(built.bytes, {}).prove_local(built.bytes, 0);
}

TEST(LocalHeader, TellsWhereTheDataIsAndItsAlignment) {
  for (const std::size_t alignment : {64U, 128U, 4096U, 32768U}) {
    const Built built = changed_entry([alignment](ZipEntry& w) { w.alignment = alignment; });
    const zip::LocalEntry local = local_of_w(built);
    EXPECT_EQ(local.data_offset, built.entry("w").data_offset);
    EXPECT_EQ(local.alignment, alignment);
    EXPECT_FALSE(local.unneeded_zip64);
    EXPECT_EQ(refusal_of_archive(built.bytes), std::nullopt);
  }
}

TEST(LocalHeader, SignatureIsWantedWhereTheDirectoryPoints) {
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.signature = 0x04034b51U; }), Code::zip_local_header);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.signature = signature::central; }), Code::zip_local_header);
}

TEST(LocalHeader, NoPartMayRunIntoTheNextEntry) {
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.name_length = std::uint16_t{0xFFFF}; }), Code::zip_local_header);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.extra_length = std::uint16_t{0xFFFF}; }), Code::zip_local_header);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.extra_length = std::uint16_t{0x8000}; }), Code::zip_local_header);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.extra_length = std::uint16_t{1088 - 30}; }), Code::zip_local_header);
}

TEST(LocalHeader, NameIsTheDirectorys) {
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.name = "v"; }), Code::zip_local_name);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.name = "W"; }), Code::zip_local_name);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.name = "ww"; }), Code::zip_local_name);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.name = ""; }), Code::zip_local_name);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.name_length = std::uint16_t{2}; }), Code::zip_local_name);
}

TEST(LocalHeader, FieldsAreTheDirectorys) {
  const auto expect_refused = [](const auto& change) { EXPECT_EQ(code_of_local(change), Code::zip_local_field); };
  for (const unsigned bit : {0U, 1U, 3U, 6U, 11U, 13U, 15U}) {
    expect_refused([bit](LocalFields& l) { l.flags = static_cast<std::uint16_t>(1U << bit); });
  }
  expect_refused([](LocalFields& l) { l.method = std::uint16_t{8}; });
  expect_refused([](LocalFields& l) { l.version_needed = std::uint16_t{20}; });
  expect_refused([](LocalFields& l) { l.version_needed = std::uint16_t{99}; });
  expect_refused([](LocalFields& l) { l.time = std::uint16_t{1}; });
  expect_refused([](LocalFields& l) { l.date = std::uint16_t{0x22}; });
  expect_refused([](LocalFields& l) { l.crc = 0U; });
}

TEST(LocalHeader, FieldsThatDifferInTheDirectoryAloneAreSeenToo) {
  const auto expect_refused = [](const auto& change) {
    EXPECT_EQ(code_of_entry([&](ZipEntry& w) { change(w.central); }), Code::zip_local_field);
  };
  expect_refused([](CentralFields& c) { c.crc = 7U; });
  expect_refused([](CentralFields& c) { c.time = std::uint16_t{1}; });
  expect_refused([](CentralFields& c) { c.date = std::uint16_t{1}; });
  expect_refused([](CentralFields& c) { c.version_needed = std::uint16_t{45}; });
}

TEST(LocalHeader, SizesAreTheDirectorys) {
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.usize = 1020U; }), Code::zip_local_size);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.csize = 1028U; }), Code::zip_local_size);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.csize = l.usize = 0U; }), Code::zip_local_size);
}

TEST(LocalHeader, Zip64FieldHoldsBothSizes) {
  const auto code_of_numbers = [](const std::vector<std::uint64_t>& numbers) {
    return code_of_local([&numbers](LocalFields& l) {
      l.zip64_extra = zip64_record(numbers);
      l.csize32 = l.usize32 = sentinel;
    });
  };
  EXPECT_EQ(code_of_numbers({}), Code::zip_zip64_extra);
  EXPECT_EQ(code_of_numbers({1024}), Code::zip_zip64_extra);
  EXPECT_EQ(code_of_numbers({1024, 1024}), std::nullopt);
  EXPECT_EQ(code_of_numbers({1024, 1024, 0}), Code::zip_zip64_extra);
  EXPECT_EQ(code_of_numbers({1024, 1025}), Code::zip_local_size);
  EXPECT_EQ(code_of_numbers({1024 + (1ULL << 32U), 1024}), Code::zip_local_size);
}

TEST(LocalHeader, SentinelWithoutAZip64FieldIsRefused) {
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.csize32 = l.usize32 = sentinel; }), Code::zip_zip64_extra);
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.usize32 = sentinel; }), Code::zip_zip64_extra);
}

TEST(LocalHeader, SizesBesideAZip64FieldAreSentinelOrEqual) {
  const auto code_of_narrow = [](std::uint32_t csize, std::uint32_t usize) {
    return code_of_local([=](LocalFields& l) {
      l.zip64_extra = zip64_record({1024, 1024});
      l.csize32 = csize;
      l.usize32 = usize;
    });
  };
  EXPECT_EQ(code_of_narrow(1024, 1024), std::nullopt);
  EXPECT_EQ(code_of_narrow(sentinel, 1024), std::nullopt);
  EXPECT_EQ(code_of_narrow(1023, sentinel), Code::zip_local_size);
  EXPECT_EQ(code_of_narrow(sentinel, 0), Code::zip_local_size);
}

TEST(LocalHeader, Zip64FieldThatNothingCallsForIsRemarked) {
  const Built local_only = changed_entry([](ZipEntry& w) { w.local.zip64_extra = zip64_record({1024, 1024}); });
  EXPECT_TRUE(local_of_w(local_only).unneeded_zip64);
  const Built both = changed_entry([](ZipEntry& w) { w.force_zip64_sizes = true; });
  EXPECT_TRUE(local_of_w(both).unneeded_zip64);
}

TEST(LocalHeader, ExtraFieldsAreKnownSingleAndWellFormed) {
  const auto code_of_extra = [](const Blob& extra) {
    return code_of_local([&extra](LocalFields& l) { l.more_extra = extra; });
  };
  EXPECT_EQ(code_of_extra(extra_record(0x7075, Blob(5))), Code::zip_extra_unknown);
  EXPECT_EQ(code_of_extra(extra_record(0x5455, Blob(5))), Code::zip_extra_unknown);
  EXPECT_EQ(code_of_extra(zeros(4)), Code::zip_extra_unknown);  // as zipalign pads
  EXPECT_EQ(code_of_extra(extra_record(0xD935, Blob(2))), Code::zip_extra_duplicate);
  const Blob once = zip64_record({1024, 1024});
  Blob twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(code_of_extra(twice), Code::zip_extra_duplicate);
}

TEST(LocalHeader, ExtraFieldThatOverrunsIsRefused) {
  Built built = smallest_archive();
  const std::size_t at = built.entry("w").padding_offset + 2;
  for (const unsigned longer : {1U, 2U, 100U, 0xFF00U}) {
    Built changed = built;
    put_u16(changed.bytes, at, static_cast<std::uint16_t>(u16_at(built.bytes, at) + longer));
    EXPECT_EQ(code_at_local_header(changed), Code::zip_extra_malformed);
  }
  for (const unsigned shorter : {1U, 2U, 3U}) {
    Built changed = built;
    put_u16(changed.bytes, at, static_cast<std::uint16_t>(u16_at(built.bytes, at) - shorter));
    EXPECT_EQ(code_at_local_header(changed), Code::zip_extra_malformed);
  }
}

TEST(LocalHeader, PaddingRecordIsThere) {
  EXPECT_EQ(code_of_local([](LocalFields& l) { l.extra = zip64_record({1024, 1024}); }), Code::zip_padding_missing);
}

TEST(LocalHeader, PaddingRecordHoldsAnAlignment) {
  for (const std::size_t size : {0U, 1U}) {
    EXPECT_EQ(code_of_local([size](LocalFields& l) {
                l.zip64_extra = zip64_record({1024, 1024});
                l.padding = extra_record(0xD935, Blob(size));
              }),
              Code::zip_padding_record);
  }
}

TEST(LocalHeader, PaddingRecordIsTheLastField) {
  Blob padding_first = extra_record(0xD935, Blob(9));
  put_u16(padding_first, 4, 64);
  const Blob zip64 = zip64_record({1024, 1024});
  padding_first.insert(padding_first.end(), zip64.begin(), zip64.end());
  ASSERT_EQ(padding_first.size(), 33U);  // the data is aligned; only the order is wrong
  EXPECT_EQ(code_of_local([&](LocalFields& l) { l.extra = padding_first; }), Code::zip_padding_record);
}

TEST(LocalHeader, RecordedAlignmentIsAPowerOfTwoFrom64To32768) {
  for (const unsigned wrong : {0U, 1U, 2U, 32U, 63U, 65U, 96U, 192U, 0x8001U, 0xFFFFU}) {
    EXPECT_EQ(code_of_local([wrong](LocalFields& l) { l.recorded_alignment = static_cast<std::uint16_t>(wrong); }),
              Code::zip_padding_alignment)
        << wrong;
  }
}

TEST(LocalHeader, RecordedAlignmentIsKept) {
  for (const unsigned larger : {128U, 4096U, 32768U}) {
    EXPECT_EQ(code_of_local([larger](LocalFields& l) { l.recorded_alignment = static_cast<std::uint16_t>(larger); }),
              Code::zip_padding_alignment);
  }
  for (const std::size_t more : {1U, 32U, 63U}) {
    EXPECT_EQ(code_of_local([more](LocalFields& l) { l.more_padding = more; }), Code::zip_padding_alignment) << more;
  }
}

TEST(LocalHeader, PaddingIsNoLongerThanNeeded) {
  for (const std::size_t more : {64U, 128U, 4096U}) {
    EXPECT_EQ(code_of_local([more](LocalFields& l) { l.more_padding = more; }), Code::zip_padding_record) << more;
  }
  EXPECT_EQ(code_of_entry([](ZipEntry& w) {
              w.alignment = std::size_t{4096};
              w.local.recorded_alignment = std::uint16_t{64};
            }),
            Code::zip_padding_record);
}

TEST(LocalHeader, EveryByteOfThePaddingIsZero) {
  const Built built = smallest_archive();
  const PlacedEntry& w = built.entry("w");
  for (std::size_t at = w.padding_offset + 6; at < w.data_offset; ++at) {
    Built changed = built;
    flip_bit(changed.bytes, at, at % 8);
    EXPECT_EQ(code_at_local_header(changed), Code::zip_padding_record) << at;
  }
}

TEST(LocalHeader, BytesBehindTheDataAreRefusedWhereTheyBegin) {
  const Built built = changed_entry([](ZipEntry& w) { w.gap_after = blob("gap"); });
  const PlacedEntry& w = built.entry("w");
  EXPECT_EQ(refusal_of_directory(built.bytes), (Refusal{Code::zip_entry_gap, "w", w.data_offset + w.data_size}));
}

TEST(LocalHeader, DataThatThePaddingPushesIntoTheNextEntryIsRefused) {
  const Built built =
      changed_archive([](ZipBuilder& b) { b.entry(model_entry).central.header_offset = std::uint64_t{1088 - 8}; });
  EXPECT_EQ(code_at_local_header(built), Code::zip_entry_overlap);
}

}  // namespace
}  // namespace onnxar::testing
