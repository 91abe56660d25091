// Local headers: where the data is, and padding of any content. The vectors of spec/vectors show each refusal.
#include <gtest/gtest.h>

#include "zip/directory.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

/// Room for the extra fields of `w`, whose name ends at 31 and whose data begins at 64.
constexpr std::size_t room = 33;

/// A record of so many bytes, header included, that holds an alignment and zeros.
Blob padded(std::uint16_t id, unsigned alignment, std::size_t size = room) {
  Blob record = extra_record(id, Blob(size - 4));
  put_u16(record, 4, static_cast<std::uint16_t>(alignment));
  return record;
}

zip::LocalEntry local_of_w(const Built& built) {
  return zip::Directory::read(built.bytes, {}).prove_local(built.bytes, 0);
}

/// The code for the changed archive, which has to name `w` and the place of its local header.
template <typename Change>
std::optional<Code> code_of_local(const Change& change) {
  const Built built = changed_entry([&](ZipEntry& w) { change(w.local); });
  const auto refusal = refusal_of_archive(built.bytes);
  if (!refusal) return std::nullopt;
  EXPECT_EQ(*refusal, at_header(refusal->code, built, "w"));
  return refusal->code;
}

/// The code for `w` with these local extra fields and nothing else.
std::optional<Code> code_of_fields(const Blob& fields) {
  return code_of_local([&fields](LocalFields& l) { l.extra = fields; });
}

void expect_at(const Built& built, std::uint64_t data_offset, std::uint64_t alignment) {
  EXPECT_EQ(refusal_of_archive(built.bytes), std::nullopt);
  const zip::LocalEntry local = local_of_w(built);
  EXPECT_EQ(local.data_offset, data_offset);
  EXPECT_EQ(local.alignment, alignment);
  EXPECT_FALSE(local.unneeded_zip64);
}

TEST(LocalHeader, LocatesTheDataAndReadsItsAlignment) {
  for (const std::size_t alignment : {64U, 128U, 4096U, 32768U}) {
    expect_at(changed_entry([=](ZipEntry& w) { w.alignment = alignment; }), alignment, alignment);
  }
  for (const unsigned alignment : {64U, 128U, 4096U, 16384U}) {
    const Blob record = padded(0xA11E, alignment, alignment - 31);
    expect_at(changed_entry([&](ZipEntry& w) { w.local.extra = record; }), alignment, alignment);
  }
  const Built farther = changed_entry([](ZipEntry& w) {
    w.alignment = std::size_t{4096};
    w.local.recorded_alignment = std::uint16_t{64};
  });
  expect_at(farther, 4096, 64);
}

TEST(LocalHeader, DataIsAlignedTo64WithoutAPaddingRecord) {
  for (const std::size_t data_offset : {64U, 128U}) {
    const Built built = changed_entry([=](ZipEntry& w) {
      w.in_both([=](HeaderFields& header) { header.name = std::string(data_offset - 30, 'w'); });
      w.local.extra = Blob();
    });
    expect_at(built, data_offset, 64);
  }
}

// These are bits that no vector has.
TEST(LocalHeader, FlagsEqualTheDirectorys) {
  for (const unsigned bit : {1U, 10U, 12U, 13U}) {
    EXPECT_EQ(code_of_local([=](LocalFields& l) { l.flags = static_cast<std::uint16_t>(1U << bit); }),
              Code::zip_local_field);
  }
}

TEST(LocalHeader, EachSizeOfAZip64FieldIsTheDirectorys) {
  const auto code_of_sizes = [](std::uint64_t uncompressed, std::uint64_t compressed) {
    return code_of_local([=](LocalFields& l) {
      l.zip64_extra = zip64_record({uncompressed, compressed});
      l.csize32 = l.usize32 = sentinel;
    });
  };
  EXPECT_EQ(code_of_sizes(1024, 1024), std::nullopt);
  EXPECT_EQ(code_of_sizes(1024, 1025), Code::zip_local_size);
  EXPECT_EQ(code_of_sizes(1024 + (1ULL << 32U), 1024), Code::zip_local_size);
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

TEST(LocalHeader, TwoAlignmentRecordsHaveTheirOwnMessage) {
  const auto message_of = [](const Blob& fields) {
    const Built built = changed_entry([&](ZipEntry& w) { w.local.extra = fields; });
    return error_if_any([&] { return local_of_w(built); }).value().message();
  };
  EXPECT_EQ(message_of(joined(padded(0xD935, 64, 10), padded(0xA11E, 64, 23))),
            "two records state an alignment in one header");
  EXPECT_EQ(message_of(joined(zip64_record({}), joined(zip64_record({}), padded(0xD935, 64, 25)))),
            "an extra field appears twice in one header");
}

TEST(LocalHeader, EveryByteOfThePaddingIsZero) {
  for (const std::uint16_t id : std::vector<std::uint16_t>{0xD935, 0xA11E}) {
    for (std::size_t at = 6; at < room; ++at) {
      Blob record = padded(id, 64);
      flip_bit(record, at, at % 8);
      EXPECT_EQ(code_of_fields(record), Code::zip_padding_record) << at;
    }
  }
}

TEST(LocalHeader, RefusesPaddingOfEqualNonzeroBytes) {
  Blob record = extra_record(0xD935, Blob(room - 4, std::byte{0x11}));
  put_u16(record, 4, 64);
  EXPECT_EQ(code_of_fields(record), Code::zip_padding_record);
}

TEST(LocalHeader, Zip64FieldIsNeededFrom4GiB) {
  for (const std::uint64_t size : {std::uint64_t{1024}, sentinel - 1, sentinel, sentinel + 1}) {
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
