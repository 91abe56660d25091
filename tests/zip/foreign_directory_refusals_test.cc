// Zip files of any maker: what has more than one reading is refused, at its place.
#include <gtest/gtest.h>

#include "zip/foreign.h"

namespace onnxar::testing {
namespace {

/// A change of the plain zip that makes `b` an entry of this name.
auto naming_b(const std::string& name) {
  return [=](ZipBuilder& b) { b.entries[2] = plain_entry(zip_entry(name, blob("x"))); };
}

/// A change of the plain zip that puts these empty entries in place of all.
auto names_alone(const std::vector<std::string>& names) {
  return [=](ZipBuilder& b) {
    b.entries.clear();
    for (const std::string& name : names) b.entries.push_back(plain_entry(zip_entry(name, {})));
  };
}

void expect_refused_at(Code code, const Blob& bytes, std::size_t offset) {
  EXPECT_EQ(refusal_of_zip(bytes), (ErrorContext{code, "", offset}));
}

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
  expect_refused_at(Code::zip_end_not_last, built.bytes, built.end_offset);
  const Built short_comment = changed([](ZipBuilder& b) {
    b.comment = "comment";
    b.end.comment_length = std::uint16_t{6};
  });
  expect_refused_at(Code::zip_end_not_last, short_comment.bytes, short_comment.end_offset);
}

TEST(ForeignRefusals, ASecondEndRecordIsRefused) {
  // A whole zip in the comment of another one: some readers take the outer one, some the inner one.
  const Built outer = plain_zip().build_placed();
  ZipBuilder inner_builder = plain_zip();
  inner_builder.prefix = outer.bytes;
  const Built inner = inner_builder.build_placed();
  Blob both = inner.bytes;
  put_u16(both, outer.end_offset + 20, static_cast<std::uint16_t>(both.size() - outer.bytes.size()));
  expect_refused_at(Code::zip_end_ambiguous, both, outer.end_offset);
  // One in a comment.
  Blob fake = blob("PK\5\6");
  fake.resize(22);
  const Built commented = changed([&](ZipBuilder& b) { b.comment = text_of(fake); });
  expect_refused_at(Code::zip_end_directory_bounds, commented.bytes, commented.end_offset + 22);
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

TEST(ForeignRefusals, RefusesUnlistedFirstLocalHeader) {
  const Built first = changed([](ZipBuilder& b) { b.entry(model_entry).listed = false; });
  expect_refused_at(Code::zip_entry_unlisted, first.bytes, 0);
  const Built after_a_prefix = changed([](ZipBuilder& b) {
    b.prefix = blob("#!/bin/sh");
    b.entry(model_entry).listed = false;
  });
  expect_refused_at(Code::zip_entry_unlisted, after_a_prefix.bytes, 9);
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
  expect_refused_at(Code::zip_end_directory_bounds, built.bytes, built.end_offset);
}

TEST(ForeignRefusals, SeveralDisksAreRefused) {
  const Built end = changed([](ZipBuilder& b) { b.end.disk = std::uint16_t{1}; });
  expect_refused_at(Code::zip_end_multi_disk, end.bytes, end.end_offset);
  expect_central_refused(Code::zip_entry_disk, [](CentralFields& c) { c.disk = std::uint16_t{1}; });
}

TEST(ForeignRefusals, CountsAreComparedWithTheDirectory) {
  const auto said = [](std::uint16_t count) {
    return changed([=](ZipBuilder& b) { b.end.entries = b.end.entries_on_disk = count; });
  };
  const Built many = said(2000);
  expect_refused_at(Code::zip_directory_count, many.bytes, many.directory_offset);
  const Built more = changed([](ZipBuilder& b) {
    b.entry("a").central.comment = std::string(60, 'c');
    b.end.entries = b.end.entries_on_disk = std::uint16_t{4};
  });
  expect_refused_at(Code::zip_directory_header, more.bytes, more.end_offset);
  const Built fewer = said(2);
  expect_refused_at(Code::zip_directory_count, fewer.bytes, fewer.entry("b").central_offset);
  const Built none = changed([](ZipBuilder& b) { b.entries.clear(); });
  expect_refused_at(Code::zip_directory_empty, none.bytes, none.directory_offset);
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
  expect_refused_at(Code::zip_directory_header, built.bytes, built.entry("b").central_offset);
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
    SCOPED_TRACE(escaped(name));
    expect_refused_in_directory(code, name,
                                [&, &bad = name](ZipBuilder& b) { b.entries[1] = plain_entry(zip_entry(bad, {})); });
  }
}

TEST(ForeignRefusals, NamesThatClashAreRefused) {
  const Built same = changed(naming_b("a"));
  EXPECT_EQ(refusal_of_zip(same.bytes), (ErrorContext{Code::zip_name_duplicate, "a", same.entries[2].central_offset}));
  expect_refused_in_directory(Code::zip_name_folded, "A", naming_b("A"));
  expect_refused_in_directory(Code::zip_name_prefix, "a/b", naming_b("a/b"));
  expect_refused_in_directory(Code::zip_name_prefix, "d/a/b", names_alone({"d/a", "d/a/b"}));
}

TEST(ForeignRefusals, NamesThatAReaderMakesEqualAreRefused) {
  for (const std::string name : {"a;1", "A;", "a;12", "c:a", "c:/a", "x:Y:a", "a.", "a ", "a. .", "c:a;1"}) {
    SCOPED_TRACE(name);
    expect_refused_in_directory(Code::zip_name_duplicate, name, naming_b(name));
  }
  expect_refused_in_directory(Code::zip_name_duplicate, "d/w;1", names_alone({"d./w", "d/w;1"}));
  expect_refused_in_directory(Code::zip_name_duplicate, "a.", names_alone({"a", "a."}));
}

TEST(ForeignRefusals, NamesThatStayApartInEveryReaderAreRead) {
  for (const std::string name :
       {"a;x", "a;1x", "1:a", "cc:a", "d/c:a", "a;1/c", "c:b.x", "b.x;1", "b..x", " a", ";1"}) {
    EXPECT_EQ(refusal_of_zip(changed(naming_b(name)).bytes), std::nullopt) << name;
  }
}

TEST(ForeignRefusals, AFileWithTheNameOfAFolderIsRefused) {
  for (const std::string name : {"a/", "A/", "a/b/", "b/c/d/"}) {
    SCOPED_TRACE(name);
    expect_refused_in_directory(Code::zip_name_prefix, name,
                                [&](ZipBuilder& b) { b.entries.push_back(plain_entry(zip_entry(name, {}))); });
  }
}

TEST(ForeignRefusals, AFolderWithDataIsRefused) {
  expect_refused_in_directory(Code::zip_name_directory, "f/",
                              [](ZipBuilder& b) { b.entries[1] = plain_entry(zip_entry("f/", blob("data"))); });
}

TEST(ForeignRefusals, AZip64EndRecordOfAnUnknownVersionIsRefused) {
  const Built built = changed([](ZipBuilder& b) {
    b.force_zip64 = true;
    b.zip64_end.version_needed = std::uint16_t{46};
  });
  expect_refused_at(Code::zip_zip64_record, built.bytes, *built.zip64_end_offset);
}

TEST(ForeignRefusals, SizesThatCannotBeAreRefused) {
  expect_refused_in_directory(Code::zip_entry_sizes, "a",
                              [](ZipBuilder& b) { b.entry("a").in_both([](HeaderFields& h) { h.usize = 200; }); });
  expect_refused_in_directory(Code::zip_data_inflate, "a", [](ZipBuilder& b) {
    b.entries[1] = plain_entry(deflated_entry("a", pattern(100)));
    b.entries[1].in_both([](HeaderFields& h) { h.usize = 1ULL << 50U; });
  });
  for (const std::uint64_t size : {1ULL << 20U, 0xfffffffeULL, 1ULL << 63U, ~0ULL}) {
    const Built built = changed_a([=](ZipEntry& e) { e.in_both([=](HeaderFields& h) { h.csize = h.usize = size; }); });
    EXPECT_EQ(refusal_of_zip(built.bytes)->code,
              size < 0xffffffff ? Code::zip_entry_bounds : Code::zip_zip64_extra);  // no room for the field
  }
}

TEST(ForeignRefusals, OffsetsThatCannotBeAreRefused) {
  for (const std::uint64_t offset : {1ULL << 20U, 0xfffffffeULL, 1ULL << 63U, ~0ULL}) {
    expect_central_refused(Code::zip_entry_bounds, [=](CentralFields& c) { c.header_offset = offset; });
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

TEST(ForeignRefusals, RefusesOneLocalHeaderForTwoEntries) {
  const Built built = changed([](ZipBuilder& b) { b.directory_order = {{0, 1, 1, 2}}; });
  EXPECT_EQ(refusal_of_zip(built.bytes), at_header(Code::zip_entry_overlap, built, "a"));
}

// With the fields of one header read for each of them, this takes minutes.
TEST(ForeignRefusals, ReadsOneHeaderOfManyEntriesAtMostTwice) {
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

TEST(ForeignRefusals, RefusesSignatureRightBeforeTheFirstEntry) {
  const Built local = changed([](ZipBuilder& b) { b.prefix = blob("PK\3\4"); });
  expect_refused_at(Code::zip_entry_unlisted, local.bytes, 0);
  const Built end = changed([](ZipBuilder& b) { b.prefix = blob("PK\5\6"); });
  expect_refused_at(Code::zip_end_ambiguous, end.bytes, 0);
}

TEST(ForeignRefusals, AnEndRecordBetweenTwoEntriesIsRefused) {
  for (const std::size_t before : {std::size_t{0}, std::size_t{1}}) {
    Blob gap(before + 22);
    put_u32(gap, before, signature::end);
    Built built = changed_a([&](ZipEntry& e) { e.gap_after = gap; });
    const std::size_t at = built.entry("a").data_offset + 100 + before;
    put_u16(built.bytes, at + 20, static_cast<std::uint16_t>(built.bytes.size() - at - 22));
    expect_refused_at(Code::zip_end_ambiguous, built.bytes, at);
  }
}

}  // namespace
}  // namespace onnxar::testing
