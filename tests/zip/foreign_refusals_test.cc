// Zip files of any maker: what has more than one reading is refused, at its place.
#include <gtest/gtest.h>

#include "zip/foreign.h"

namespace onnxar::testing {
namespace {

TEST(ForeignRefusals, ACutFileIsRefusedAtEveryByte) {
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

TEST(ForeignRefusals, AnyFlippedBitIsReadOrRefused) {
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

TEST(ForeignRefusals, BytesAfterTheEndAreRefused) {
  const Built built = changed([](ZipBuilder& b) { b.trailing = blob("x"); });
  EXPECT_EQ(refusal_of_zip(built.bytes), (ErrorContext{Code::zip_end_not_last, "", built.end_offset}));
  const Built short_comment = changed([](ZipBuilder& b) {
    b.comment = "comment";
    b.end.comment_length = std::uint16_t{6};
  });
  EXPECT_EQ(refusal_of_zip(short_comment.bytes), (ErrorContext{Code::zip_end_not_last, "", short_comment.end_offset}));
}

TEST(ForeignRefusals, ASecondEndRecordIsRefused) {
  // A whole zip in the comment of another one: some readers take the outer one, some the inner one.
  const Built outer = plain_zip().build_placed();
  ZipBuilder inner_builder = plain_zip();
  inner_builder.prefix = outer.bytes;
  const Built inner = inner_builder.build_placed();
  Blob both = inner.bytes;
  put_u16(both, outer.end_offset + 20, static_cast<std::uint16_t>(both.size() - outer.bytes.size()));
  EXPECT_EQ(refusal_of_zip(both), (ErrorContext{Code::zip_end_ambiguous, "", outer.end_offset}));
  // One in a comment.
  Blob fake = blob("PK\5\6");
  fake.resize(22);
  const Built commented = changed([&](ZipBuilder& b) { b.comment = text_of(fake); });
  EXPECT_EQ(refusal_of_zip(commented.bytes),
            (ErrorContext{Code::zip_end_directory_bounds, "", commented.end_offset + 22}));
}

TEST(ForeignRefusals, ASignatureOfAnEndRecordInTheCommentIsRefused) {
  for (const std::string_view comment :
       {"PK\5\6", "x PK\5\6 and more", "PK\5\6 and then at least as much as a record has"}) {
    const Built built = changed([&](ZipBuilder& b) { b.comment = comment; });
    const std::size_t at = built.end_offset + 22 + comment.find('P');
    EXPECT_EQ(refusal_of_zip(built.bytes), (ErrorContext{Code::zip_end_ambiguous, "", at})) << comment;
  }
  EXPECT_EQ(refusal_of_zip(changed([](ZipBuilder& b) { b.comment = "PK\5\5 PK\6\5 K\5\6"; }).bytes), std::nullopt);
}

TEST(ForeignRefusals, AFirstLocalHeaderThatTheDirectoryDoesNotListIsRefused) {
  const Built first = changed([](ZipBuilder& b) { b.entry(model_entry).listed = false; });
  EXPECT_EQ(refusal_of_zip(first.bytes), (ErrorContext{Code::zip_entry_unlisted, "", 0}));
  const Built after_a_prefix = changed([](ZipBuilder& b) {
    b.prefix = blob("#!/bin/sh");
    b.entry(model_entry).listed = false;
  });
  EXPECT_EQ(refusal_of_zip(after_a_prefix.bytes), (ErrorContext{Code::zip_entry_unlisted, "", 9}));
}

// 7-Zip begins at the front, and takes a zip with such a front for one without entries.
TEST(ForeignRefusals, AnEndRecordBeforeTheFirstEntryIsRefused) {
  for (const std::string_view signature : {"PK\5\6", "PK\6\6"}) {
    for (const std::string_view before : {"", "#!/bin/sh\n"}) {
      const Built built = changed([&](ZipBuilder& b) {
        b.prefix = blob(before);
        for (const std::byte byte : blob(signature)) b.prefix.push_back(byte);
        b.prefix.resize(before.size() + 56);
      });
      EXPECT_EQ(refusal_of_zip(built.bytes), (ErrorContext{Code::zip_end_ambiguous, "", before.size()})) << before;
    }
  }
  expect_read(changed([](ZipBuilder& b) { b.prefix = blob("PK\1\2 PK\6\7 PK\7\10 K\5\6"); }));
}

TEST(ForeignRefusals, AnEndRecordInAnEntrysDataIsData) {
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

TEST(ForeignRefusals, OffsetsCountFromTheStartOfTheFile) {
  const Built built = changed([](ZipBuilder& b) {
    b.prefix = Blob(64);
    b.offset_base = 64;
  });
  EXPECT_EQ(refusal_of_zip(built.bytes), (ErrorContext{Code::zip_end_directory_bounds, "", built.end_offset}));
}

TEST(ForeignRefusals, SeveralDisksAreRefused) {
  const Built end = changed([](ZipBuilder& b) { b.end.disk = std::uint16_t{1}; });
  EXPECT_EQ(refusal_of_zip(end.bytes), (ErrorContext{Code::zip_end_multi_disk, "", end.end_offset}));
  const Built entry = changed_a([](ZipEntry& e) { e.central.disk = std::uint16_t{1}; });
  EXPECT_EQ(refusal_of_zip(entry.bytes), in_directory(Code::zip_entry_disk, entry, "a"));
}

TEST(ForeignRefusals, CountsAreComparedWithTheDirectory) {
  const auto said = [](std::uint16_t count) {
    return changed([=](ZipBuilder& b) { b.end.entries = b.end.entries_on_disk = count; });
  };
  const Built many = said(2000);
  EXPECT_EQ(refusal_of_zip(many.bytes), (ErrorContext{Code::zip_directory_count, "", many.directory_offset}));
  const Built more = changed([](ZipBuilder& b) {
    b.entry("a").central.comment = std::string(60, 'c');
    b.end.entries = b.end.entries_on_disk = std::uint16_t{4};
  });
  EXPECT_EQ(refusal_of_zip(more.bytes), (ErrorContext{Code::zip_directory_header, "", more.end_offset}));
  const Built fewer = said(2);
  EXPECT_EQ(refusal_of_zip(fewer.bytes),
            (ErrorContext{Code::zip_directory_count, "", fewer.entry("b").central_offset}));
  const Built none = changed([](ZipBuilder& b) { b.entries.clear(); });
  EXPECT_EQ(refusal_of_zip(none.bytes), (ErrorContext{Code::zip_directory_empty, "", none.directory_offset}));
}

TEST(ForeignRefusals, LimitsAreKept) {
  const Built built = plain_zip().build_placed();
  EXPECT_EQ(refusal_of_zip(built.bytes, {3, built.directory_size}), std::nullopt);
  EXPECT_EQ(refusal_of_zip(built.bytes, {2, 1000}),
            (ErrorContext{Code::zip_limit_entries, "", built.directory_offset}));
  EXPECT_EQ(refusal_of_zip(built.bytes, {3, built.directory_size - 1}),
            (ErrorContext{Code::zip_limit_directory, "", built.directory_offset}));
}

TEST(ForeignRefusals, DirectoryHeadersThatRunOnAreRefused) {
  const Built built = changed([](ZipBuilder& b) { b.entry("b").central.comment_length = std::uint16_t{1}; });
  EXPECT_EQ(refusal_of_zip(built.bytes),
            (ErrorContext{Code::zip_directory_header, "", built.entry("b").central_offset}));
}

TEST(ForeignRefusals, NamesThatReadersTakeForOthersAreRefused) {
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

TEST(ForeignRefusals, NamesThatClashAreRefused) {
  const auto named = [](const std::string& name) {
    return changed([&](ZipBuilder& b) { b.entries[2] = plain_entry(zip_entry(name, blob("x"))); });
  };
  const Built same = named("a");
  EXPECT_EQ(refusal_of_zip(same.bytes), (ErrorContext{Code::zip_name_duplicate, "a", same.entries[2].central_offset}));
  const Built folded = named("A");
  EXPECT_EQ(refusal_of_zip(folded.bytes), in_directory(Code::zip_name_folded, folded, "A"));
  const Built prefix = named("a/b");
  EXPECT_EQ(refusal_of_zip(prefix.bytes), in_directory(Code::zip_name_prefix, prefix, "a/b"));
}

TEST(ForeignRefusals, NamesThatAReaderMakesEqualAreRefused) {
  for (const std::string name : {"a;1", "A;", "a;12", "c:a", "c:/a", "x:Y:a", "a.", "a ", "a. .", "c:a;1"}) {
    const Built built = changed([&](ZipBuilder& b) { b.entries[2] = plain_entry(zip_entry(name, blob("x"))); });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_name_duplicate, built, name)) << name;
  }
  const Built both = changed([](ZipBuilder& b) {
    b.entries[1] = plain_entry(zip_entry("d./w", {}));
    b.entries[2] = plain_entry(zip_entry("d/w;1", {}));
  });
  EXPECT_EQ(refusal_of_zip(both.bytes), in_directory(Code::zip_name_duplicate, both, "d/w;1"));
}

TEST(ForeignRefusals, NamesThatStayApartInEveryReaderAreRead) {
  for (const std::string name :
       {"a;x", "a;1x", "1:a", "cc:a", "d/c:a", "a;1/c", "c:b.x", "b.x;1", "b..x", " a", ";1"}) {
    const Built built = changed([&](ZipBuilder& b) { b.entries[2] = plain_entry(zip_entry(name, blob("x"))); });
    EXPECT_EQ(refusal_of_zip(built.bytes), std::nullopt) << name;
  }
}

TEST(ForeignRefusals, AFileWithTheNameOfAFolderIsRefused) {
  for (const std::string name : {"a/", "A/", "a/b/", "b/c/d/"}) {
    const Built built = changed([&](ZipBuilder& b) { b.entries.push_back(plain_entry(zip_entry(name, {}))); });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_name_prefix, built, name));
  }
}

TEST(ForeignRefusals, AFolderWithDataIsRefused) {
  const Built built = changed([](ZipBuilder& b) { b.entries[1] = plain_entry(zip_entry("f/", blob("data"))); });
  EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_name_directory, built, "f/"));
}

TEST(ForeignRefusals, AZip64EndRecordOfAnUnknownVersionIsRefused) {
  const Built built = changed([](ZipBuilder& b) {
    b.force_zip64 = true;
    b.zip64_end.version_needed = std::uint16_t{46};
  });
  EXPECT_EQ(refusal_of_zip(built.bytes), (ErrorContext{Code::zip_zip64_record, "", built.zip64_end_offset}));
}

TEST(ForeignRefusals, SizesThatCannotBeAreRefused) {
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

TEST(ForeignRefusals, OffsetsThatCannotBeAreRefused) {
  for (const std::uint64_t offset : {1ULL << 20U, 0xfffffffeULL, 1ULL << 63U, ~0ULL}) {
    const Built built = changed_a([=](ZipEntry& e) { e.central.header_offset = offset; });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_entry_bounds, built, "a"));
  }
  const Built into_data = changed_a([](ZipEntry& e) { e.central.header_offset = 40; });
  EXPECT_EQ(refusal_of_zip(into_data.bytes), (ErrorContext{Code::zip_local_header, "a", 40}));
}

TEST(ForeignRefusals, EntriesThatOverlapAreRefused) {
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

TEST(ForeignRefusals, OneLocalHeaderForTwoEntriesIsRefused) {
  const Built built = changed([](ZipBuilder& b) { b.directory_order = {{0, 1, 1, 2}}; });
  EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_overlap, built, "a"));
}

// With the fields of one header read for each of them, this takes minutes.
TEST(ForeignRefusals, ALocalHeaderForVeryManyEntriesIsReadTwiceAtMost) {
  const Built built = changed([](ZipBuilder& b) {
    b.entry("a").local.extra = zeros(65532);
    b.directory_order = std::vector<std::size_t>(200'000, 1);
  });
  EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_overlap, built, "a"));
}

TEST(ForeignRefusals, DataIsComparedWithItsCrc) {
  Built built = plain_zip().build_placed();
  flip_bit(built.bytes, built.entry("a").data_offset + 99);
  EXPECT_EQ(refusal_of_zip(built.bytes), at_data(Code::zip_data_crc, built, "a"));
  Built deflated = changed([](ZipBuilder& b) { b.entries[1] = plain_entry(deflated_entry("a", pattern(100))); });
  flip_bit(deflated.bytes, deflated.entry("a").data_offset + 50);
  EXPECT_EQ(refusal_of_zip(deflated.bytes), at_data(Code::zip_data_crc, deflated, "a"));
  flip_bit(deflated.bytes, deflated.entry("a").data_offset + 1);
  EXPECT_EQ(refusal_of_zip(deflated.bytes), at_data(Code::zip_data_inflate, deflated, "a"));
}

TEST(ForeignRefusals, ASignatureThatEndsWhereTheFirstEntryBeginsIsRefused) {
  const Built local = changed([](ZipBuilder& b) { b.prefix = blob("PK\3\4"); });
  EXPECT_EQ(refusal_of_zip(local.bytes), (ErrorContext{Code::zip_entry_unlisted, "", 0}));
  const Built end = changed([](ZipBuilder& b) { b.prefix = blob("PK\5\6"); });
  EXPECT_EQ(refusal_of_zip(end.bytes), (ErrorContext{Code::zip_end_ambiguous, "", 0}));
}

TEST(ForeignRefusals, AnEndRecordBetweenTwoEntriesIsRefused) {
  for (const std::size_t before : {std::size_t{0}, std::size_t{1}}) {
    Blob gap(before + 22);
    put_u32(gap, before, signature::end);
    Built built = changed_a([&](ZipEntry& e) { e.gap_after = gap; });
    const std::size_t at = built.entry("a").data_offset + 100 + before;
    put_u16(built.bytes, at + 20, static_cast<std::uint16_t>(built.bytes.size() - at - 22));
    EXPECT_EQ(refusal_of_zip(built.bytes), (ErrorContext{Code::zip_end_ambiguous, "", at}));
  }
}

TEST(ForeignRefusals, TheFirstFilesNameMayBeMadeEqualToo) {
  const Built built =
      changed([](ZipBuilder& b) { b.entries = {plain_entry(zip_entry("a", {})), plain_entry(zip_entry("a.", {}))}; });
  EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_name_duplicate, built, "a."));
}

TEST(ForeignRefusals, AFileBeneathAFileIsRefusedWhereAllFilesAreInFolders) {
  const Built built = changed(
      [](ZipBuilder& b) { b.entries = {plain_entry(zip_entry("d/a", {})), plain_entry(zip_entry("d/a/b", {}))}; });
  EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_name_prefix, built, "d/a/b"));
}

TEST(ForeignRefusals, AZip64FieldThatIsNotMadeOfNumbersIsRefused) {
  Blob one_and_a_half = zip64_record({100, 0});
  one_and_a_half.resize(4 + 12);
  put_u16(one_and_a_half, 2, 12);
  const std::uint64_t offset = plain_zip().build_placed().entry("a").header_offset;
  for (const Blob& field : {one_and_a_half, zip64_record({100, 100, offset, 0})}) {
    const Built built = changed_a([&](ZipEntry& e) { e.central.extra = field; });
    EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(Code::zip_zip64_extra, built, "a"));
  }
}

}  // namespace
}  // namespace onnxar::testing
