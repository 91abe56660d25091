// Archives that are read by ranges: the bytes and the errors are those of a file in memory, and what is read is
// counted.
#include <gtest/gtest.h>

#include "archive/access.h"
#include "archive/container_check.h"
#include "archive/entry_source.h"
#include "archive/opened.h"
#include "archive/ranged_entries.h"
#include "onnxar/archive.h"
#include "onnxar/tensors.h"
#include "os/pages.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

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

TEST(Ranges, ThePlaceOfAnEntryOfAnotherArchiveIsRefused) {
  const Archive archive = Archive::open(by_ranges(ten_weights().bytes));
  ArchiveEntry entry = archive.entry(3);
  EXPECT_EQ(ArchiveAccess::place(archive, entry).size(), 100'000U);
  ++entry.size;
  EXPECT_EQ(code_of([&] { return ArchiveAccess::place(archive, entry).size(); }), Code::usage_foreign_entry);
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

TEST(Ranges, DataOfLinkedTensorIsRead) {
  const Blob weight = pattern(100'000);
  const Message model = model_of({linked_floats("w", 25'000, "w")});
  const Archive archive = Archive::open(by_ranges(archive_of(model, {zip_entry("w", weight)}).bytes));
  const ByteSpan data = tensor_data(archive, tensors(archive).front());
  EXPECT_EQ(copy_of(data.bytes()), weight);
}

TEST(Ranges, StatesThatCannotBeReadAreNotTheSame) {
  ZipBuilder builder;
  builder.entries = {zip_entry(model_entry, pattern(1'000'000))};  // not read together with the directory
  const Blob bytes = builder.build_placed().bytes;
  const auto file = by_ranges(bytes);
  const Archive archive = Archive::open(file);
  file->fails = true;
  EXPECT_FALSE(same_state(archive, opened(bytes)));
  EXPECT_FALSE(same_state(opened(bytes), archive));
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
