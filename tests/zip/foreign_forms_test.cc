// Foreign zips whose optional parts are too short, of another form, or of another entry.
#include <gtest/gtest.h>

#include "zip/foreign.h"

namespace onnxar::testing {
namespace {

Blob unicode_path(std::uint32_t crc, std::string_view name, std::size_t size) {
  Blob content = {std::byte{1}};
  content.resize(5);
  put_u32(content, 1, crc);
  const Blob text = blob(name);
  content.insert(content.end(), text.begin(), text.end());
  content.resize(size);
  return extra_record(0x7075, content);
}

TEST(ForeignForms, AUnicodePathThatIsNotOfThisNameIsIgnored) {
  const std::uint32_t crc = bitwise_crc32(blob("a"));
  for (const Blob& extra : {unicode_path(crc + 1, "other", 10), unicode_path(crc, "", 4), unicode_path(crc, "", 0)}) {
    expect_read(changed_a([&](ZipEntry& e) { e.local.extra = extra; }));
    expect_read(changed_a([&](ZipEntry& e) { e.central.extra = extra; }));
  }
  const Built empty = changed_a([&](ZipEntry& e) { e.central.extra = unicode_path(crc, "", 5); });
  EXPECT_EQ(refusal_of_zip(empty.bytes), in_directory(Code::zip_extra_unknown, empty, "a"))
      << "the name is of no bytes";
}

TEST(ForeignForms, ARecordTooShortForAnAlignmentTellsNone) {
  for (const std::uint16_t id : {std::uint16_t{0xD935}, std::uint16_t{0xA11E}}) {
    for (const std::size_t size : {0U, 1U}) {
      const Built built = changed_a([&](ZipEntry& e) { e.local.extra = extra_record(id, zeros(size)); });
      expect_read(built);
      const auto directory = zip::ForeignDirectory::read(built.bytes, {});
      EXPECT_EQ(directory.entries()[*directory.find("a")].alignment, 0U);
    }
  }
}

/// The last entry, after which the directory begins, with the end of its descriptor cut off.
Built streamed_with_descriptor_of(std::size_t size, bool with_signature) {
  return changed([&](ZipBuilder& b) {
    b.entries[2] = plain_entry(streamed_entry("b", pattern(200, 2), with_signature));
    b.entries[2].gap_after.resize(size);
  });
}

TEST(ForeignForms, ADescriptorThatTheDirectoryCutsOffIsRefused) {
  for (const bool with_signature : {true, false}) {
    const std::size_t whole = with_signature ? 16 : 12;
    for (std::size_t size = 0; size < whole; ++size) {
      const Built built = streamed_with_descriptor_of(size, with_signature);
      EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_descriptor, built, "b")) << size;
    }
    expect_read(streamed_with_descriptor_of(whole, with_signature));
  }
}

TEST(ForeignForms, AWideDescriptorWithAnotherSizeIsRefused) {
  ZipEntry streamed = plain_entry(streamed_entry("a", pattern(100, 1)));
  for (const std::size_t at : {std::size_t{16}, std::size_t{12}}) {  // four zeros after each size
    streamed.gap_after.insert(streamed.gap_after.begin() + static_cast<std::ptrdiff_t>(at), 4, std::byte{0});
  }
  const auto with_flip = [&](std::size_t at) {
    return changed([&](ZipBuilder& b) {
      b.entries[1] = streamed;
      if (at != 0) flip_bit(b.entries[1].gap_after, at);
    });
  };
  expect_read(with_flip(0));
  for (const std::size_t at : {16U, 23U}) {  // of the size; the compressed size before it is right
    const Built built = with_flip(at);
    EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_descriptor, built, "a")) << at;
  }
}

TEST(ForeignForms, AZip64EndRecordMayStateAnyVersionUpTo45) {
  for (const std::uint16_t version : {std::uint16_t{0}, std::uint16_t{10}, std::uint16_t{19}}) {
    expect_read(changed([&](ZipBuilder& b) {
      b.force_zip64 = true;
      b.zip64_end.version_needed = version;
    }));
  }
}

TEST(ForeignForms, ACentralZip64FieldHoldsWholeValuesAndThreeAtMost) {
  const auto refused = [](std::size_t size) {
    const Built built = changed_a([&](ZipEntry& e) {
      Blob content(size);
      for (std::size_t at = 0; at + 8 <= size; at += 8) put_u64(content, at, 100);
      e.central.extra = extra_record(1, content);
    });
    return refusal_of_zip(built.bytes) == in_directory(Code::zip_zip64_extra, built, "a");
  };
  EXPECT_FALSE(refused(8));
  EXPECT_FALSE(refused(16));
  for (const std::size_t size : {1U, 7U, 9U, 12U, 20U, 25U, 32U, 36U}) EXPECT_TRUE(refused(size)) << size;
}

TEST(ForeignForms, AnEndRecordBetweenEntriesIsRefused) {
  const Built built = changed_a([](ZipEntry& e) {
    e.gap_after = blob("PK\5\6");
    e.gap_after.resize(22);
  });
  Blob bytes = built.bytes;
  const std::size_t rival = built.entry("a").data_offset + 100;
  put_u16(bytes, rival + 20,
          static_cast<std::uint16_t>(bytes.size() - rival - 22));  // a comment to the end of the file
  EXPECT_EQ(refusal_of_zip(bytes), (ErrorContext{Code::zip_end_ambiguous, "", rival}));
}

}  // namespace
}  // namespace onnxar::testing
