// The directory as a whole: counts, order, places, names, and what it proves of a file.
#include "zip/directory.h"

#include <gtest/gtest.h>

#include "zip/reading.h"

namespace onnxar::testing {
namespace {

/// Entries `a`, `b`, `c` of 100 bytes each, and the model.
ZipBuilder four_entries() {
  ZipBuilder builder = smallest_builder();
  builder.entries.erase(builder.entries.begin());
  for (const char* const name : {"c", "b", "a"}) {
    builder.entries.insert(builder.entries.begin(), zip_entry(name, pattern(100)));
  }
  return builder;
}

template <typename Change>
Built changed_four(const Change& change) {
  ZipBuilder builder = four_entries();
  change(builder);
  return builder.build_placed();
}

ErrorContext behind_data(Code code, const Built& built, std::string_view entry) {
  const PlacedEntry& place = built.entry(entry);
  return {code, std::string(entry), place.data_offset + place.data_size};
}

TEST(Directory, TellsEveryEntryInTheOrderOfTheFile) {
  const Built built = four_entries().build_placed();
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  ASSERT_EQ(directory.entries().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const PlacedEntry& place = built.entries[i];
    EXPECT_EQ(directory.entries()[i].name, place.name);
    EXPECT_EQ(directory.entries()[i].size, place.data_size);
    EXPECT_EQ(directory.find(place.name), i);
    EXPECT_EQ(directory.data_offset(built.bytes, i), place.data_offset);
    EXPECT_EQ(directory.limit_of(i), i < 3 ? built.entries[i + 1].header_offset : built.directory_offset);
  }
  EXPECT_FALSE(directory.find("A"));
  EXPECT_FALSE(directory.find("d"));
  EXPECT_EQ(directory.offset(), built.directory_offset);
  EXPECT_FALSE(directory.unneeded_zip64());
}

TEST(Directory, ProvedNumbersOutliveAChangeOfTheFile) {
  Built built = smallest_archive();
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  EXPECT_EQ(directory.data_offset(built.bytes, 0), 64U);
  std::fill(built.bytes.begin(), built.bytes.end(), std::byte{0xAA});
  EXPECT_EQ(directory.entries()[0].name, "w");
  EXPECT_EQ(directory.find(model_entry), 1U);
  EXPECT_EQ(directory.data_offset(built.bytes, 0), 64U);
}

TEST(Directory, LocalHeadersAreProvedAtFirstUseOnly) {
  Built built = smallest_archive();
  flip_bit(built.bytes, built.entry(model_entry).header_offset);
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  EXPECT_EQ(directory.data_offset(built.bytes, 0), 64U);
  const auto first_use = [&] { return refusal_of([&] { return directory.data_offset(built.bytes, 1); }); };
  EXPECT_EQ(first_use(), at_header(Code::zip_local_header, built, model_entry));
  EXPECT_EQ(first_use(), at_header(Code::zip_local_header, built, model_entry));  // and stays refused
}

TEST(Directory, ProofForAnotherPurposeCountsAsFirstUse) {
  Built built = smallest_archive();
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  EXPECT_EQ(directory.prove_local(built.bytes, 0).data_offset, 64U);
  flip_bit(built.bytes, 0);
  EXPECT_EQ(directory.data_offset(built.bytes, 0), 64U);
}

TEST(Directory, HeaderOnItsOwnProvesAnEntryThatEndsRegularly) {
  const Built built = smallest_archive();
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  ASSERT_EQ(directory.regular_header_size(0), 64U);
  const Blob nothing(built.bytes.size());
  const auto proved = [&] { return !refusal_of([&] { return directory.data_offset(nothing, 0); }); };
  Blob header(built.bytes.begin(), built.bytes.begin() + 64);
  directory.prove_regular(Bytes(header).first(63), 0);
  EXPECT_FALSE(proved());
  flip_bit(header, 14);
  directory.prove_regular(header, 0);
  EXPECT_FALSE(proved());
  flip_bit(header, 14);
  directory.prove_regular(header, 0);
  EXPECT_TRUE(proved());
  EXPECT_EQ(directory.data_offset(nothing, 0), 64U);
}

/// An archive of 65 entries as stock zip tools lay them out, each with this name and these local extra fields.
Built stock_archive(std::string_view name, const Blob& local_extra) {
  ZipBuilder builder = smallest_builder();
  builder.entries.clear();
  for (std::size_t i = 0; i < 64; ++i) {
    ZipEntry& entry = builder.entries.emplace_back(
        zip_entry(std::string(name) + static_cast<char>('A' + i / 8) + static_cast<char>('0' + i % 8), pattern(1024)));
    entry.local.extra = local_extra;
  }
  builder.entries.push_back(smallest_builder().entry(model_entry));
  return builder.build_placed();
}

/// Whether the archive opens although no local header is one.
bool opens_without_local_headers(Built built) {
  for (const PlacedEntry& entry : built.entries) flip_bit(built.bytes, entry.header_offset);
  return !refusal_of([&] { return zip::Directory::read(built.bytes, {}).offset(); });
}

TEST(Directory, StockArchivesOpenWithoutALookAtTheirLocalHeaders) {
  Blob padding(64 - 30 - 3 - 4);
  put_u16(padding, 0, 64);
  const std::string aligned(32, 'n');
  for (const Built& built : {stock_archive("n", extra_record(0xA11E, padding)), stock_archive(aligned, Blob()),
                             stock_archive("n", extra_record(0xD935, padding))}) {
    EXPECT_EQ(refusal_of_archive(built.bytes), std::nullopt);
    EXPECT_TRUE(opens_without_local_headers(built));
    const zip::Directory directory = zip::Directory::read(built.bytes, {});
    for (std::size_t i = 0; i < built.entries.size(); ++i) {
      const PlacedEntry& entry = built.entries[i];
      EXPECT_EQ(directory.regular_header_size(i), entry.data_offset - entry.header_offset);
    }
  }
}

TEST(Directory, DataFartherThanNeededIsLocatedWhenTheFileIsOpened) {
  Blob padding(128 - 30 - 3 - 4);
  put_u16(padding, 0, 64);
  const Built built = stock_archive("n", extra_record(0xD935, padding));
  EXPECT_EQ(refusal_of_archive(built.bytes), std::nullopt);
  EXPECT_FALSE(opens_without_local_headers(built));
}

TEST(Directory, DataThatIsNotAtItsUsualPlaceIsSeenAtFirstUse) {
  // The name ends at 64: data may begin there without a record, and at 128 with one. It begins at 64 and is followed by
  // 64 bytes of nothing, so that the directory alone speaks for 128.
  const Built built = changed_entry([](ZipEntry& w) {
    w.in_both([](HeaderFields& header) { header.name = std::string(34, 'w'); });
    w.local.extra = Blob();
    w.gap_after = Blob(64);
  });
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  EXPECT_EQ(directory.regular_header_size(0), 128U);
  EXPECT_EQ(refusal_of([&] { return directory.data_offset(built.bytes, 0); }),
            (ErrorContext{Code::zip_entry_gap, std::string(34, 'w'), 64 + 1024}));
}

TEST(Directory, HeadersOfOtherEntriesAreReadWithTheFile) {
  ZipBuilder builder = smallest_builder();
  builder.entries[0].alignment = 4096;
  const Built built = builder.build_placed();
  EXPECT_EQ(zip::Directory::read(built.bytes, {}).regular_header_size(0), 0U);
}

void expect_no_page_touched_before_the_directory(const Built& built) {
  constexpr std::size_t untouched = 61440;  // whole pages
  ASSERT_GT(built.directory_offset, untouched + 1024);
  GuardedBuffer file = GuardedBuffer::starting_after_guard(built.bytes);
  file.forbid(0, untouched);
  EXPECT_EQ(refusal_of([&] { return zip::Directory::read(file.bytes(), {}).offset(); }), std::nullopt);
}

TEST(Directory, OpeningTouchesNoPageBeforeTheDirectory) {
  expect_no_page_touched_before_the_directory(smallest_builder(pattern(65536)).build_placed());
}

TEST(Directory, OpeningAStockArchiveTouchesNoPageBeforeTheDirectory) {
  Blob padding(64 - 30 - 3 - 4);
  put_u16(padding, 0, 64);
  expect_no_page_touched_before_the_directory(stock_archive("n", extra_record(0xA11E, padding)));
  expect_no_page_touched_before_the_directory(stock_archive(std::string(32, 'n'), Blob()));
}

TEST(Directory, ArchiveWithoutEntriesIsRefused) {
  const Built built = changed_archive([](ZipBuilder& b) { b.entries.clear(); });
  EXPECT_EQ(refusal_of_directory(built.bytes), (ErrorContext{Code::zip_directory_empty, "", 0}));
  const Built said = changed_archive([](ZipBuilder& b) { b.end.entries = b.end.entries_on_disk = std::uint16_t{0}; });
  EXPECT_EQ(refusal_of_directory(said.bytes), (ErrorContext{Code::zip_directory_empty, "", said.directory_offset}));
}

TEST(Directory, CountIsComparedWithTheSizeOfTheDirectoryFirst) {
  const Built more = changed_archive([](ZipBuilder& b) { b.end.entries = b.end.entries_on_disk = std::uint16_t{3}; });
  EXPECT_EQ(refusal_of_directory(more.bytes), (ErrorContext{Code::zip_directory_count, "", more.directory_offset}));
  const Built most = changed_archive([](ZipBuilder& b) {
    b.force_zip64 = true;
    b.zip64_end.entries = b.zip64_end.entries_on_disk = 1ULL << 40U;
  });
  EXPECT_EQ(refusal_of_directory(most.bytes), (ErrorContext{Code::zip_directory_count, "", most.directory_offset}));
}

TEST(Directory, CountThatIsTooHighRunsOutOfHeaders) {
  const Built built = changed_archive([](ZipBuilder& b) {
    b.entries[0].name = std::string(60, 'n');
    b.end.entries = b.end.entries_on_disk = std::uint16_t{3};
  });
  EXPECT_EQ(refusal_of_directory(built.bytes), (ErrorContext{Code::zip_directory_header, "", built.end_offset}));
}

TEST(Directory, CountThatIsTooLowLeavesHeadersOver) {
  const Built built = changed_archive([](ZipBuilder& b) { b.end.entries = b.end.entries_on_disk = std::uint16_t{1}; });
  EXPECT_EQ(refusal_of_directory(built.bytes),
            (ErrorContext{Code::zip_directory_count, "", built.entry(model_entry).central_offset}));
}

TEST(Directory, CountModulo65536IsRefused) {
  ZipBuilder builder = smallest_builder();
  while (builder.entries.size() < 65537) {
    builder.entries.insert(builder.entries.end() - 1, zip_entry("e" + std::to_string(builder.entries.size()), {}));
  }
  builder.write_zip64_end = builder.write_zip64_locator = false;
  Built built = builder.build_placed();
  put_u16(built.bytes, built.end_offset + 8, 1);
  put_u16(built.bytes, built.end_offset + 10, 1);
  put_u32(built.bytes, built.end_offset + 12, static_cast<std::uint32_t>(built.directory_size));
  put_u32(built.bytes, built.end_offset + 16, static_cast<std::uint32_t>(built.directory_offset));
  EXPECT_EQ(refusal_of_directory(built.bytes),
            (ErrorContext{Code::zip_directory_count, "", built.entries[1].central_offset}));
}

TEST(Directory, BytesAfterTheLastHeaderAreRefused) {
  const Built built = changed_archive([](ZipBuilder& b) { b.directory_tail = blob("PK\5\5signature"); });
  const PlacedEntry& model = built.entry(model_entry);
  EXPECT_EQ(refusal_of_directory(built.bytes),
            (ErrorContext{Code::zip_directory_count, "", model.central_offset + model.central_size}));
}

TEST(Directory, LimitsAreKept) {
  const Built built = four_entries().build_placed();
  const auto refusal = [&](const zip::Limits& limits) { return refusal_of_directory(built.bytes, limits); };
  EXPECT_EQ(refusal({4, built.directory_size}), std::nullopt);
  EXPECT_EQ(refusal({3, built.directory_size}), (ErrorContext{Code::zip_limit_entries, "", built.directory_offset}));
  EXPECT_EQ(refusal({4, built.directory_size - 1}),
            (ErrorContext{Code::zip_limit_directory, "", built.directory_offset}));
}

TEST(Directory, FirstEntryLiesAt0) {
  const Built prefixed = changed_archive([](ZipBuilder& b) { b.prefix = blob("PK00"); });
  EXPECT_EQ(refusal_of_directory(prefixed.bytes), in_directory(Code::zip_entry_first_offset, prefixed, "w"));
  const Built gap = changed_archive([](ZipBuilder& b) { b.entries[0].gap_before = Blob(34); });
  EXPECT_EQ(refusal_of_directory(gap.bytes), in_directory(Code::zip_entry_first_offset, gap, "w"));
  const Built unlisted = changed_four([](ZipBuilder& b) { b.entries[0].listed = false; });
  EXPECT_EQ(refusal_of_directory(unlisted.bytes), in_directory(Code::zip_entry_first_offset, unlisted, "b"));
}

TEST(Directory, OffsetsCountFromTheStartOfTheFile) {
  const Built built = changed_archive([](ZipBuilder& b) {
    b.prefix = Blob(64);
    b.offset_base = 64;
  });
  EXPECT_EQ(refusal_of_directory(built.bytes), (ErrorContext{Code::zip_end_directory_bounds, "", built.end_offset}));
}

TEST(Directory, EntriesLieInTheOrderOfTheDirectory) {
  const Built last_first = changed_four([](ZipBuilder& b) { b.directory_order = {{3, 0, 1, 2}}; });
  EXPECT_EQ(refusal_of_directory(last_first.bytes),
            in_directory(Code::zip_entry_first_offset, last_first, model_entry));
  const Built swapped = changed_four([](ZipBuilder& b) { b.directory_order = {{0, 2, 1, 3}}; });
  EXPECT_EQ(refusal_of_directory(swapped.bytes), in_directory(Code::zip_entry_order, swapped, "b"));
}

TEST(Directory, TwoEntriesHaveNoHeaderInCommon) {
  const Built built = changed_four([](ZipBuilder& b) { b.entries[2].central.header_offset = std::uint64_t{64 + 100}; });
  ASSERT_EQ(built.entry("b").header_offset, 164U);
  EXPECT_EQ(refusal_of_directory(built.bytes), in_directory(Code::zip_entry_order, built, "c"));
}

TEST(Directory, DataMayNotRunIntoTheNextEntry) {
  const auto expect_overlap = [](std::uint64_t size) {
    const Built built = changed_four([size](ZipBuilder& b) {
      b.entry("a").in_both([size](HeaderFields& header) { header.csize = header.usize = size; });
    });
    EXPECT_EQ(refusal_of_directory(built.bytes), at_header(Code::zip_entry_overlap, built, "a")) << size;
  };
  for (const std::uint64_t size :
       {std::uint64_t{164}, std::uint64_t{1000}, std::uint64_t{0x7FFFFFFF}, std::uint64_t{0xFFFFFFFE},
        std::uint64_t{1} << 40U, ~std::uint64_t{0} - 255, ~std::uint64_t{0}}) {
    expect_overlap(size);
  }
}

TEST(Directory, LocalHeadersOfUnalignedDataAreProvedAtOnce) {
  // As any zip tool writes them: header, name, data, the next header.
  const auto plain = [](ZipBuilder& b) {
    for (ZipEntry& entry : b.entries) entry.local.extra = Blob();
  };
  const Built first = changed_four(plain);
  EXPECT_EQ(refusal_of_directory(first.bytes), at_header(Code::zip_padding_alignment, first, "a"));
  const Built last = changed_archive([&](ZipBuilder& b) { b.entry(model_entry).local.extra = Blob(); });
  EXPECT_EQ(refusal_of_directory(last.bytes), at_header(Code::zip_padding_alignment, last, model_entry));
}

TEST(Directory, EntryInsideAnothersDataIsRefused) {
  // `a` holds a whole entry `b` in its data, and the directory lists both.
  const Built inner = changed_archive([](ZipBuilder& b) { b.entries[0] = zip_entry("b", pattern(64)); });
  const Built built = changed_four([&](ZipBuilder& b) {
    b.entry("a").data = inner.bytes;
    b.entry("b").written = false;
    b.entry("b").central.header_offset = std::uint64_t{64};
  });
  EXPECT_EQ(refusal_of_directory(built.bytes), at_header(Code::zip_entry_overlap, built, "a"));
}

TEST(Directory, LastEntryEndsBeforeTheDirectory) {
  const auto expect_bounds = [](std::uint64_t size) {
    const Built built = changed_archive([size](ZipBuilder& b) {
      b.entry(model_entry).in_both([size](HeaderFields& header) { header.csize = header.usize = size; });
    });
    EXPECT_EQ(refusal_of_directory(built.bytes), at_header(Code::zip_entry_bounds, built, model_entry)) << size;
  };
  for (const std::uint64_t size : {std::uint64_t{500}, std::uint64_t{5000}, std::uint64_t{0xFFFFFFFF},
                                   ~std::uint64_t{0} - 63, ~std::uint64_t{0}}) {
    expect_bounds(size);
  }
}

TEST(Directory, LastEntryBeginsBeforeTheDirectory) {
  const std::size_t directory = smallest_archive().directory_offset;
  for (const std::uint64_t offset : {std::uint64_t{directory}, std::uint64_t{directory} + 46, std::uint64_t{1} << 20U,
                                     std::uint64_t{1} << 63U, ~std::uint64_t{0} - 63, ~std::uint64_t{0}}) {
    const Built built = changed_archive([=](ZipBuilder& b) { b.entry(model_entry).central.header_offset = offset; });
    EXPECT_EQ(refusal_of_directory(built.bytes), in_directory(Code::zip_entry_bounds, built, model_entry)) << offset;
  }
}

TEST(Directory, OffsetIntoDataIsRefused) {
  const Built built =
      changed_archive([](ZipBuilder& b) { b.entry(model_entry).central.header_offset = std::uint64_t{100}; });
  EXPECT_EQ(refusal_of_directory(built.bytes), (ErrorContext{Code::zip_entry_overlap, "w", 0}));
}

TEST(Directory, BytesOfNoEntryAreRefused) {
  const Built orphan = changed_four([](ZipBuilder& b) { b.entry("b").listed = false; });
  EXPECT_EQ(refusal_of_directory(orphan.bytes), behind_data(Code::zip_entry_gap, orphan, "a"));
  const Built before_directory = changed_archive([](ZipBuilder& b) { b.gap_before_directory = Blob(64); });
  EXPECT_EQ(refusal_of_directory(before_directory.bytes),
            behind_data(Code::zip_entry_gap, before_directory, model_entry));
  const Built unknown_record = changed_four([](ZipBuilder& b) { b.entry("c").gap_before = blob("PK\6\x08____"); });
  EXPECT_EQ(refusal_of_directory(unknown_record.bytes), behind_data(Code::zip_entry_gap, unknown_record, "b"));
}

TEST(Directory, NamesAreDifferent) {
  const Built equal = changed_four([](ZipBuilder& b) { b.entry("c").in_both([](HeaderFields& h) { h.name = "a"; }); });
  EXPECT_EQ(refusal_of_directory(equal.bytes),
            (ErrorContext{Code::zip_name_duplicate, "a", equal.entry("c").central_offset}));
  const Built two_models = changed_four(
      [](ZipBuilder& b) { b.entry("a").in_both([](HeaderFields& h) { h.name = std::string(model_entry); }); });
  EXPECT_EQ(refusal_of_directory(two_models.bytes), in_directory(Code::zip_name_duplicate, two_models, model_entry));
}

TEST(Directory, NamesAreDifferentUnderFolding) {
  const Built folded = archive_of_names({"Weight", "b", "wEIGHT"});
  EXPECT_EQ(refusal_of_directory(folded.bytes), in_directory(Code::zip_name_folded, folded, "wEIGHT"));
  const Built model = archive_of_names({"__model_proto"});
  EXPECT_EQ(refusal_of_directory(model.bytes), in_directory(Code::zip_name_folded, model, model_entry));
  EXPECT_EQ(refusal_of_archive(archive_of_names({"a@", "a`", "a[", "a{"}).bytes), std::nullopt);
}

TEST(Directory, NoNameIsTheFolderOfAnother) {
  for (const auto& names : {std::vector<std::string>{"a", "a/b"}, {"a/b", "A"}, {"x/y/z", "q", "X/y"}}) {
    const Built built = archive_of_names(names);
    const auto refusal = refusal_of_directory(built.bytes);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code, Code::zip_name_prefix);
    const std::string& beneath = names[0].size() > 1 ? names[0] : names[1];
    EXPECT_EQ(refusal, in_directory(Code::zip_name_prefix, built, beneath));
  }
  EXPECT_EQ(refusal_of_archive(archive_of_names({"a", "ab/c", "a.b", "ab/d"}).bytes), std::nullopt);
}

std::size_t first_appended(const Built& built) {
  return zip::Directory::read(built.bytes, {}).first_appended(built.bytes);
}

TEST(Directory, EntriesOfTheFirstStateComeBeforeTheFirstThatAnEditAppended) {
  const Built plain = four_entries().build_placed();
  EXPECT_EQ(first_appended(plain), 4U);
  const Built once = append_edit(plain, smallest_model(256, "once"), {zip_entry("d", pattern(10))});
  EXPECT_EQ(first_appended(once), 3U);
  const Built twice = append_edit(once, smallest_model(256, "twice"), {zip_entry("e", pattern(10))});
  EXPECT_EQ(first_appended(twice), 3U);
}

TEST(Directory, AnEntryAtAnUnusualPlaceIsNotFollowedByAnEdit) {
  ZipBuilder builder = four_entries();
  builder.entries[1].alignment = 4096;
  EXPECT_EQ(first_appended(builder.build_placed()), 4U);
}

TEST(Directory, CountIsOnlyHeldAgainstTheSizeOfHeadersWithoutNames) {
  const Built built = changed_archive([](ZipBuilder& b) {
    b.entries.erase(b.entries.begin());
    b.entries[0].in_both([](HeaderFields& header) { header.name = ""; });
  });
  EXPECT_EQ(refusal_of_directory(built.bytes), (ErrorContext{Code::zip_name_empty, "", built.directory_offset}));
}

}  // namespace
}  // namespace onnxar::testing
