// Where an archive may be opened from, and what becomes of it when the file changes.
#include "archive/opening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "archive/access.h"
#include "archive/front_end.h"
#include "archive/opened.h"
#include "base/open_file.h"
#include "onnxar/archive.h"
#include "support/emulation.h"
#include "support/mappings.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t page = 4096;
const OpenOptions copied = {.copy_in = true};

std::uintptr_t address_of(Bytes bytes) { return reinterpret_cast<std::uintptr_t>(bytes.data()); }

os::File descriptor_of(const fs::path& path) {
  std::error_code ignored;
  return os::open(path, os::Access::read, ignored);
}

NativeHandle number_of(const os::File& file) { return NativeHandle(static_cast<std::intptr_t>(file.get())); }

/// Its weight takes 8 MiB. Made once, as the CRC takes its time.
const Built& large_archive() {
  static const Built built = smallest_builder(pattern(8U << 20U)).build_placed();
  return built;
}

/// A file with an archive in the middle, and other bytes before and after it.
class Embedded {
 public:
  Embedded(std::size_t offset, const Built& archive) : offset_(offset), built_(archive) {
    path_ = folder_.write_file("host", around(archive.bytes, offset));
    file_ = descriptor_of(path_);
  }

  [[nodiscard]] DescriptorRange range() const { return {number_of(file_), offset_, built_.bytes.size()}; }
  [[nodiscard]] const Built& built() const { return built_; }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] const os::File& file() const { return file_; }

 private:
  TempDir folder_;
  std::size_t offset_;
  Built built_;
  fs::path path_;
  os::File file_;
};

void expect_whole(const Archive& archive, const Built& built) {
  ASSERT_EQ(archive.size(), built.entries.size());
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    EXPECT_EQ(copy_of(archive.bytes(entry)), built.data_of(entry.name));
    EXPECT_EQ(archive.locate(entry).offset, built.entry(entry.name).data_offset);
    EXPECT_EQ(refusal_of([&] { archive.verify(entry); }), std::nullopt);
  }
}

// --- local headers ---------------------------------------------------------------------------------------------------

/// Opens an archive whose local header of `w` is wrong before, or becomes so right after. `at_once`: all headers are
/// read.
std::optional<ErrorContext> use_of_damaged(bool at_once, bool before) {
  const TempDir folder;
  const Built built = smallest_archive();
  const fs::path path = folder.write_file("a", built.bytes);
  const auto damage = [&] {
    const std::size_t crc = built.entry("w").header_offset + 14;
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(crc)).put(static_cast<char>(~std::to_integer<int>(built.bytes[crc])));
  };
  if (before) damage();
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const Archive archive = Archive::open(path);
  if (at_once) read_local_headers(archive);
  if (!before) damage();
  return refusal_of([&] { static_cast<void>(archive.resolve("w")); });
}

TEST(LocalHeaders, AreProvedOnceWhenOpeningOrAtFirstUse) {
  EXPECT_EQ(use_of_damaged(true, false), std::nullopt);
  for (const auto& [at_once, before] : {std::pair(true, true), std::pair(false, true), std::pair(false, false)}) {
    const auto refusal = use_of_damaged(at_once, before);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code, before ? Code::zip_local_field : Code::io_changed);
  }
}

TEST(LocalHeaders, OfEveryEntryAreReadFromWhereTheArchiveIs) {
  for (const std::uint64_t alignment : {64U, 4096U}) {  // as in a new archive, and otherwise
    ZipBuilder builder = smallest_builder();
    for (ZipEntry& entry : builder.entries) entry.alignment = alignment;
    const Embedded host(4160, builder.build_placed());
    const Archive archive = open_range(host.file(), {host.range().offset, host.range().length}, {}, host.path());
    read_local_headers(archive);
    for (std::size_t i = 0; i < archive.size(); ++i) {
      EXPECT_EQ(ArchiveAccess::directory(archive).proved_data_offset(i),
                host.built().entry(archive.entry(i).name).data_offset);
    }
  }
}

// --- an archive in another file -------------------------------------------------------------------------------------

TEST(DescriptorRange, ArchiveAtAnyMultipleOf64OfAFileIsOpened) {
  for (const std::size_t offset : {0U, 64U, 128U, 4032U, 4096U, 4160U, 1U << 20U}) {
    const Embedded host(offset, smallest_archive());
    for (const OpenOptions& options : {OpenOptions(), copied}) {
      const Archive archive = Archive::open(host.range(), options);
      expect_whole(archive, host.built());
      EXPECT_TRUE(archive.path().empty());
      EXPECT_EQ(copy_of(archive.file()), host.built().bytes);
    }
  }
}

TEST(DescriptorRange, WithoutALengthItGoesToTheEndOfTheFile) {
  const TempDir folder;
  const Built built = smallest_archive();
  Blob bytes = pattern(192);
  bytes.insert(bytes.end(), built.bytes.begin(), built.bytes.end());
  const auto file = descriptor_of(folder.write_file("host", bytes));
  expect_whole(Archive::open({number_of(file), 192, std::nullopt}), built);
}

TEST(DescriptorRange, DescriptorStaysTheCallersAndMayBeClosed) {
  const Embedded host(64, smallest_archive());
  os::File file = descriptor_of(host.path());
  const Archive archive = Archive::open({number_of(file), 64, host.built().bytes.size()});
  file = os::File();
  expect_whole(archive, host.built());
}

TEST(DescriptorRange, LocksOfTheCallerStay) {
  const Embedded host(64, smallest_archive());
  ASSERT_EQ(os::try_lock(host.file(), os::Lock::exclusive), os::Locking::done);
  expect_whole(Archive::open(host.range()), host.built());
  EXPECT_EQ(os::try_lock(descriptor_of(host.path()), os::Lock::shared), os::Locking::busy);
}

TEST(DescriptorRange, AlignsAddressesToOffsetEntryAndPage) {
  for (const std::uint64_t alignment : {64U, 4096U, 32768U}) {
    ZipBuilder builder = smallest_builder();
    for (ZipEntry& entry : builder.entries) entry.alignment = alignment;
    for (const std::size_t offset : {64U, 512U, 4096U, 65536U}) {
      const Embedded host(offset, builder.build_placed());
      const std::uint64_t of_offset = offset & ~(offset - 1);
      const Archive mapped = Archive::open(host.range());
      EXPECT_EQ(address_of(mapped.resolve("w")) % std::min<std::uint64_t>({page, alignment, of_offset}), 0U);
      EXPECT_EQ(address_of(mapped.file()) % page, offset % page);
      const Archive in_memory = Archive::open(host.range(), copied);
      EXPECT_EQ(address_of(in_memory.resolve("w")) % alignment, 0U);
    }
  }
}

TEST(DescriptorRange, OffsetsThat64DoesNotDivideAreRefused) {
  const Embedded host(64, smallest_archive());
  for (const std::uint64_t offset : {1U, 4U, 32U, 63U, 65U, 100U}) {
    expect_error(error_if_any([&] { return Archive::open({number_of(host.file()), offset, std::nullopt}); }),
                 {.code = Code::usage_argument, .says = {"multiple of 64", std::to_string(offset)}});
  }
}

TEST(DescriptorRange, CopyGetsTheAdviceOfTheMapping) {
  const TempDir folder;
  const os::File other = descriptor_of(folder.write_file("other", blob("GGUF" + std::string(1000, 'x'))));
  const auto error_with = [&](const OpenOptions& options) {
    return error_if_any([&] { return Archive::open({number_of(other), 0, std::nullopt}, options); });
  };
  const auto mapped = error_with({}), read = error_with(copied);
  ASSERT_TRUE(mapped && read);
  EXPECT_NE(mapped->advice().hint, Hint::none);
  EXPECT_EQ(read->advice().hint, mapped->advice().hint);
  EXPECT_STREQ(read->what(), mapped->what());
}

TEST(DescriptorRange, PartsThatLeaveTheFileAreRefused) {
  const Embedded host(64, smallest_archive());
  const std::uint64_t size = fs::file_size(host.path());
  constexpr std::uint64_t huge = ~std::uint64_t{0} - 63;
  for (const OpenOptions& options : {OpenOptions(), copied}) {
    for (const auto& [offset, length] : {std::pair<std::uint64_t, std::optional<std::uint64_t>>{64, size - 63},
                                         {64, huge},
                                         {huge, 64},
                                         {huge, std::nullopt},
                                         {(size / 64 + 1) * 64, 0}}) {
      EXPECT_EQ(code_of([&] { return Archive::open({number_of(host.file()), offset, length}, options); }),
                Code::usage_argument);
    }
  }
}

TEST(DescriptorRange, NothingButTheArchiveMayBeInThePart) {
  const Embedded host(64, smallest_archive());
  const std::uint64_t size = host.built().bytes.size();
  const auto code = [&](std::uint64_t offset, std::uint64_t length) {
    return code_of([&] { return Archive::open({number_of(host.file()), offset, length}); });
  };
  EXPECT_EQ(code(64, size), std::nullopt);
  EXPECT_EQ(code(64, size + 1), Code::zip_end_not_last);
  EXPECT_EQ(code(64, 0), Code::zip_end_missing);
  EXPECT_NE(code(0, size + 64), std::nullopt);
  EXPECT_NE(code(128, size - 64), std::nullopt);
}

TEST(DescriptorRange, OffsetsInErrorsCountFromTheArchive) {
  Built built = smallest_archive();
  flip_bit(built.bytes, built.entry(model_entry).header_offset + 6);
  const Embedded host(4160, built);
  const Archive archive = Archive::open(host.range());
  EXPECT_EQ(refusal_of([&] { return archive.model(); }),
            (ErrorContext{Code::zip_local_field, std::string(model_entry), built.entry(model_entry).header_offset}));
}

TEST(DescriptorRange, RefusesDescriptorsOfOtherThanRegularFiles) {
  const TempDir folder;
  const auto code = [](const os::File& file) {
    return code_of([&] { return Archive::open(DescriptorRange{number_of(file), 0, std::nullopt}); });
  };
  EXPECT_EQ(code(os::File()), Code::io_failed);
  EXPECT_EQ(code(descriptor_of(folder.path())), Code::io_not_a_file);
  if (make_pipe(folder / "fifo")) {
    EXPECT_EQ(code(descriptor_of(folder / "fifo")), Code::io_not_a_file);
  }
  const fs::path path = folder.write_file("a", smallest_archive().bytes);
  EXPECT_EQ(code(open_for_writing_only(path)), Code::io_permission);
}

// --- what becomes of it when the file changes -----------------------------------------------------------------------

class ChangedFile : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] Archive opened() const { return Archive::open(path_, GetParam() ? copied : OpenOptions()); }

  TempDir folder_;
  Built built_ = smallest_archive();
  fs::path path_ = folder_.write_file("a", built_.bytes);
};

TEST_P(ChangedFile, RemovedFileStaysAsItWasOpened) {
  const Archive archive = opened();
  fs::remove(path_);
  expect_whole(archive, built_);
}

TEST_P(ChangedFile, ReplacedFileStaysAsItWasOpened) {
  const Archive archive = opened();
  folder_.write_file("b", smallest_builder(pattern(2048, 9)).build());
  replace_file(folder_ / "b", path_);
  expect_whole(archive, built_);
  const Archive other = opened();
  EXPECT_EQ(other.resolve("w").size(), 2048U);
}

INSTANTIATE_TEST_SUITE_P(MappedOrCopied, ChangedFile, ::testing::Bool());

TEST(CopyIn, FileMayBeShortenedAndOverwrittenAfterwards) {
  const TempDir folder;
  const Built built = smallest_archive();
  const fs::path path = folder.write_file("a", built.bytes);
  const Archive archive = Archive::open(path, copied);
  fs::resize_file(path, 0);
  expect_whole(archive, built);
  folder.write_file("a", pattern(built.bytes.size(), 5));
  expect_whole(archive, built);
}

TEST(CopyIn, NothingOfTheFileIsMapped) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", smallest_archive().bytes);
  const Archive mapped = Archive::open(path);
  ASSERT_EQ(mappings_of(path), 1U);
  const Archive archive = Archive::open(path, copied);
  EXPECT_EQ(mappings_of(path), 1U);
  EXPECT_NE(mapped_file_at(archive.file().data()), mapped_name(path));
}

TEST(CopyIn, ManyPiecesAreReadByAnyNumberOfThreads) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", large_archive().bytes);
  for (const std::size_t threads : {0U, 1U, 3U, 100U}) {
    const Archive archive = Archive::open(path, {.copy_in = true, .threads = threads});
    EXPECT_TRUE(std::ranges::equal(archive.file(), large_archive().bytes)) << threads;
  }
}

TEST(CopyIn, BrokenFilesAreReportedWithTheirPath) {
  const TempDir folder;
  Built built = smallest_archive();
  built.bytes.pop_back();
  const fs::path path = folder.write_file("a", built.bytes);
  expect_error(error_if_any([&] { return Archive::open(path, copied); }),
               {.code = error_if_any([&] { return Archive::open(path); })->code(), .path = path});
  EXPECT_EQ(code_of([&] { return Archive::open(folder / "none", copied); }), Code::io_not_found);
}

// --- prefetching ----------------------------------------------------------------------------------------------------

class PrefetchTest : public ::testing::Test {
 protected:
  // In separate huge pages, which opening does not touch: the system may map a whole huge page at once.
  static constexpr std::size_t here = 5U << 20U, there = 3U << 20U;
  TempDir folder_;
  fs::path path_ = folder_.write_file("a", large_archive().bytes);
};

TEST_F(PrefetchTest, LoadsNothingUnlessAsked) {
  const Archive archive = Archive::open(path_);
  EXPECT_FALSE(is_present(archive.resolve("w", here, 1).data()));
}

TEST_F(PrefetchTest, PopulatingTheArchiveLoadsAllOfIt) {
  ONNXAR_NATIVELY("pass the advice MADV_POPULATE_READ on");
  const Archive archive = Archive::open(path_, {.prefetch = Prefetch::populate});
  for (std::size_t i = 0; i < archive.file().size(); i += page) ASSERT_TRUE(is_present(archive.file().data() + i)) << i;
}

TEST_F(PrefetchTest, PopulatingAPartLoadsThatPart) {
  ONNXAR_NATIVELY("pass the advice MADV_POPULATE_READ on");
  const Archive archive = Archive::open(path_);
  archive.prefetch(archive.resolve("w", here, 1), Prefetch::populate);
  EXPECT_TRUE(is_present(archive.resolve("w", here, 1).data()));
  EXPECT_FALSE(is_present(archive.resolve("w", there, 1).data()));
  archive.prefetch(archive.entry(0), Prefetch::populate);
  EXPECT_TRUE(is_present(archive.resolve("w", there, 1).data()));
}

TEST_F(PrefetchTest, ReadingAheadIsAdviceAndChangesNothing) {
  const Archive archive = Archive::open(path_, {.prefetch = Prefetch::will_need});
  archive.prefetch(archive.entry(0), Prefetch::will_need);
  archive.prefetch(archive.entry(0), Prefetch::none);
  EXPECT_TRUE(std::ranges::equal(archive.resolve("w"), large_archive().data_of("w")));
}

TEST_F(PrefetchTest, BytesOfSomethingElseAreRefused) {
  const Archive archive = Archive::open(path_);
  const Archive other = Archive::open(path_);
  const auto code = [&](Bytes bytes) { return code_of([&] { archive.prefetch(bytes, Prefetch::populate); }); };
  EXPECT_EQ(code(other.resolve("w")), Code::usage_argument);
  EXPECT_EQ(code(as_bytes("text")), Code::usage_argument);
  const Bytes file = archive.file();
  EXPECT_EQ(code({file.data() + 1, file.size()}), Code::usage_argument);
  EXPECT_EQ(code({file.data() - 1, 2}), Code::usage_argument);
  EXPECT_EQ(code(file.last(1)), std::nullopt);
  EXPECT_EQ(code({}), std::nullopt);
}

TEST_F(PrefetchTest, AFileThatWasShortenedIsAnErrorThatNamesIt) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  ONNXAR_NATIVELY("pass the advice MADV_POPULATE_READ on");
  const Archive archive = Archive::open(path_);
  const Bytes weight = archive.resolve("w");
  fs::resize_file(path_, 0);
  expect_error(error_if_any([&] { archive.prefetch(weight, Prefetch::populate); }),
               {.code = Code::io_failed, .path = path_});
}

}  // namespace
}  // namespace onnxar::testing
