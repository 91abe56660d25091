// Headers of zip files of any maker: what has more than one reading is refused, at its place.
#include <gtest/gtest.h>

#include "zip/foreign.h"

namespace onnxar::testing {
namespace {

using Numbers = std::vector<std::uint64_t>;
using Words = std::vector<std::uint16_t>;

// --- Fields of one value or few ------------------------------------------------------------------------------------

TEST(ForeignHeaders, VersionsAbove45AreRefused) {
  for (const std::uint16_t version : Words{46, 63, 0x0314}) {
    SCOPED_TRACE(version);
    expect_either_refused(Code::zip_entry_version, [=](HeaderFields& h) { h.version_needed = version; });
  }
}

TEST(ForeignHeaders, FlagsThatDifferBetweenTheHeadersAreRefused) {
  for (const std::uint16_t flags : Words{0x0002, 0x0008, 0x0802}) {
    SCOPED_TRACE(flags);
    expect_local_refused(Code::zip_local_field, [=](HeaderFields& h) { h.flags = flags; });
    const Built central = changed_a([=](ZipEntry& e) { e.central.flags = flags; });
    EXPECT_EQ(refusal_of_zip(central.bytes), at_header(Code::zip_local_field, central, "a"));
  }
}

TEST(ForeignHeaders, Utf8FlagMayDifferWhereTheNameIsAscii) {
  const auto change = [](const char* name, bool in_local) {
    return changed_a([=](ZipEntry& e) {
      e.in_both([name](HeaderFields& h) {
        h.name = name;
        h.flags = std::uint16_t{0};
      });
      (in_local ? static_cast<HeaderFields&>(e.local) : e.central).flags = std::uint16_t{0x800};
    });
  };
  for (const bool in_local : {false, true}) {
    EXPECT_EQ(refusal_of_zip(change("a", in_local).bytes), std::nullopt);
    const Built other = change("gr\xc3\xb6\xc3\x9f", in_local);
    EXPECT_EQ(refusal_of_zip(other.bytes),
              (ErrorContext{Code::zip_local_field, "gr\xc3\xb6\xc3\x9f", other.entry("a").header_offset}));
  }
}

TEST(ForeignHeaders, EncryptionIsRefused) {
  for (const std::uint16_t flags : Words{0x0001, 0x0040, 0x0041, 0x2000}) {
    SCOPED_TRACE(flags);
    expect_either_refused(Code::zip_entry_encrypted, [=](HeaderFields& h) { h.flags = flags; });
  }
  expect_central_refused(Code::zip_entry_flags, [](HeaderFields& h) { h.flags = std::uint16_t{0x20}; });  // a patch
}

TEST(ForeignHeaders, OtherMethodsAreRefused) {
  for (const std::uint16_t method : Words{1, 6, 9, 12, 14, 93, 95, 99}) {
    SCOPED_TRACE(method);
    expect_refused_in_directory(Code::zip_entry_method, "a", [=](ZipBuilder& b) {
      b.entry("a").in_both([=](HeaderFields& h) { h.method = method; });
    });
  }
}

void expect_attributes_refused(std::uint32_t attributes, std::uint16_t host = 3) {
  SCOPED_TRACE(::testing::Message() << attributes << " of host " << host);
  expect_central_refused(Code::zip_entry_attributes, [=](CentralFields& c) {
    c.version_made_by = static_cast<std::uint16_t>(unsigned{host} << 8U | 20U);
    c.external_attributes = attributes;
  });
}

TEST(ForeignHeaders, LinksAndDevicesAreRefused) {
  for (const std::uint32_t mode : {0120777U, 0060644U, 0010644U, 0140644U, 0040755U}) {
    expect_attributes_refused(mode << 16U);
  }
  expect_refused_in_directory(Code::zip_entry_attributes, "f/", [](ZipBuilder& b) {
    ZipEntry folder = plain_entry(zip_entry("f/", {}));
    folder.central.external_attributes = 0120777U << 16U;
    b.entries.push_back(folder);
  });
}

TEST(ForeignHeaders, ALinkOfAnyHostIsRefused) {
  for (const std::uint16_t host : Words{0, 3, 10, 19}) {
    for (const std::uint32_t attributes : {0120777U << 16U, 0100644U << 16U | 0x400U, 0x400U}) {
      expect_attributes_refused(attributes, host);
    }
  }
}

TEST(ForeignHeaders, AFileThatIsMarkedAsAFolderOrAVolumeIsRefused) {
  for (const std::uint32_t attributes : {0x10U, 0x08U, 0x18U, 0100644U << 16U | 0x10U}) {
    expect_attributes_refused(attributes);
  }
}

// 7-Zip reads setuid without setgid as a folder if the host is Amiga, and drops the bytes.
TEST(ForeignHeaders, AFileThatIsAFolderOnAnAmigaIsRefused) {
  const auto zip_of = [](std::uint16_t host, std::uint32_t mode) {
    return changed_a([=](ZipEntry& e) {
      e.central.version_made_by = static_cast<std::uint16_t>(unsigned{host} << 8U | 20U);
      e.central.external_attributes = mode << 16U;
    });
  };
  for (const std::uint32_t mode : {04000U, 05755U, 0104644U}) {
    expect_attributes_refused(mode << 16U, 1);
    expect_read(zip_of(0, mode));
    expect_read(zip_of(3, mode));
  }
  for (const std::uint32_t mode : {0U, 0644U, 02000U, 06000U, 0100644U}) expect_read(zip_of(1, mode));
}

TEST(ForeignHeaders, FieldsThatDifferBetweenTheHeadersAreRefused) {
  expect_local_refused(Code::zip_local_header, [](LocalFields& l) { l.signature = 0x04034b51U; });
  expect_local_refused(Code::zip_local_header, [](LocalFields& l) { l.extra_length = std::uint16_t{60000}; });
  expect_local_refused(Code::zip_local_name, [](LocalFields& l) { l.name = "c"; });
  expect_local_refused(Code::zip_local_name, [](LocalFields& l) { l.name = "aa"; });
  expect_local_refused(Code::zip_local_size, [](LocalFields& l) { l.usize = 99; });
  expect_local_refused(Code::zip_local_size, [](LocalFields& l) { l.csize = 0; });
  expect_local_refused(Code::zip_local_field, [](LocalFields& l) { l.crc = 1U; });
  expect_local_refused(Code::zip_local_field, [](LocalFields& l) { l.crc = 0U; });
  expect_local_refused(Code::zip_local_field, [](LocalFields& l) { l.method = std::uint16_t{8}; });
  const Built central = changed_a([](ZipEntry& e) { e.central.method = std::uint16_t{8}; });
  EXPECT_EQ(refusal_of_zip(central.bytes), at_header(Code::zip_local_field, central, "a"));
}

TEST(ForeignHeaders, AnOffsetAtTheStartOfTheDirectoryIsRefused) {
  const auto directory = static_cast<std::uint32_t>(plain_zip().build_placed().directory_offset);
  expect_refused_in_directory(Code::zip_entry_bounds, "b",
                              [=](ZipBuilder& b) { b.entry("b").central.header_offset32 = directory; });
}

// --- Extra fields --------------------------------------------------------------------------------------------------

/// Info-ZIP's Unicode path field: version, CRC-32 of the header's name, the other name.
Blob unicode_path(std::uint32_t crc, std::string_view other) {
  Blob content(5, std::byte{1});
  put_u32(content, 1, crc);
  return extra_record(0x7075, joined(content, blob(other)));
}

void expect_extra_read(const Blob& extra) {
  expect_read(changed_a([&](ZipEntry& e) { e.local.extra = extra; }));
  expect_read(changed_a([&](ZipEntry& e) { e.central.extra = extra; }));
}

TEST(ForeignHeaders, AUnicodePathThatRenamesIsRefused) {
  const std::uint32_t crc = bitwise_crc32(blob("a"));
  expect_extra_read(unicode_path(crc, "a"));
  expect_extra_read(unicode_path(crc + 1, "other"));
  expect_extra_refused(Code::zip_extra_unknown, unicode_path(crc, "other"));
  expect_extra_refused(Code::zip_extra_unknown, unicode_path(crc, ""));
}

TEST(ForeignHeaders, AUnicodePathTooShortForItsCrcIsIgnored) {
  const std::uint32_t crc = bitwise_crc32(blob("a"));
  for (std::size_t length = 0; length < 5; ++length) {
    Blob extra = unicode_path(crc, "");
    extra.resize(4 + length);
    put_u16(extra, 2, static_cast<std::uint16_t>(length));
    // The next field begins with the last byte of the CRC, so that a reader that runs on finds all of it.
    expect_extra_read(joined(extra, extra_record(static_cast<std::uint16_t>(crc >> 24U), Blob(9))));
  }
}

TEST(ForeignHeaders, AFieldThatRunsPastTheHeaderIsRefused) {
  Blob overrun = extra_record(0x5455, pattern(9));
  put_u16(overrun, 2, 10);
  expect_extra_refused(Code::zip_extra_malformed, overrun);
}

// Measured: with the first unzip makes a symbolic link of the entry, with the second bsdtar does.
TEST(ForeignHeaders, RefusesFieldsThatMakeAFileALink) {
  for (const std::uint16_t field : Words{0x756e, 0x6c78}) {
    expect_extra_refused(Code::zip_extra_unknown, extra_record(field, pattern(9)));
  }
}

TEST(ForeignHeaders, StrayBytesAfterExtraFieldsAreRefused) {
  Blob after_a_field = extra_record(0x5455, pattern(9));
  after_a_field.push_back(std::byte{7});
  Blob after_zeros = zeros(63);
  after_zeros.back() = std::byte{1};
  for (const Blob& extra : {blob("x"), blob("xyz"), after_a_field, after_zeros}) {
    expect_extra_refused(Code::zip_extra_malformed, extra);
  }
}

TEST(ForeignHeaders, ShortPaddingRecordStatesNoAlignment) {
  const auto alignment_of = [](const Blob& extra) {
    const Built built = changed([&](ZipBuilder& b) {
      Blob data(100);
      put_u16(data, 0, 64);  // what a reader finds that runs on
      b.entries[1] = plain_entry(zip_entry("a", data));
      b.entries[1].local.extra = extra;
    });
    expect_read(built);
    const auto directory = zip::ForeignDirectory::read(built.bytes, {});
    return directory.entries()[*directory.find("a")].alignment;
  };
  Blob stated = extra_record(0xA11E, Blob(2));
  put_u16(stated, 4, 128);
  for (const std::uint16_t id : Words{0xD935, 0xA11E}) {
    EXPECT_EQ(alignment_of(extra_record(id, {})), 0U);
    EXPECT_EQ(alignment_of(extra_record(id, Blob(1))), 0U);
    Blob low_byte = extra_record(id, Blob(1));
    low_byte[4] = std::byte{64};
    low_byte.push_back(std::byte{0});  // zipalign's padding
    EXPECT_EQ(alignment_of(low_byte), 0U);
  }
  EXPECT_EQ(alignment_of(joined(extra_record(0xD935, Blob(1)), stated)), 128U);
}

// --- Zip64 fields --------------------------------------------------------------------------------------------------

/// A local header of `a`, of 100 bytes, with these sizes beside this zip64 field.
auto local_sizes(std::uint32_t size, std::uint32_t stored_size, const Blob& field = zip64_record({100, 100})) {
  return [=](LocalFields& l) {
    l.extra = field;
    l.usize32 = size;
    l.csize32 = stored_size;
  };
}

template <typename Change>
void expect_local_read(const Change& change) {
  expect_read(changed_a([&](ZipEntry& e) { change(e.local); }));
}

TEST(ForeignHeaders, TwoZip64FieldsAreRefused) {
  const Blob twice = joined(zip64_record({100, 100}), zip64_record({100, 100}));
  expect_local_refused(Code::zip_extra_duplicate, [&](LocalFields& l) { l.extra = twice; });
}

TEST(ForeignHeaders, DistinguishesMissingFromShortZip64Field) {
  expect_central_refused(Code::zip_zip64_extra, [](CentralFields& c) { c.csize32 = c.usize32 = sentinel; });
  expect_local_refused(Code::zip_zip64_extra, [](LocalFields& l) { l.usize32 = sentinel; });
  const auto message_of = [](const Blob& extra) {
    const Built built = changed_a([&](ZipEntry& e) { local_sizes(sentinel, sentinel, extra)(e.local); });
    return error_if_any([&] { return zip::ForeignDirectory::read(built.bytes, {}).offset(); }).value().message();
  };
  EXPECT_NE(message_of({}), message_of(zip64_record({100})));
}

TEST(ForeignHeaders, RefusesLocalZip64FieldForOneSizeOnly) {
  const ZipEntry deflated = plain_entry(deflated_entry("a", pattern(50)));  // of two sizes
  const std::uint64_t stored = deflated.data.size();
  const auto with = [&](const Numbers& values, bool size, bool stored_size) {
    return changed([&](ZipBuilder& b) {
      b.entries[1] = deflated;
      b.entries[1].local.extra = zip64_record(values);
      if (size) b.entries[1].local.usize32 = sentinel;
      if (stored_size) b.entries[1].local.csize32 = sentinel;
    });
  };
  for (const Built& built : {with({50}, true, false), with({stored}, false, true), with({50, stored}, true, false),
                             with({50, stored}, false, true), with({50}, true, true)}) {
    EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_zip64_extra, built, "a"));
  }
  expect_read(with({50, stored}, true, true));
}

// bsdtar, from the front, reads as many bytes as the size that is not a sentinel says; others take it from the field.
TEST(ForeignHeaders, ASizeBesideASentinelIsThatOfTheZip64Field) {
  expect_local_read(local_sizes(100, sentinel));
  expect_local_read(local_sizes(sentinel, 100));
  for (const std::uint32_t other : {0U, 5U, 99U, 101U, 0xfffffffeU}) {
    SCOPED_TRACE(other);
    expect_local_refused(Code::zip_zip64_extra, local_sizes(other, sentinel));
    expect_local_refused(Code::zip_zip64_extra, local_sizes(sentinel, other));
  }
}

TEST(ForeignHeaders, Zip64FieldsThatContradictTheHeaderAreRefused) {
  expect_extra_refused(Code::zip_zip64_extra, zip64_record({99}));
  expect_extra_refused(Code::zip_zip64_extra, zip64_record({100, 99}));
  // The first value is the size to a reader that goes by places, and the stored size to one that goes by sentinels.
  expect_central_refused(Code::zip_zip64_extra, [](CentralFields& c) {
    c.extra = zip64_record({100, 100});
    c.csize32 = sentinel;
  });
}

// It holds whole values of 64 bits.
TEST(ForeignHeaders, CentralZip64FieldHoldsUpToThreeValues) {
  for (const std::size_t size : {1U, 7U, 9U, 12U, 20U, 25U, 32U, 36U}) {
    SCOPED_TRACE(size);
    Blob content(size);
    for (std::size_t at = 0; at + 8 <= size; at += 8) put_u64(content, at, 100);
    expect_central_refused(Code::zip_zip64_extra, [&](CentralFields& c) { c.extra = extra_record(1, content); });
  }
  const std::uint64_t offset = plain_zip().build_placed().entry("a").header_offset;
  const Blob four = zip64_record({100, 100, offset, 0});
  expect_central_refused(Code::zip_zip64_extra, [&](CentralFields& c) { c.extra = four; });
}

TEST(ForeignHeaders, ALocalZip64FieldMayHoldMoreThanBothSizes) {
  expect_local_read([](LocalFields& l) { l.extra = zip64_record({100, 100, 0}); });
}

TEST(ForeignHeaders, ALocalZip64FieldThatEndsWithinASizeIsRefused) {
  Blob field = zip64_record({100, 100});
  field.pop_back();
  put_u16(field, 2, 15);
  expect_local_refused(Code::zip_zip64_extra, local_sizes(100, sentinel, field));
  expect_local_refused(Code::zip_zip64_extra, local_sizes(sentinel, sentinel, field));
}

}  // namespace
}  // namespace onnxar::testing
