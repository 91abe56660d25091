// Local headers: equal to the directory's, with padding that the rules allow.
#include "zip/local_header.h"

#include <gtest/gtest.h>

#include "zip/central_header.h"
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

/// Room for the extra fields of `w`, whose name ends at 31 and whose data begins at 64.
constexpr std::size_t room = 33;

/// A record of so many bytes, header included, that holds an alignment and zeros.
Blob padded(std::uint16_t id, unsigned alignment, std::size_t size = room) {
  Blob record = extra_record(id, Blob(size - 4));
  put_u16(record, 4, static_cast<std::uint16_t>(alignment));
  return record;
}

/// The code for `w` with these local extra fields and nothing else.
std::optional<Code> code_of_fields(const Blob& fields) {
  return code_of_local([&fields](LocalFields& l) { l.extra = fields; });
}

Blob fields_of(Blob first, const Blob& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
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

TEST(LocalHeader, LengthIsAtMost65535Bytes) {
  const auto code_of_length = [](std::size_t length) {
    return code_of_fields(padded(0xD935, 64, length - 31));  // the name ends at 31
  };
  EXPECT_EQ(code_of_length(65472), std::nullopt);  // the last multiple of 64
  EXPECT_EQ(code_of_length(65535), Code::zip_padding_alignment);
  EXPECT_EQ(code_of_length(65536), Code::zip_local_header);
  EXPECT_EQ(code_of_length(31 + 65535), Code::zip_local_header);
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
  for (const unsigned bit : {0U, 1U, 3U, 6U, 10U, 12U, 13U, 15U}) {
    expect_refused([bit](LocalFields& l) { l.flags = static_cast<std::uint16_t>(1U << bit); });
  }
  expect_refused([](LocalFields& l) { l.method = std::uint16_t{8}; });
  expect_refused([](LocalFields& l) { l.flags = std::uint16_t{0x808}; });
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
}

TEST(LocalHeader, Utf8FlagAndVersionMayDifferFromTheDirectorys) {
  const auto expect_read = [](const auto& change) {
    EXPECT_EQ(code_of_local(change), std::nullopt);
    EXPECT_EQ(code_of_entry([&](ZipEntry& w) { change(w.central); }), std::nullopt);
  };
  expect_read([](HeaderFields& h) { h.flags = std::uint16_t{0x800}; });
  for (const unsigned version : {10U, 20U, 45U}) {
    expect_read([version](HeaderFields& h) { h.version_needed = static_cast<std::uint16_t>(version); });
  }
}

TEST(LocalHeader, VersionIsFrom10To45) {
  for (const unsigned version : {0U, 9U, 46U, 99U, 0x314U, 0xFFFFU}) {
    EXPECT_EQ(code_of_local([version](LocalFields& l) { l.version_needed = static_cast<std::uint16_t>(version); }),
              Code::zip_entry_version)
        << version;
  }
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
  EXPECT_EQ(code_of_extra(fields_of(zip64_record({1024, 1024}), zip64_record({1024, 1024}))),
            Code::zip_extra_duplicate);
}

TEST(LocalHeader, OnePaddingRecordIsTheMost) {
  for (const std::uint16_t first : std::vector<std::uint16_t>{0xD935, 0xA11E}) {
    for (const std::uint16_t second : std::vector<std::uint16_t>{0xD935, 0xA11E}) {
      EXPECT_EQ(code_of_fields(fields_of(padded(first, 64, 6), padded(second, 64, room - 6))),
                Code::zip_extra_duplicate);
    }
  }
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

TEST(LocalHeader, DataIsAlignedTo64WithoutAPaddingRecord) {
  const auto local_of_name = [](std::size_t length) {
    return changed_entry([length](ZipEntry& w) {
      w.in_both([length](HeaderFields& header) { header.name = std::string(length, 'w'); });
      w.local.extra = Blob();
    });
  };
  EXPECT_EQ(refusal_of_archive(local_of_name(34).bytes), std::nullopt);
  EXPECT_EQ(local_of_w(local_of_name(34)).alignment, 64U);
  EXPECT_EQ(local_of_w(local_of_name(98)).data_offset, 128U);
  for (const std::size_t length : {1U, 33U, 35U, 66U}) {
    EXPECT_EQ(refusal_of_archive(local_of_name(length).bytes),
              (ErrorContext{Code::zip_padding_alignment, std::string(length, 'w'), 0}));
  }
  EXPECT_EQ(code_of_fields(zip64_record({1024, 1024})), Code::zip_padding_alignment);
}

TEST(LocalHeader, PaddingRecordHoldsAnAlignment) {
  for (const std::uint16_t id : std::vector<std::uint16_t>{0xD935, 0xA11E}) {
    for (const std::size_t size : {0U, 1U}) {
      EXPECT_EQ(code_of_fields(fields_of(zip64_record({1024, 1024}), extra_record(id, Blob(size)))),
                Code::zip_padding_record);
    }
  }
}

TEST(LocalHeader, PaddingRecordIsBeforeTheZip64FieldOrAfterIt) {
  const Blob zip64 = zip64_record({1024, 1024});
  for (const std::uint16_t id : std::vector<std::uint16_t>{0xD935, 0xA11E}) {
    const Blob record = padded(id, 64, room - zip64.size());
    EXPECT_EQ(code_of_fields(fields_of(record, zip64)), std::nullopt);
    EXPECT_EQ(code_of_fields(fields_of(zip64, record)), std::nullopt);
  }
}

TEST(LocalHeader, EitherPaddingRecordTellsTheAlignment) {
  for (const unsigned alignment : {64U, 128U, 4096U, 16384U}) {
    const Built built = changed_entry([&](ZipEntry& w) { w.local.extra = padded(0xA11E, alignment, alignment - 31); });
    EXPECT_EQ(refusal_of_archive(built.bytes), std::nullopt);
    EXPECT_EQ(local_of_w(built).alignment, alignment);
    EXPECT_EQ(local_of_w(built).data_offset, alignment);
  }
}

TEST(LocalHeader, OtherRecordsAlignmentIsAPowerOfTwoFrom64To16384) {
  for (const unsigned wrong : {0U, 32U, 63U, 96U, 0x8000U, 0x8040U, 0xFFFFU}) {
    EXPECT_EQ(code_of_fields(padded(0xA11E, wrong)), Code::zip_padding_alignment) << wrong;
  }
  EXPECT_EQ(code_of_fields(padded(0xA11E, 32768, 32768 - 31)), Code::zip_padding_alignment);
  EXPECT_EQ(code_of_fields(padded(0xD935, 32768, 32768 - 31)), std::nullopt);
  for (const unsigned larger : {128U, 4096U, 16384U}) {
    EXPECT_EQ(code_of_fields(padded(0xA11E, larger)), Code::zip_padding_alignment) << larger;
  }
}

TEST(LocalHeader, AlignmentThatTheDirectoryRepeatsIsTheLocalHeaders) {
  const auto code_of_both = [](unsigned in_directory, const Blob& local) {
    return code_of_entry([&](ZipEntry& w) {
      w.central.extra = padded(0xA11E, in_directory, 6);
      w.local.extra = local;
    });
  };
  EXPECT_EQ(code_of_both(64, padded(0xA11E, 64)), std::nullopt);
  EXPECT_EQ(code_of_both(16384, padded(0xA11E, 16384, 16384 - 31)), std::nullopt);
  EXPECT_EQ(code_of_both(128, padded(0xA11E, 64)), Code::zip_extra_alignment);
  EXPECT_EQ(code_of_both(64, padded(0xA11E, 128, 128 - 31)), Code::zip_extra_alignment);
  EXPECT_EQ(code_of_both(64, padded(0xD935, 64)), Code::zip_extra_alignment);
  EXPECT_EQ(code_of_both(64, fields_of(zip64_record({1024, 1024}), padded(0xD935, 64, room - 20))),
            Code::zip_extra_alignment);
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

TEST(LocalHeader, PaddingMayBeLongerThanNeeded) {
  for (const std::size_t more : {64U, 128U, 4096U}) {
    EXPECT_EQ(code_of_local([more](LocalFields& l) { l.more_padding = more; }), std::nullopt) << more;
  }
  const Built built = changed_entry([](ZipEntry& w) {
    w.alignment = std::size_t{4096};
    w.local.recorded_alignment = std::uint16_t{64};
  });
  EXPECT_EQ(refusal_of_archive(built.bytes), std::nullopt);
  EXPECT_EQ(local_of_w(built).alignment, 64U);
  EXPECT_EQ(local_of_w(built).data_offset, 4096U);
}

TEST(LocalHeader, EveryByteOfThePaddingIsZero) {
  const Built built = smallest_archive();
  const PlacedEntry& w = built.entry("w");
  for (std::size_t at = w.padding_offset + 6; at < w.data_offset; ++at) {
    Built changed = built;
    flip_bit(changed.bytes, at, at % 8);
    EXPECT_EQ(code_at_local_header(changed), Code::zip_padding_record) << at;
  }
  for (std::size_t at = 6; at < room; ++at) {
    Blob record = padded(0xA11E, 64);
    flip_bit(record, at, at % 8);
    EXPECT_EQ(code_of_fields(record), Code::zip_padding_record) << at;
  }
}

TEST(LocalHeader, BytesAfterTheDataAreRefusedWhereTheyBegin) {
  const Built built = changed_entry([](ZipEntry& w) { w.gap_after = blob("gap"); });
  const PlacedEntry& w = built.entry("w");
  EXPECT_EQ(refusal_of_directory(built.bytes), (ErrorContext{Code::zip_entry_gap, "w", w.data_offset + w.data_size}));
}

TEST(LocalHeader, DataThatThePaddingPushesIntoTheNextEntryIsRefused) {
  const Built built =
      changed_archive([](ZipBuilder& b) { b.entry(model_entry).central.header_offset = std::uint64_t{1088 - 8}; });
  EXPECT_EQ(code_at_local_header(built), Code::zip_entry_overlap);
}

TEST(LocalHeader, TwoRecordsOfAnAlignmentAreToldFromTwoZip64Fields) {
  const auto message_of = [](const Blob& fields) {
    const Built built = changed_entry([&](ZipEntry& w) { w.local.extra = fields; });
    return error_of([&] { return local_of_w(built); }).value().message();
  };
  EXPECT_EQ(message_of(fields_of(padded(0xD935, 64, 10), padded(0xA11E, 64, 23))),
            "two records state an alignment in one header");
  EXPECT_EQ(message_of(fields_of(zip64_record({}), fields_of(zip64_record({}), padded(0xD935, 64, 25)))),
            "an extra field appears twice in one header");
}

TEST(LocalHeader, PaddingOfOneByteManyTimesIsRefusedUnlessItIsZero) {
  Blob record = extra_record(0xD935, Blob(room - 4, std::byte{0x11}));
  put_u16(record, 4, 64);
  EXPECT_EQ(code_of_fields(record), Code::zip_padding_record);
}

TEST(LocalHeader, Zip64FieldOf4GiBIsCalledFor) {
  for (const std::uint64_t size : {sentinel - 1, sentinel, sentinel + 1}) {
    const Built built = changed_entry([size](ZipEntry& w) {
      w.force_zip64_sizes = true;
      w.in_both([size](HeaderFields& header) { header.csize = header.usize = size; });
    });
    const PlacedEntry& w = built.entry("w");
    zip::DirectoryEntry entry;
    zip::read_central_header(Bytes(built.bytes).subspan(w.central_offset), w.central_offset, entry);
    EXPECT_EQ(zip::read_local_header(Bytes(built.bytes).first(w.data_offset), entry).unneeded_zip64, size < sentinel);
  }
}

}  // namespace
}  // namespace onnxar::testing
