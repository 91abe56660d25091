// Archives that are read by ranges: the bytes and the errors are those of a file in memory, and what is read is
// counted.
#include <gtest/gtest.h>

#include "archive/access.h"
#include "archive/container_check.h"
#include "archive/entry_source.h"
#include "archive/opened.h"
#include "onnxar/archive.h"
#include "os/pages.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

/// Entries `w0` to `w9` of 100 000 bytes each, and the model.
Built ten_weights() {
  std::vector<ZipEntry> entries;
  for (int i = 0; i < 10; ++i) entries.push_back(zip_entry("w" + std::to_string(i), pattern(100'000)));
  return built_with(std::move(entries));
}

Blob copied_out(const Archive& archive, const ArchiveEntry& entry) {
  Blob found;
  archive.copy(entry, [&found](Bytes piece) { found.insert(found.end(), piece.begin(), piece.end()); });
  return found;
}

std::vector<std::string> finding_lines(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) lines.push_back(to_string(finding));
  return lines;
}

TEST(Ranges, OpeningReadsEndAndDirectoryOnly) {
  const Built built = ten_weights();
  const auto file = by_ranges(built.bytes);
  const Archive archive = Archive::open(file);
  EXPECT_LE(file->calls, 2U);
  for (const RangedBlob::Read& read : file->reads) EXPECT_GT(read.offset + 100'000, built.directory_offset);
  EXPECT_EQ(archive.size(), 11U);
  EXPECT_EQ(archive.path(), "blob:x");
  EXPECT_EQ(archive.file().size(), built.bytes.size());
}

TEST(Ranges, AnEntryTakesOneCallTheFirstTime) {
  const Built built = ten_weights();
  const auto file = by_ranges(built.bytes);
  const Archive archive = Archive::open(file);
  const std::size_t before = file->calls;
  EXPECT_EQ(copy_of(archive.bytes(*archive.find("w4"))), pattern(100'000));
  EXPECT_EQ(file->calls, before + 1);
  EXPECT_EQ(copy_of(archive.bytes(*archive.find("w4"))), pattern(100'000));
  EXPECT_EQ(archive.locate(*archive.find("w4")).offset, built.entry("w4").data_offset);
  EXPECT_EQ(archive.locate(*archive.find("w4")).alignment, 64U);
  EXPECT_EQ(file->calls, before + 1);
}

TEST(Ranges, ASourceOfAnEntryFetchesIt) {
  const Archive archive = Archive::open(by_ranges(ten_weights().bytes));
  EXPECT_EQ(all_of(EntrySource(archive, *archive.find("w5"))), pattern(100'000));
}

TEST(Ranges, AViewOutlivesTheArchive) {
  std::optional<Archive> archive = Archive::open(by_ranges(ten_weights().bytes));
  const std::shared_ptr<const void> owner = archive->owner();
  ASSERT_NE(owner, nullptr);
  const Bytes bytes = archive->bytes(archive->entry(3));
  archive.reset();
  EXPECT_EQ(copy_of(bytes), pattern(100'000));
}

TEST(Ranges, ASliceReadsNoMoreThanItsPages) {
  const auto file = by_ranges(ten_weights().bytes);
  const Archive archive = Archive::open(file);
  file->reads.clear();
  const Blob expected = pattern(100'000);
  EXPECT_EQ(copy_of(archive.resolve("w2", 50'000, 10)), Blob(expected.begin() + 50'000, expected.begin() + 50'010));
  std::uint64_t sum = 0;
  for (const RangedBlob::Read& read : file->reads) sum += read.length;
  EXPECT_LE(sum, 2 * os::mapping_granularity());
  EXPECT_EQ(code_of([&] { return archive.resolve("w2", 50'000, 60'000).size(); }), Code::onnx_external_out_of_range);
}

TEST(Ranges, PrefetchedEntriesTakeOneCall) {
  const auto file = by_ranges(ten_weights().bytes);
  const Archive archive = Archive::open(file);
  const std::vector<ArchiveEntry> entries = {archive.entry(7), archive.entry(1), archive.entry(2)};
  const std::size_t before = file->calls;
  archive.prefetch(entries, Prefetch::none);
  archive.prefetch(entries, Prefetch::will_need);
  EXPECT_EQ(file->calls, before);
  archive.prefetch(entries, Prefetch::populate);
  EXPECT_EQ(file->calls, before + 1);
  for (const ArchiveEntry& entry : entries) EXPECT_EQ(copy_of(archive.bytes(entry)), pattern(100'000));
  EXPECT_EQ(file->calls, before + 1);
}

TEST(Ranges, PrefetchWhenOpenedReadsEverything) {
  const auto file = by_ranges(ten_weights().bytes);
  const Archive archive = Archive::open(file, {.prefetch = Prefetch::populate});
  file->fails = true;
  for (const ArchiveEntry& entry : archive.entries()) archive.verify(entry);
}

TEST(Ranges, CopiesAreVerifiedAndNotKept) {
  const Built built = ten_weights();
  const auto file = by_ranges(built.bytes);
  const Archive archive = Archive::open(file);
  for (int i = 0; i < 2; ++i) {
    const std::size_t before = file->calls;
    EXPECT_EQ(copied_out(archive, archive.entry(5)), pattern(100'000));
    archive.verify(archive.entry(2));  // elsewhere
    EXPECT_EQ(file->calls, before + 2);
  }
  Blob buffer(100'000);
  read_entry(archive, archive.entry(0), buffer);
  EXPECT_EQ(buffer, pattern(100'000));
}

TEST(Ranges, CopyingAllEntriesReadsAhead) {
  std::vector<ZipEntry> entries;
  for (int i = 0; i < 500; ++i) entries.push_back(zip_entry("w" + std::to_string(i), pattern(1000)));
  const auto file = by_ranges(built_with(std::move(entries)).bytes);
  const Archive archive = Archive::open(file);
  for (const ArchiveEntry& entry : archive.entries()) archive.verify(entry);
  EXPECT_LT(file->calls, 20U);
}

TEST(Ranges, AnEntryOfManyPiecesIsCopied) {
  constexpr std::size_t size = (17U << 20U) + 5;
  const Archive archive = Archive::open(by_ranges(built_with({zip_entry("w", pattern(size))}).bytes));
  EXPECT_EQ(copied_out(archive, archive.entry(0)), pattern(size));
}

TEST(Ranges, AWrongCrcIsReportedAsInAFile) {
  Built built = ten_weights();
  flip_bit(built.bytes, built.entry("w5").data_offset + 7);
  const Archive archive = Archive::open(by_ranges(built.bytes));
  const auto expected = ErrorContext{Code::zip_data_crc, "w5", built.entry("w5").data_offset};
  const auto refused = [&](const auto& use) { return refusal_of([&] { use(archive.entry(5)); }); };
  EXPECT_EQ(refused([&](const ArchiveEntry& entry) { archive.verify(entry); }), expected);
  EXPECT_EQ(refused([&](const ArchiveEntry& entry) { copied_out(archive, entry); }), expected);
  Blob buffer(100'000);
  EXPECT_EQ(refused([&](const ArchiveEntry& entry) { read_entry(archive, entry, buffer); }), expected);
}

TEST(Ranges, EveryUseRefusesAFaultyLocalHeader) {
  Built built = ten_weights();
  flip_bit(built.bytes, built.entry("w5").header_offset + 30);  // the name
  const auto expected = ErrorContext{Code::zip_local_name, "w5", built.entry("w5").header_offset};
  const std::vector<std::function<void(const Archive&, const ArchiveEntry&)>> uses = {
      [](const Archive& archive, const ArchiveEntry& entry) { static_cast<void>(archive.bytes(entry)); },
      [](const Archive& archive, const ArchiveEntry& entry) { static_cast<void>(archive.locate(entry)); },
      [](const Archive& archive, const ArchiveEntry& entry) { archive.verify(entry); },
      [](const Archive& archive, const ArchiveEntry& entry) { copied_out(archive, entry); },
      [](const Archive& archive, const ArchiveEntry&) { static_cast<void>(archive.resolve("w5", 90'000, 10)); },
      [](const Archive& archive, const ArchiveEntry& entry) {
        archive.prefetch(std::vector{entry}, Prefetch::populate);
      }};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    SCOPED_TRACE(i);
    const Archive archive = Archive::open(by_ranges(built.bytes));
    EXPECT_EQ(refusal_of([&] { uses[i](archive, archive.entry(5)); }), expected);
  }
}

/// An archive in which the directory alone misleads. The data of `w` begins at 64, and the superseded tail after it is
/// as long as makes 4096, where data of this size usually begins, look like its place.
Built with_misleading_tail() {
  constexpr std::size_t size = 1U << 20U;
  const auto with_producer = [](std::size_t length) {
    ZipBuilder builder;
    builder.entries = {zip_entry("w", pattern(size)),
                       zip_entry(model_entry, smallest_model(256, std::string(length, 'p')))};
    builder.entries.front().alignment = 64;
    return edited(builder.build_placed(), "second", {zip_entry("added", pattern(100))});
  };
  constexpr std::size_t length = 3000;
  return with_producer(length + size + 4096 - with_producer(length).entry("added").header_offset);
}

TEST(Ranges, ReadsEntryBeforeMisleadingTailWhereItIs) {
  const Built built = with_misleading_tail();
  ASSERT_EQ(built.entry("w").data_offset, 64U);
  ASSERT_EQ(built.entry("added").header_offset - (1U << 20U), 4096U);
  const std::vector<std::function<Blob(const Archive&)>> uses = {
      [](const Archive& archive) { return copy_of(archive.bytes(archive.entry(0))); },
      [](const Archive& archive) { return copy_of(archive.resolve("w")); },
      [](const Archive& archive) { return copied_out(archive, archive.entry(0)); },
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    SCOPED_TRACE(i);
    const Archive archive = Archive::open(by_ranges(built.bytes));
    EXPECT_EQ(uses[i](archive), pattern(1U << 20U));
    EXPECT_EQ(archive.locate(archive.entry(0)).offset, 64U);
  }
}

TEST(Ranges, EveryStateOfAnEditedArchiveIsReadAsAFile) {
  for (const Built& built : {with_misleading_tail(), edited(edited(ten_weights(), "second"), "third")}) {
    const Archive whole = opened(built.bytes);
    const Archive archive = Archive::open(by_ranges(built.bytes));
    ASSERT_EQ(archive.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(archive.locate(archive.entry(i)).offset, whole.locate(whole.entry(i)).offset);
      EXPECT_TRUE(std::ranges::equal(archive.bytes(archive.entry(i)), whole.bytes(whole.entry(i))));
      EXPECT_EQ(copied_out(archive, archive.entry(i)), copy_of(whole.bytes(whole.entry(i))));
    }
    EXPECT_EQ(finding_lines(check_container(archive)), finding_lines(check_container(whole)));
    EXPECT_TRUE(same_state(archive, whole));
  }
}

TEST(Ranges, ChecksOfTheContainerReadAllHeadersInOneCall) {
  const auto file = by_ranges(ten_weights().bytes);
  const Archive archive = Archive::open(file);
  const std::size_t before = file->calls;
  EXPECT_EQ(finding_lines(check_container(archive)), std::vector<std::string>());
  EXPECT_EQ(file->calls, before + 1);
}

TEST(Ranges, EachFlippedBitCausesTheErrorOfAFile) {
  const Built built = edited(smallest_archive(), "second");
  const auto outcome = [](const Archive& archive) {
    std::string all;
    for (const ArchiveEntry& entry : archive.entries()) {
      all += as_text(archive.bytes(entry));
      archive.verify(entry);
    }
    return all;
  };
  const auto told = [](const auto& action) {
    const auto error = error_if_any(action);
    // Only a file that is at hand is searched for the sum of early writers, and has no name.
    return error ? std::string(id(error->code())) + escaped(error->entry()) + error->message() : std::string();
  };
  for (std::size_t at = 0; at < built.bytes.size(); ++at) {
    Blob damaged = built.bytes;
    flip_bit(damaged, at, static_cast<unsigned>(at % 8));
    const auto file = by_ranges(damaged);
    EXPECT_EQ(told([&] { return outcome(Archive::open(file)); }), told([&] { return outcome(opened(damaged)); })) << at;
  }
}

TEST(Ranges, ErrorsOfTheSourcePassThroughAndAreNotKept) {
  const auto file = by_ranges(ten_weights().bytes);
  file->fails = true;
  EXPECT_EQ(code_of([&] { return Archive::open(file).size(); }), Code::io_failed);
  file->fails = false;
  const Archive archive = Archive::open(file);
  file->fails = true;
  EXPECT_EQ(code_of([&] { return archive.bytes(archive.entry(1)).size(); }), Code::io_failed);
  EXPECT_EQ(code_of([&] { return copied_out(archive, archive.entry(1)).size(); }), Code::io_failed);
  file->fails = false;
  EXPECT_EQ(copy_of(archive.bytes(archive.entry(1))), pattern(100'000));
}

TEST(Ranges, StatesThatCannotBeReadAreNotTheSame) {
  ZipBuilder builder;
  builder.entries = {zip_entry(model_entry, pattern(1'000'000))};  // not read together with the directory
  const Blob bytes = builder.build_placed().bytes;
  const auto file = by_ranges(bytes);
  const Archive archive = Archive::open(file);
  file->fails = true;
  EXPECT_FALSE(same_state(archive, opened(bytes)));
  file->fails = false;
  EXPECT_TRUE(same_state(archive, opened(bytes)));
}

/// As a program's own may be: an exception of any type.
class ThrowsNumbers final : public RandomAccess {
 public:
  explicit ThrowsNumbers(std::shared_ptr<const RandomAccess> file) : file_(std::move(file)) {}
  [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
  void read(std::span<const RangeTarget> ranges) const override {
    if (throws) throw 7;  // NOLINT(hicpp-exception-baseclass): that is the test
    file_->read(ranges);
  }
  bool throws = false;

 private:
  std::shared_ptr<const RandomAccess> file_;
};

TEST(Ranges, StatesWhoseReadThrowsAnythingAreNotTheSame) {
  ZipBuilder builder;
  builder.entries = {zip_entry(model_entry, pattern(1'000'000))};
  const Blob bytes = builder.build_placed().bytes;
  const auto file = std::make_shared<ThrowsNumbers>(by_ranges(bytes));
  const Archive archive = Archive::open(file);
  file->throws = true;
  EXPECT_FALSE(same_state(archive, opened(bytes)));
}

TEST(Ranges, ReportsTheKindOfAFileThatIsNotAnArchive) {
  expect_error(error_if_any([] { return Archive::open(by_ranges(blob(std::string(5'000'000, '\x93')))).size(); }),
               {.code = Code::zip_end_missing, .path = "blob:x", .hint = Hint::make_anew});
  const std::string numpy = "\x93NUMPY" + std::string(5'000'000, ' ');
  const auto other = error_if_any([&] { return Archive::open(by_ranges(blob(numpy))).size(); });
  ASSERT_TRUE(other);
  EXPECT_EQ(other->advice().hint, Hint::kind_other);
}

TEST(Ranges, RefusesNullFile) {
  EXPECT_EQ(code_of([] { return Archive::open(std::shared_ptr<const RandomAccess>()).size(); }), Code::usage_argument);
}

}  // namespace
}  // namespace onnxar::testing
