// The container's part of `check`: what it finds beyond what opening proves. The vectors of spec/vectors show each
// fault.
#include "archive/container_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "archive/access.h"
#include "archive/allocations.h"
#include "archive/opened.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

/// Each finding on a line: severity, id, entry, offset.
std::vector<std::string> findings(const Blob& bytes) {
  std::vector<std::string> lines;
  for (const Finding& finding : check_container(opened(bytes))) {
    const std::string offset = finding.place.offset ? std::to_string(*finding.place.offset) : "-";
    lines.push_back(std::string(to_string(finding.severity)) + " " + std::string(id(finding.code)) + " " +
                    finding.place.entry + " " + offset);
    EXPECT_FALSE(finding.message.empty());
  }
  return lines;
}

std::string line(std::string_view what, const std::string& entry, std::size_t offset) {
  return std::string(what) + " " + entry + " " + std::to_string(offset);
}

std::size_t end_of_w(const Built& built) { return built.entry("w").data_offset + built.entry("w").data_size; }

TEST(CheckContainer, FreshArchiveHasNoFindings) { EXPECT_THAT(findings(smallest_archive().bytes), IsEmpty()); }

TEST(CheckContainer, ReportsEveryLocalHeaderThatIsWrong) {
  Built built = smallest_archive();
  const PlacedEntry& model = built.entry(model_entry);
  flip_bit(built.bytes, built.entry("w").header_offset + 10);
  flip_bit(built.bytes, model.header_offset);
  EXPECT_THAT(findings(built.bytes), ElementsAre(line("error zip.local.field", "w", 0),
                                                 line("error zip.local.header", model.name, model.header_offset)));
}

TEST(CheckContainer, RemarksUnnecessaryZip64) {
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  Built built = builder.build_placed();
  EXPECT_THAT(findings(built.bytes), ElementsAre(line("warning zip.zip64.unneeded", "", built.directory_offset)));
  builder = smallest_builder();
  builder.entry("w").force_zip64_sizes = true;
  built = builder.build_placed();
  EXPECT_THAT(findings(built.bytes), ElementsAre(line("warning zip.zip64.unneeded", "w", 0)));
}

TEST(CheckContainer, NotesEverySupersededTail) {
  const Built first = smallest_archive();
  const Built second = append_edit(first, smallest_model(256, "edited"), {zip_entry("b", pattern(100))});
  const Built third = edited(second, "twice");
  const std::size_t behind_b = second.entry("b").data_offset + 100;
  EXPECT_THAT(findings(third.bytes), ElementsAre(line("note archive.tail.superseded", "w", end_of_w(first)),
                                                 line("note archive.tail.superseded", "b", behind_b)));
}

TEST(CheckContainer, TakesEditsThatFollowEachOtherForOneTail) {
  const Built first = smallest_archive();
  const Built third = edited(edited(first, "once"), "twice");
  EXPECT_THAT(findings(third.bytes), ElementsAre(line("note archive.tail.superseded", "w", end_of_w(first))));
}

// A state after k edits has k tails, each of which ends another state: visited one by one, they would be 2^k.
TEST(CheckContainer, ComparesPaddingOfStatesOnce) {
  for (const std::size_t states : {10U, 20U, 40U}) {
    Built built = smallest_archive();
    for (std::size_t i = 0; i < states; ++i) {
      ZipEntry added = zip_entry("w" + std::to_string(i), {});
      added.local.more_padding = 6400;
      built = append_edit(built, smallest_model(256, "edited"), {added});
    }
    zip::KnownZeros zeros;
    EXPECT_THAT(check_container(opened(built.bytes), &zeros), Each(Field(&Finding::severity, Severity::note)));
    EXPECT_GE(zeros.compared(), (states - 1) * 6400) << states;
    EXPECT_LT(zeros.compared(), states * 6500) << states;
  }
}

TEST(CheckContainer, ChecksEachEarlierStateOnce) {
  const auto work = [](std::size_t edits) {
    Built built = smallest_archive();
    for (std::size_t i = 0; i < edits; ++i) built = edited(built, "next", {zip_entry("e" + std::to_string(i), {})});
    const std::size_t before = allocations_so_far();
    EXPECT_EQ(findings(built.bytes).size(), edits);
    return allocations_so_far() - before;
  };
  const std::size_t few = work(4), many = work(12);
  EXPECT_LT(many, 12 * few) << "three times the states, with three times the entries";
}

TEST(CheckContainer, ReportsChangeDuringTheCheckAsChanged) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const TempDir folder;
  const Built built = smallest_archive();
  const std::filesystem::path path = folder.write_file("a", built.bytes);
  const Archive archive = Archive::open(path);
  Blob other = built.bytes;
  flip_bit(other, built.entry("w").header_offset + 10);
  other.pop_back();
  folder.write_file("a", other);
  EXPECT_EQ(code_of([&] { return check_container(archive).size(); }), Code::io_changed);
}

TEST(CheckContainer, AConnectionThatIsLostIsNotAFaultOfTheArchive) {
  const Blob large = pattern(100'000);  // read apart from the headers and the directory
  const Built first = edited(smallest_archive(), "second", {zip_entry("b", large)});
  const Built built = edited(edited(first, std::string(100'000, 's'), {zip_entry("c", large)}), "third");
  std::size_t failed = 0;
  for (std::size_t allowed = 0;; ++allowed) {
    ASSERT_LT(allowed, 20U);
    const auto file = by_ranges(built.bytes);
    const Archive archive = Archive::open(file);
    file->most_calls = file->calls + allowed;
    std::vector<Finding> found;
    const auto code = code_of([&] { found = check_container(archive); });
    if (!code) {
      EXPECT_THAT(found, Each(Field(&Finding::severity, Severity::note)));
      break;
    }
    EXPECT_EQ(code, Code::io_failed);
    ++failed;
  }
  EXPECT_GT(failed, 0U) << "earlier states are not read when the archive is opened";
}

TEST(CheckContainer, TailWhoseDirectoryListsOtherEntriesIsRefused) {
  // Bytes are put between the data and the old model; the old end record is kept true to its place.
  const Built first = smallest_archive();
  Built hidden = first;
  const Blob secret = pattern(64);
  insert(hidden.bytes, end_of_w(first), secret);
  put_u32(hidden.bytes, first.end_offset + 64 + 16, static_cast<std::uint32_t>(first.directory_offset + 64));
  for (PlacedEntry& entry : hidden.entries) entry.central_offset += 64;
  const Built second = edited(hidden, "edited");
  EXPECT_THAT(findings(second.bytes), ElementsAre(line("note archive.tail.superseded", "w", end_of_w(first)),
                                                  line("error archive.tail.prefix", "w", end_of_w(first))));
}

}  // namespace
}  // namespace onnxar::testing
