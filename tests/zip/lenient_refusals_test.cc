// Zip files of any maker: what has more than one reading is refused, at its place.
#include <gtest/gtest.h>

#include "zip/lenient.h"

namespace onnxar::testing {
namespace {

TEST(LenientRefusals, ACutFileIsRefusedAtEveryByte) {
  const Built built = changed([](ZipBuilder& b) {
    b.entries[1] = plain_entry(deflated_entry("a", pattern(50)));
    b.comment = "comment";
  });
  for (std::size_t size = 0; size < built.bytes.size(); ++size) {
    Blob cut = built.bytes;
    truncate(cut, size);
    const auto refusal = refusal_of_zip(cut);
    ASSERT_TRUE(refusal) << size;
    const bool cut_in_comment = size >= built.end_offset + 22;
    EXPECT_EQ(id(refusal->code).substr(0, 7), "zip.end") << size;
    EXPECT_EQ(refusal->code != Code::zip_end_missing, cut_in_comment) << size;
  }
}

TEST(LenientRefusals, AnyFlippedBitIsReadOrRefused) {
  const Built built = changed([](ZipBuilder& b) {
    b.entries[1] = plain_entry(deflated_entry("a", pattern(50)));
    b.entries[2] = plain_entry(streamed_entry("b", pattern(20)));
    b.force_zip64 = true;
  });
  std::size_t refused = 0;
  for (std::size_t at = 0; at < built.bytes.size(); ++at) {
    for (const unsigned bit : {0U, 5U}) {
      Blob damaged = built.bytes;
      flip_bit(damaged, at, bit);
      const auto refusal = refusal_of_zip(damaged);  // any other exception ends the test
      if (!refusal) continue;
      EXPECT_EQ(kind(refusal->code), Kind::format);
      ++refused;
    }
  }
  EXPECT_GT(refused, built.bytes.size());
}

TEST(LenientRefusals, BytesBehindTheEndAreRefused) {
  const Built built = changed([](ZipBuilder& b) { b.trailing = blob("x"); });
  EXPECT_EQ(refusal_of_zip(built.bytes), (Refusal{Code::zip_end_not_last, "", built.end_offset}));
  const Built short_comment = changed([](ZipBuilder& b) {
    b.comment = "comment";
    b.end.comment_length = std::uint16_t{6};
  });
  EXPECT_EQ(refusal_of_zip(short_comment.bytes), (Refusal{Code::zip_end_not_last, "", short_comment.end_offset}));
}

TEST(LenientRefusals, ASecondEndRecordIsRefused) {
  // A whole zip in the comment of another one: some readers take the outer one, some the inner one.
  const Built outer = plain_zip().build_placed();
  ZipBuilder inner_builder = plain_zip();
  inner_builder.prefix = outer.bytes;
  const Built inner = inner_builder.build_placed();
  Blob both = inner.bytes;
  put_u16(both, outer.end_offset + 20, static_cast<std::uint16_t>(both.size() - outer.bytes.size()));
  EXPECT_EQ(refusal_of_zip(both), (Refusal{Code::zip_end_ambiguous, "", outer.end_offset}));
  // One in a comment.
  Blob fake = blob("PK\5\6");
  fake.resize(22);
  const Built commented = changed([&](ZipBuilder& b) { b.comment = text_of(fake); });
  EXPECT_EQ(refusal_of_zip(commented.bytes), (Refusal{Code::zip_end_directory_bounds, "", commented.end_offset + 22}));
}

TEST(LenientRefusals, ASignatureOfAnEndRecordInTheCommentIsRefused) {
  for (const std::string_view comment :
       {"PK\5\6", "x PK\5\6 and more", "PK\5\6 and then at least as much as a record has"}) {
    const Built built = changed([&](ZipBuilder& b) { b.comment = comment; });
    const std::size_t at = built.end_offset + 22 + comment.find('P');
    EXPECT_EQ(refusal_of_zip(built.bytes), (Refusal{Code::zip_end_ambiguous, "", at})) << comment;
  }
  EXPECT_EQ(refusal_of_zip(changed([](ZipBuilder& b) { b.comment = "PK\5\5 PK\6\5 K\5\6"; }).bytes), std::nullopt);
}

TEST(LenientRefusals, AFirstLocalHeaderThatTheDirectoryDoesNotListIsRefused) {
  const Built first = changed([](ZipBuilder& b) { b.entry(model_entry).listed = false; });
  EXPECT_EQ(refusal_of_zip(first.bytes), (Refusal{Code::zip_entry_unlisted, "", 0}));
  const Built after_a_prefix = changed([](ZipBuilder& b) {
    b.prefix = blob("#!/bin/sh");
    b.entry(model_entry).listed = false;
  });
  EXPECT_EQ(refusal_of_zip(after_a_prefix.bytes), (Refusal{Code::zip_entry_unlisted, "", 9}));
}

TEST(LenientRefusals, VersionsAbove45AreRefused) {
  for (const std::uint16_t version : {std::uint16_t{46}, std::uint16_t{63}, std::uint16_t{0x0314}}) {
    const Built central = changed_a([=](ZipEntry& e) { e.central.version_needed = version; });
    EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_entry_version, central, "a")) << version;
    const Built local = changed_a([=](ZipEntry& e) { e.local.version_needed = version; });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_entry_version, local, "a")) << version;
  }
}

TEST(LenientRefusals, FlagsOfWhichTheHeadersTellTwoStoriesAreRefused) {
  for (const std::uint16_t flags : {std::uint16_t{0x0002}, std::uint16_t{0x0008}, std::uint16_t{0x0800}}) {
    const Built local = changed_a([=](ZipEntry& e) { e.local.flags = flags; });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_local_field, local, "a")) << flags;
    const Built central = changed_a([=](ZipEntry& e) { e.central.flags = flags; });
    EXPECT_EQ(refusal_of_zip(central.bytes), at_header(Code::zip_local_field, central, "a")) << flags;
  }
}

TEST(LenientRefusals, AnEndRecordInAnEntrysDataIsData) {
  const Built built = changed([](ZipBuilder& b) {
    Blob inner = blob("PK\5\6");
    inner.resize(40);
    b.entry("b").data = inner;
  });
  Blob bytes = built.bytes;
  const std::size_t at = built.entry("b").data_offset;
  put_u16(bytes, at + 20, static_cast<std::uint16_t>(bytes.size() - at - 22));
  put_u32(bytes, built.entry("b").header_offset + 14, bitwise_crc32(std::span(bytes).subspan(at, 40)));
  put_u32(bytes, built.entry("b").central_offset + 16, bitwise_crc32(std::span(bytes).subspan(at, 40)));
  EXPECT_EQ(refusal_of_zip(bytes), std::nullopt);
}

TEST(LenientRefusals, OffsetsCountFromTheStartOfTheFile) {
  const Built built = changed([](ZipBuilder& b) {
    b.prefix = Blob(64);
    b.offset_base = 64;
  });
  EXPECT_EQ(refusal_of_zip(built.bytes), (Refusal{Code::zip_end_directory_bounds, "", built.end_offset}));
}

TEST(LenientRefusals, SeveralDisksAreRefused) {
  const Built end = changed([](ZipBuilder& b) { b.end.disk = std::uint16_t{1}; });
  EXPECT_EQ(refusal_of_zip(end.bytes), (Refusal{Code::zip_end_multi_disk, "", end.end_offset}));
  const Built entry = changed_a([](ZipEntry& e) { e.central.disk = std::uint16_t{1}; });
  EXPECT_EQ(refusal_of_zip(entry.bytes), in_directory(Code::zip_entry_disk, entry, "a"));
}

TEST(LenientRefusals, CountsAreHeldAgainstTheDirectory) {
  const auto said = [](std::uint16_t count) {
    return changed([=](ZipBuilder& b) { b.end.entries = b.end.entries_on_disk = count; });
  };
  const Built many = said(2000);
  EXPECT_EQ(refusal_of_zip(many.bytes), (Refusal{Code::zip_directory_count, "", many.directory_offset}));
  const Built more = changed([](ZipBuilder& b) {
    b.entry("a").central.comment = std::string(60, 'c');
    b.end.entries = b.end.entries_on_disk = std::uint16_t{4};
  });
  EXPECT_EQ(refusal_of_zip(more.bytes), (Refusal{Code::zip_directory_header, "", more.end_offset}));
  const Built fewer = said(2);
  EXPECT_EQ(refusal_of_zip(fewer.bytes), (Refusal{Code::zip_directory_count, "", fewer.entry("b").central_offset}));
  const Built none = changed([](ZipBuilder& b) { b.entries.clear(); });
  EXPECT_EQ(refusal_of_zip(none.bytes), (Refusal{Code::zip_directory_empty, "", none.directory_offset}));
}

TEST(LenientRefusals, LimitsAreKept) {
  const Built built = plain_zip().build_placed();
  EXPECT_EQ(refusal_of_zip(built.bytes, {3, built.directory_size}), std::nullopt);
  EXPECT_EQ(refusal_of_zip(built.bytes, {2, 1000}), (Refusal{Code::zip_limit_entries, "", built.directory_offset}));
  EXPECT_EQ(refusal_of_zip(built.bytes, {3, built.directory_size - 1}),
            (Refusal{Code::zip_limit_directory, "", built.directory_offset}));
}

TEST(LenientRefusals, DirectoryHeadersThatRunOnAreRefused) {
  const Built built = changed([](ZipBuilder& b) { b.entry("b").central.comment_length = std::uint16_t{1}; });
  EXPECT_EQ(refusal_of_zip(built.bytes), (Refusal{Code::zip_directory_header, "", built.entry("b").central_offset}));
}

TEST(LenientRefusals, EncryptionIsRefused) {
  for (const std::uint16_t flags : std::vector<std::uint16_t>{0x0001, 0x0041, 0x2000}) {
    const Built central = changed_a([=](ZipEntry& e) { e.central.flags = flags; });
    EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_entry_encrypted, central, "a"));
    const Built local = changed_a([=](ZipEntry& e) { e.local.flags = flags; });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_entry_encrypted, local, "a"));
  }
  const Built patch = changed_a([](ZipEntry& e) { e.central.flags = std::uint16_t{0x20}; });
  EXPECT_EQ(refusal_of_zip(patch.bytes), in_directory(Code::zip_entry_flags, patch, "a"));
}

TEST(LenientRefusals, OtherMethodsAreRefused) {
  for (const std::uint16_t method : std::vector<std::uint16_t>{1, 6, 9, 12, 14, 93, 95, 99}) {
    const Built built = changed_a([=](ZipEntry& e) { e.in_both([=](HeaderFields& h) { h.method = method; }); });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_method, built, "a")) << method;
  }
}

TEST(LenientRefusals, LinksAndDevicesAreRefused) {
  for (const std::uint32_t mode : {0120777U, 0060644U, 0010644U, 0140644U, 0040755U}) {
    const Built built = changed_a([=](ZipEntry& e) { e.central.external_attributes = mode << 16U; });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_attributes, built, "a")) << mode;
  }
}

TEST(LenientRefusals, ALinkOfAnyHostIsRefused) {
  for (const std::uint16_t host : {std::uint16_t{0}, std::uint16_t{3}, std::uint16_t{10}, std::uint16_t{19}}) {
    for (const std::uint32_t attributes : {0120777U << 16U, 0100644U << 16U | 0x400U, 0x400U}) {
      const Built built = changed_a([=](ZipEntry& e) {
        e.central.version_made_by = static_cast<std::uint16_t>(host << 8U | 20U);
        e.central.external_attributes = attributes;
      });
      EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_attributes, built, "a")) << attributes;
    }
  }
}

TEST(LenientRefusals, AFileThatIsMarkedAsAFolderOrAVolumeIsRefused) {
  for (const std::uint32_t attributes : {0x10U, 0x08U, 0x18U, 0100644U << 16U | 0x10U}) {
    const Built built = changed_a([=](ZipEntry& e) { e.central.external_attributes = attributes; });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_attributes, built, "a")) << attributes;
  }
}

TEST(LenientRefusals, NamesThatReadersTakeForOthersAreRefused) {
  const std::vector<std::pair<std::string, Code>> names = {
      {"", Code::zip_name_empty},
      {std::string(1025, 'n'), Code::zip_name_too_long},
      {"a\xff", Code::zip_name_character},
      {std::string("a\0b", 3), Code::zip_name_character},
      {"a\x1b[31m", Code::zip_name_character},
      {"a\\b", Code::zip_name_character},
      {"/etc/passwd", Code::zip_name_absolute},
      {"../x", Code::zip_name_part},
      {"a/./b", Code::zip_name_part},
      {"../x/", Code::zip_name_part},
      {"/", Code::zip_name_absolute},
      {"a//", Code::zip_name_directory},
  };
  for (const auto& [name, code] : names) {
    const Built built = changed([&, &bad = name](ZipBuilder& b) { b.entries[1] = plain_entry(zip_entry(bad, {})); });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(code, built, name)) << escaped(name);
  }
}

TEST(LenientRefusals, NamesThatClashAreRefused) {
  const auto named = [](const std::string& name) {
    return changed([&](ZipBuilder& b) { b.entries[2] = plain_entry(zip_entry(name, blob("x"))); });
  };
  const Built same = named("a");
  EXPECT_EQ(refusal_of_zip(same.bytes), (Refusal{Code::zip_name_duplicate, "a", same.entries[2].central_offset}));
  const Built folded = named("A");
  EXPECT_EQ(refusal_of_zip(folded.bytes), in_directory(Code::zip_name_folded, folded, "A"));
  const Built prefix = named("a/b");
  EXPECT_EQ(refusal_of_zip(prefix.bytes), in_directory(Code::zip_name_prefix, prefix, "a/b"));
}

TEST(LenientRefusals, AFileWithTheNameOfAFolderIsRefused) {
  for (const std::string name : {"a/", "A/", "a/b/", "b/c/d/"}) {
    const Built built = changed([&](ZipBuilder& b) { b.entries.push_back(plain_entry(zip_entry(name, {}))); });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_name_prefix, built, name));
  }
}

TEST(LenientRefusals, AFolderWithDataIsRefused) {
  const Built built = changed([](ZipBuilder& b) { b.entries[1] = plain_entry(zip_entry("f/", blob("data"))); });
  EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_name_directory, built, "f/"));
}

TEST(LenientRefusals, AUnicodePathThatRenamesIsRefused) {
  const auto with_path = [](std::string_view other, bool local) {
    Blob content = {std::byte{1}};
    content.resize(5);
    put_u32(content, 1, bitwise_crc32(blob("a")));
    const Blob name = blob(other);
    content.insert(content.end(), name.begin(), name.end());
    return changed_a([&](ZipEntry& e) {
      (local ? static_cast<HeaderFields&>(e.local) : e.central).extra = extra_record(0x7075, content);
    });
  };
  for (const bool local : {true, false}) {
    expect_read(with_path("a", local));
    const Built built = with_path("other", local);
    EXPECT_EQ(refusal_of_zip(built.bytes), local ? at_header(Code::zip_extra_unknown, built, "a")
                                                 : in_directory(Code::zip_extra_unknown, built, "a"));
  }
}

TEST(LenientRefusals, ExtraFieldsThatMisleadAreRefused) {
  Blob overrun = extra_record(0x5455, pattern(9));
  put_u16(overrun, 2, 10);
  const Built local = changed_a([&](ZipEntry& e) { e.local.extra = overrun; });
  EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_extra_malformed, local, "a"));
  const Built central = changed_a([&](ZipEntry& e) { e.central.extra = overrun; });
  EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_extra_malformed, central, "a"));
  Blob twice = zip64_record({100, 100});
  const Blob second = zip64_record({100, 100});
  twice.insert(twice.end(), second.begin(), second.end());
  const Built doubled = changed_a([&](ZipEntry& e) { e.local.extra = twice; });
  EXPECT_EQ(refusal_of_zip(doubled.bytes), at_header(Code::zip_extra_duplicate, doubled, "a"));
  const Built missing = changed_a([](ZipEntry& e) { e.central.csize32 = e.central.usize32 = 0xffffffffU; });
  EXPECT_EQ(refusal_of_zip(missing.bytes), in_directory(Code::zip_zip64_extra, missing, "a"));
  const Built local_missing = changed_a([](ZipEntry& e) { e.local.usize32 = 0xffffffffU; });
  EXPECT_EQ(refusal_of_zip(local_missing.bytes), at_header(Code::zip_zip64_extra, local_missing, "a"));
}

// Measured: with the first unzip makes a symbolic link of the entry, with the second bsdtar does.
TEST(LenientRefusals, FieldsByWhichSomeReadersMakeALinkOfAFileAreRefused) {
  for (const std::uint16_t field : {std::uint16_t{0x756e}, std::uint16_t{0x6c78}}) {
    const Built local = changed_a([&](ZipEntry& e) { e.local.extra = extra_record(field, pattern(9)); });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_extra_unknown, local, "a"));
    const Built central = changed_a([&](ZipEntry& e) { e.central.extra = extra_record(field, pattern(9)); });
    EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_extra_unknown, central, "a"));
  }
}

TEST(LenientRefusals, StrayBytesAfterExtraFieldsAreRefused) {
  Blob after_a_field = extra_record(0x5455, pattern(9));
  after_a_field.push_back(std::byte{7});
  Blob after_zeros = zeros(63);
  after_zeros.back() = std::byte{1};
  for (const Blob& extra : {blob("x"), blob("xyz"), after_a_field, after_zeros}) {
    const Built local = changed_a([&](ZipEntry& e) { e.local.extra = extra; });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_extra_malformed, local, "a"));
    const Built central = changed_a([&](ZipEntry& e) { e.central.extra = extra; });
    EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_extra_malformed, central, "a"));
  }
}

TEST(LenientRefusals, ALocalZip64FieldOfWhichOneSizeIsTakenIsRefused) {
  const auto refused = [](const Blob& field, bool size, bool stored_size) {
    const Built built = changed([&](ZipBuilder& b) {
      b.entries[1] = plain_entry(deflated_entry("a", pattern(50)));  // of two sizes
      b.entries[1].local.extra = field;
      if (size) b.entries[1].local.usize32 = 0xffffffffU;
      if (stored_size) b.entries[1].local.csize32 = 0xffffffffU;
    });
    EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_zip64_extra, built, "a"));
  };
  const std::uint64_t stored = deflated_entry("a", pattern(50)).data.size();
  refused(zip64_record({50}), true, false);
  refused(zip64_record({stored}), false, true);
  refused(zip64_record({50, stored}), true, false);
  refused(zip64_record({50, stored}), false, true);
  refused(zip64_record({50}), true, true);
}

TEST(LenientRefusals, Zip64FieldsThatContradictTheHeaderAreRefused) {
  for (const std::vector<std::uint64_t>& values :
       {std::vector<std::uint64_t>{99}, std::vector<std::uint64_t>{100, 99}}) {
    const Built local = changed_a([&](ZipEntry& e) { e.local.extra = zip64_record(values); });
    EXPECT_EQ(refusal_of_zip(local.bytes), at_header(Code::zip_zip64_extra, local, "a"));
    const Built central = changed_a([&](ZipEntry& e) { e.central.extra = zip64_record(values); });
    EXPECT_EQ(refusal_of_zip(central.bytes), in_directory(Code::zip_zip64_extra, central, "a"));
  }
  // The first value is the size to a reader that goes by places, and the stored size to one that goes by sentinels.
  const Built out_of_step = changed_a([](ZipEntry& e) {
    e.central.extra = zip64_record({100, 100});
    e.central.csize32 = 0xffffffffU;
  });
  EXPECT_EQ(refusal_of_zip(out_of_step.bytes), in_directory(Code::zip_zip64_extra, out_of_step, "a"));
}

TEST(LenientRefusals, AZip64EndRecordOfAnUnknownVersionIsRefused) {
  const Built built = changed([](ZipBuilder& b) {
    b.force_zip64 = true;
    b.zip64_end.version_needed = std::uint16_t{46};
  });
  EXPECT_EQ(refusal_of_zip(built.bytes), (Refusal{Code::zip_zip64_record, "", *built.zip64_end_offset}));
}

TEST(LenientRefusals, TwoStoriesAboutOneEntryAreRefused) {
  const auto expect_local = [](Code code, const auto& change) {
    const Built built = changed_a(change);
    EXPECT_EQ(refusal_of_zip(built.bytes), at_header(code, built, "a"));
  };
  expect_local(Code::zip_local_header, [](ZipEntry& e) { e.local.signature = 0x04034b51U; });
  expect_local(Code::zip_local_header, [](ZipEntry& e) { e.local.extra_length = std::uint16_t{60000}; });
  expect_local(Code::zip_local_name, [](ZipEntry& e) { e.local.name = "c"; });
  expect_local(Code::zip_local_name, [](ZipEntry& e) { e.local.name = "aa"; });
  expect_local(Code::zip_local_size, [](ZipEntry& e) { e.local.usize = 99; });
  expect_local(Code::zip_local_size, [](ZipEntry& e) { e.local.csize = 0; });
  expect_local(Code::zip_local_field, [](ZipEntry& e) { e.local.crc = 1U; });
  expect_local(Code::zip_local_field, [](ZipEntry& e) { e.local.crc = 0U; });
  expect_local(Code::zip_local_field, [](ZipEntry& e) { e.local.method = std::uint16_t{8}; });
  expect_local(Code::zip_local_field, [](ZipEntry& e) { e.central.method = std::uint16_t{8}; });
}

TEST(LenientRefusals, ADescriptorThatSaysOtherwiseIsRefused) {
  const auto refused = [](const auto& change) {
    const Built built = changed([&](ZipBuilder& b) {
      b.entries[1] = plain_entry(streamed_entry("a", pattern(100, 1)));
      change(b.entries[1]);
    });
    EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_descriptor, built, "a"));
  };
  refused([](ZipEntry& e) { e.gap_after.clear(); });
  refused([](ZipEntry& e) { flip_bit(e.gap_after, 4); });   // its CRC
  refused([](ZipEntry& e) { flip_bit(e.gap_after, 8); });   // its compressed size
  refused([](ZipEntry& e) { flip_bit(e.gap_after, 12); });  // its size
}

TEST(LenientRefusals, SizesThatCannotBeAreRefused) {
  const Built differ = changed_a([](ZipEntry& e) { e.in_both([](HeaderFields& h) { h.usize = 200; }); });
  EXPECT_EQ(refusal_of_zip(differ.bytes), in_directory(Code::zip_entry_sizes, differ, "a"));
  const Built bomb = changed([](ZipBuilder& b) {
    b.entries[1] = plain_entry(deflated_entry("a", pattern(100)));
    b.entries[1].in_both([](HeaderFields& h) { h.usize = 1ULL << 50U; });
  });
  EXPECT_EQ(refusal_of_zip(bomb.bytes), in_directory(Code::zip_data_inflate, bomb, "a"));
  for (const std::uint64_t size : {1ULL << 20U, 0xfffffffeULL, 1ULL << 63U, ~0ULL}) {
    const Built built = changed_a([=](ZipEntry& e) { e.in_both([=](HeaderFields& h) { h.csize = h.usize = size; }); });
    EXPECT_EQ(refusal_of_zip(built.bytes)->code,
              size < 0xffffffff ? Code::zip_entry_bounds : Code::zip_zip64_extra);  // no room for the field
  }
}

TEST(LenientRefusals, OffsetsThatCannotBeAreRefused) {
  for (const std::uint64_t offset : {1ULL << 20U, 0xfffffffeULL, 1ULL << 63U, ~0ULL}) {
    const Built built = changed_a([=](ZipEntry& e) { e.central.header_offset = offset; });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_bounds, built, "a"));
  }
  const Built into_data = changed_a([](ZipEntry& e) { e.central.header_offset = 40; });
  EXPECT_EQ(refusal_of_zip(into_data.bytes), (Refusal{Code::zip_local_header, "a", 40}));
}

TEST(LenientRefusals, EntriesThatOverlapAreRefused) {
  const Built inner = changed([](ZipBuilder& b) { b.entries = {plain_entry(zip_entry("b", pattern(64)))}; });
  const Built nested = changed([&](ZipBuilder& b) {
    b.entry("a").data = inner.bytes;
    b.entry("b") = plain_entry(zip_entry("b", pattern(64)));
    b.entry("b").written = false;
    b.entry("b").central.header_offset = 79;
  });
  ASSERT_EQ(nested.entry("a").data_offset, 79U);
  EXPECT_EQ(refusal_of_zip(nested.bytes), at_header(Code::zip_entry_overlap, nested, "a"));
}

TEST(LenientRefusals, OneLocalHeaderForTwoEntriesIsRefused) {
  const Built built = changed([](ZipBuilder& b) { b.directory_order = {{0, 1, 1, 2}}; });
  EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_overlap, built, "a"));
}

// With the fields of one header read for each of them, this takes minutes.
TEST(LenientRefusals, ALocalHeaderForVeryManyEntriesIsReadTwiceAtMost) {
  const Built built = changed([](ZipBuilder& b) {
    b.entry("a").local.extra = zeros(65532);
    b.directory_order = std::vector<std::size_t>(200'000, 1);
  });
  EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_overlap, built, "a"));
}

TEST(LenientRefusals, DataIsHeldAgainstItsCrc) {
  Built built = plain_zip().build_placed();
  flip_bit(built.bytes, built.entry("a").data_offset + 99);
  EXPECT_EQ(refusal_of_zip(built.bytes), at_data(Code::zip_data_crc, built, "a"));
  Built deflated = changed([](ZipBuilder& b) { b.entries[1] = plain_entry(deflated_entry("a", pattern(100))); });
  flip_bit(deflated.bytes, deflated.entry("a").data_offset + 50);
  EXPECT_EQ(refusal_of_zip(deflated.bytes), at_data(Code::zip_data_crc, deflated, "a"));
  flip_bit(deflated.bytes, deflated.entry("a").data_offset + 1);
  EXPECT_EQ(refusal_of_zip(deflated.bytes), at_data(Code::zip_data_inflate, deflated, "a"));
}

}  // namespace
}  // namespace onnxar::testing
