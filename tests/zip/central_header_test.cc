// One header of the directory at a time: what it may say, and what it is refused for.
#include "zip/central_header.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "zip/reading.h"

namespace onnxar::testing {
namespace {

/// The code for the changed archive, which has to name `w` (as its header calls it) and its header's place.
std::optional<Code> code_at_w(const Built& built) {
  const auto refusal = refusal_of_directory(built.bytes);
  if (!refusal) return std::nullopt;
  const std::size_t at = built.entry("w").central_offset;
  const auto name = Bytes(built.bytes).subspan(at + 46, u16_at(built.bytes, at + 28));
  EXPECT_EQ(refusal->entry, as_text(name));
  EXPECT_EQ(refusal->offset, at);
  return refusal->code;
}

template <typename Change>
std::optional<Code> code_of_central(const Change& change) {
  return code_at_w(changed_entry([&](ZipEntry& w) { change(w.central); }));
}

/// The same change in both headers, so that nothing but the rule itself can object.
template <typename Change>
std::optional<Code> code_of_both(const Change& change) {
  const Built built = changed_entry([&](ZipEntry& w) { w.in_both(change); });
  const auto code = code_at_w(built);
  EXPECT_EQ(refusal_of_archive(built.bytes).has_value(), code.has_value());
  return code;
}

std::optional<Code> code_of_flags(unsigned flags) {
  return code_of_both([flags](HeaderFields& header) { header.flags = static_cast<std::uint16_t>(flags); });
}

std::optional<Code> code_of_attributes(std::uint32_t attributes) {
  return code_of_central([attributes](CentralFields& central) { central.external_attributes = attributes; });
}

std::optional<Code> code_of_extra(const Blob& extra) {
  return code_of_central([&extra](CentralFields& central) { central.extra = extra; });
}

TEST(CentralHeader, TellsTheEntry) {
  const Built built = smallest_archive();
  const PlacedEntry& model = built.entry(model_entry);
  const Bytes rest = Bytes(built.bytes).subspan(model.central_offset);
  zip::DirectoryEntry entry;
  EXPECT_EQ(zip::read_central_header(rest, model.central_offset, entry), model.central_size);
  EXPECT_EQ(entry.name, model_entry);
  EXPECT_EQ(entry.size, model.data_size);
  EXPECT_EQ(entry.header_offset, model.header_offset);
  EXPECT_EQ(entry.central_offset, model.central_offset);
  EXPECT_EQ(entry.crc32, bitwise_crc32(built.data_of(model_entry)));
  EXPECT_FALSE(entry.unneeded_zip64);
}

TEST(CentralHeader, SignatureIsWantedWhereOneHasToBe) {
  const Built built = changed_entry([](ZipEntry& w) { w.central.signature = 0x02014b51U; });
  EXPECT_EQ(refusal_of_directory(built.bytes), (ErrorContext{Code::zip_directory_header, "", built.directory_offset}));
}

TEST(CentralHeader, NoPartMayRunPastTheDirectory) {
  const auto expect_refused = [](const auto& change) {
    const Built built = changed_archive([&](ZipBuilder& b) { change(b.entry(model_entry).central); });
    EXPECT_EQ(refusal_of_directory(built.bytes),
              (ErrorContext{Code::zip_directory_header, "", built.entry(model_entry).central_offset}));
  };
  expect_refused([](CentralFields& central) { central.name_length = std::uint16_t{14}; });
  expect_refused([](CentralFields& central) { central.name_length = std::uint16_t{0xFFFF}; });
  expect_refused([](CentralFields& central) { central.extra_length = std::uint16_t{1}; });
  expect_refused([](CentralFields& central) { central.extra_length = std::uint16_t{0xFFFF}; });
  expect_refused([](CentralFields& central) { central.comment_length = std::uint16_t{1}; });
}

TEST(CentralHeader, NamesBreakNoRule) {
  const std::vector<std::pair<std::string, Code>> names = {
      {"", Code::zip_name_empty},         {std::string(1025, 'n'), Code::zip_name_too_long},
      {"\xff", Code::zip_name_character}, {std::string("w\0x", 3), Code::zip_name_character},
      {"a;1", Code::zip_name_character},  {"gr\xc3\xb6\xc3\x9f", Code::zip_name_character},
      {"/w", Code::zip_name_absolute},    {"../w", Code::zip_name_part},
      {"w/", Code::zip_name_directory},   {"w.", Code::zip_name_part_end},
      {"aux", Code::zip_name_device},     {std::string(256, 'n'), Code::zip_name_part_too_long},
  };
  for (const auto& [name, code] : names) {
    EXPECT_EQ(code_of_both([&text = name](HeaderFields& header) { header.name = text; }), code) << escaped(name);
  }
}

TEST(CentralHeader, EncryptionIsRefused) {
  for (const unsigned flags : {1U, 1U << 6U, 1U << 13U, 0x41U}) {
    EXPECT_EQ(code_of_flags(flags), Code::zip_entry_encrypted) << flags;
    EXPECT_EQ(code_of_central([flags](CentralFields& c) { c.flags = static_cast<std::uint16_t>(flags); }),
              Code::zip_entry_encrypted);
  }
}

TEST(CentralHeader, DataDescriptorIsRefused) {
  EXPECT_EQ(code_of_flags(1U << 3U), Code::zip_entry_descriptor);
  for (const bool with_signature : {false, true}) {
    const Built built =
        changed_archive([&](ZipBuilder& b) { b.entries[0] = streamed_entry("w", pattern(1024), with_signature); });
    EXPECT_EQ(code_at_w(built), Code::zip_entry_descriptor);
  }
}

TEST(CentralHeader, OtherFlagsAreRefused) {
  for (const unsigned bit : {1U, 2U, 4U, 5U, 7U, 8U, 9U, 10U, 12U, 14U, 15U}) {
    EXPECT_EQ(code_of_flags(1U << bit), Code::zip_entry_flags) << bit;
  }
}

TEST(CentralHeader, Utf8FlagIsFree) { EXPECT_EQ(code_of_flags(0x800), std::nullopt); }

TEST(CentralHeader, NamesBeyondAsciiAreRefusedWithTheUtf8FlagAndWithout) {
  for (const std::uint16_t flags : std::vector<std::uint16_t>{0, 0x800}) {
    EXPECT_EQ(code_of_both([flags](HeaderFields& header) {
                header.name = "gr\xc3\xb6\xc3\x9f";
                header.flags = flags;
              }),
              Code::zip_name_character);
  }
}

TEST(CentralHeader, EntriesAreStored) {
  for (const unsigned method : {1U, 8U, 12U, 93U, 99U}) {
    EXPECT_EQ(code_of_both([method](HeaderFields& h) { h.method = static_cast<std::uint16_t>(method); }),
              Code::zip_entry_method);
    EXPECT_EQ(code_of_central([method](CentralFields& c) { c.method = static_cast<std::uint16_t>(method); }),
              Code::zip_entry_method);
  }
  const Built built = changed_archive([](ZipBuilder& b) { b.entries[0] = deflated_entry("w", pattern(1024)); });
  EXPECT_TRUE(code_at_w(built) == Code::zip_entry_method || code_at_w(built) == Code::zip_entry_version);
}

TEST(CentralHeader, VersionIsFrom10To45) {
  for (const unsigned version : {0U, 9U, 46U, 99U, 0xFFFFU}) {
    EXPECT_EQ(code_of_both([version](HeaderFields& h) { h.version_needed = static_cast<std::uint16_t>(version); }),
              Code::zip_entry_version);
  }
  for (const unsigned version : {10U, 20U, 45U}) {
    EXPECT_EQ(code_of_both([version](HeaderFields& h) { h.version_needed = static_cast<std::uint16_t>(version); }),
              std::nullopt);
  }
}

TEST(CentralHeader, MakerAndTimeAreFree) {
  EXPECT_EQ(code_of_central([](CentralFields& c) { c.version_made_by = std::uint16_t{0x031E}; }), std::nullopt);
  EXPECT_EQ(code_of_both([](HeaderFields& h) {
              h.time = std::uint16_t{0x7BCD};
              h.date = std::uint16_t{0x5821};
            }),
            std::nullopt);
}

// 7-Zip takes a setuid bit of a file from an Amiga for a folder's.
TEST(CentralHeader, HostIsMsDosOrUnix) {
  for (const unsigned host : {1U, 6U, 10U, 19U, 255U}) {
    EXPECT_EQ(
        code_of_central([host](CentralFields& c) { c.version_made_by = static_cast<std::uint16_t>(host << 8U | 10U); }),
        Code::zip_entry_attributes);
  }
  EXPECT_EQ(code_of_central([](CentralFields& c) { c.version_made_by = std::uint16_t{0x003F}; }), std::nullopt);
}

TEST(CentralHeader, StoredSizesAreEqual) {
  EXPECT_EQ(code_of_central([](CentralFields& c) { c.csize = 100U; }), Code::zip_entry_sizes);
  EXPECT_EQ(code_of_central([](CentralFields& c) { c.usize = 2048U; }), Code::zip_entry_sizes);
  EXPECT_EQ(code_of_both([](HeaderFields& h) { h.usize = 5'000'000'000U; }), Code::zip_entry_sizes);
}

TEST(CentralHeader, EmptyEntryHasCrc0) {
  const auto code_of_empty = [](std::uint32_t crc) {
    return code_at_w(changed_entry([crc](ZipEntry& w) {
      w.data.clear();
      w.in_both([crc](HeaderFields& header) { header.crc = crc; });
    }));
  };
  EXPECT_EQ(code_of_empty(1), Code::zip_entry_empty_crc);
  EXPECT_EQ(code_of_empty(0), std::nullopt);
}

TEST(CentralHeader, CrcIsNotLookedAtWhenTheFileIsOpened) {
  EXPECT_EQ(code_of_both([](HeaderFields& h) { h.crc = 0U; }), std::nullopt);
  EXPECT_EQ(code_of_both([](HeaderFields& h) { h.crc = 0xDEADBEEFU; }), std::nullopt);
}

TEST(CentralHeader, OtherDisksAndCommentsAreRefused) {
  EXPECT_EQ(code_of_central([](CentralFields& c) { c.disk = std::uint16_t{1}; }), Code::zip_entry_disk);
  EXPECT_EQ(code_of_central([](CentralFields& c) { c.disk = std::uint16_t{0xFFFF}; }), Code::zip_entry_disk);
  EXPECT_EQ(code_of_central([](CentralFields& c) { c.comment = "comment"; }), Code::zip_entry_comment);
}

TEST(CentralHeader, InternalAttributesAreZeroExceptTheBitForText) {
  const auto code_of_internal = [](unsigned attributes) {
    return code_of_central(
        [attributes](CentralFields& c) { c.internal_attributes = static_cast<std::uint16_t>(attributes); });
  };
  EXPECT_EQ(code_of_internal(1), std::nullopt);
  for (const unsigned attributes : {2U, 3U, 4U, 0x8000U, 0x8001U, 0xFFFFU}) {
    EXPECT_EQ(code_of_internal(attributes), Code::zip_entry_attributes) << attributes;
  }
}

TEST(CentralHeader, EntriesAreRegularFiles) {
  EXPECT_EQ(code_of_attributes(0100644U << 16U), std::nullopt);
  EXPECT_EQ(code_of_attributes((0100644U << 16U) | 0x20U), std::nullopt);
  EXPECT_EQ(code_of_attributes(0000600U << 16U), std::nullopt);  // as Python writes it
  for (const std::uint32_t type : {0040000U, 0120000U, 0010000U, 0020000U, 0060000U, 0140000U, 0170000U}) {
    EXPECT_EQ(code_of_attributes((type | 0644U) << 16U), Code::zip_entry_attributes) << type;
  }
  EXPECT_EQ(code_of_attributes(0x10), Code::zip_entry_attributes);
  EXPECT_EQ(code_of_attributes((0100644U << 16U) | 0x10U), Code::zip_entry_attributes);
  EXPECT_EQ(code_of_attributes(0x08), Code::zip_entry_attributes);
  EXPECT_EQ(code_of_attributes(0x400), Code::zip_entry_attributes);  // a link to 7-Zip
}

TEST(CentralHeader, ExtraFieldsAreWellFormed) {
  for (std::size_t size = 1; size < 4; ++size) EXPECT_EQ(code_of_extra(Blob(size)), Code::zip_extra_malformed);
  Blob overrun = extra_record(1, Blob(8));
  put_u16(overrun, 2, 9);
  EXPECT_EQ(code_of_extra(overrun), Code::zip_extra_malformed);
  put_u16(overrun, 2, 0xFFFF);
  EXPECT_EQ(code_of_extra(overrun), Code::zip_extra_malformed);
}

TEST(CentralHeader, OtherExtraFieldsAreRefused) {
  for (const unsigned extra_id : {0U, 0x7075U, 0x6375U, 0x5455U, 0x9901U, 0x4246U, 0xA11FU, 0x1EA1U, 0x7875U}) {
    EXPECT_EQ(code_of_extra(extra_record(static_cast<std::uint16_t>(extra_id), Blob(9))), Code::zip_extra_unknown);
  }
  EXPECT_EQ(code_of_extra(extra_record(0xD935, Blob(2))), Code::zip_extra_unknown);
  Blob padding_first = extra_record(0xD935, Blob(2));
  padding_first.resize(padding_first.size() + 1);  // fields are judged one by one, before what follows them
  EXPECT_EQ(code_of_extra(padding_first), Code::zip_extra_unknown);
}

/// The record of Apache Commons Compress with this number and so many zeros.
Blob alignment_record(unsigned alignment, std::size_t zeros_after = 0) {
  Blob record = extra_record(0xA11E, Blob(2 + zeros_after));
  put_u16(record, 4, static_cast<std::uint16_t>(alignment));
  return record;
}

TEST(CentralHeader, AlignmentMayBeRepeated) {
  for (const unsigned alignment : {64U, 128U, 4096U, 16384U}) {
    EXPECT_EQ(code_of_extra(alignment_record(alignment)), std::nullopt);
    const Built built = changed_entry([alignment](ZipEntry& w) { w.central.extra = alignment_record(alignment); });
    EXPECT_EQ(zip::Directory::read(built.bytes, {}).entries()[0].alignment, alignment);
  }
  EXPECT_EQ(zip::Directory::read(smallest_archive().bytes, {}).entries()[0].alignment, 0U);
}

TEST(CentralHeader, RepeatedAlignmentIsAPowerOfTwoFrom64To16384) {
  for (const unsigned wrong : {0U, 1U, 32U, 63U, 65U, 96U, 0x8000U, 0x8040U, 0xFFFFU}) {
    EXPECT_EQ(code_of_extra(alignment_record(wrong)), Code::zip_extra_alignment) << wrong;
  }
}

TEST(CentralHeader, RepeatedAlignmentHasTwoBytes) {
  EXPECT_EQ(code_of_extra(extra_record(0xA11E, Blob())), Code::zip_extra_alignment);
  EXPECT_EQ(code_of_extra(extra_record(0xA11E, blob("@"))), Code::zip_extra_alignment);
  for (const std::size_t more : {1U, 2U, 27U}) {
    EXPECT_EQ(code_of_extra(alignment_record(64, more)), Code::zip_extra_alignment) << more;
  }
}

TEST(CentralHeader, RepeatedAlignmentIsThereOnce) {
  Blob twice = alignment_record(64);
  twice.resize(2 * twice.size());
  std::copy_n(twice.begin(), 6, twice.begin() + 6);
  EXPECT_EQ(code_of_extra(twice), Code::zip_extra_duplicate);
}

}  // namespace
}  // namespace onnxar::testing
