// Checks of headers that hold for archives and for foreign zips.
#include "zip/shared_checks.h"

#include <gtest/gtest.h>

#include "support/refusal.h"
#include "support/zip_builder.h"
#include "zip/format.h"
#include "zip/records.h"

namespace onnxar::testing {
namespace {

const zip::HeaderContext header_of_a("a", 7);

Bytes central_headers(const Built& built) {
  return Bytes(built.bytes).subspan(built.directory_offset, built.directory_size);
}

TEST(KnownVersions, AreARange) { EXPECT_EQ(zip::known_versions(), "10 to 45"); }

TEST(ProvedLength, IsThatOfTheHeaderWithItsVariableParts) {
  const Built built = smallest_archive();
  const Bytes headers = central_headers(built);
  const auto header = zip::parse_central_file_header(headers);
  const std::uint64_t length = zip::proved_length(header, headers, 100);
  EXPECT_EQ(length, built.entries[1].central_offset - built.entries[0].central_offset);
  EXPECT_EQ(refusal_of([&] { return zip::proved_length(header, headers.first(length - 1), 100); }),
            (ErrorContext{Code::zip_directory_header, "", 100}));
  EXPECT_EQ(refusal_of([&] { return zip::proved_length(std::nullopt, headers, 100); }),
            (ErrorContext{Code::zip_directory_header, "", 100}));
}

TEST(DirectoryEnd, RefusesBytesAfterTheLastHeader) {
  zip::check_directory_end({}, 3, 100);
  const Blob rest(1);
  EXPECT_EQ(refusal_of([&] { zip::check_directory_end(rest, 3, 100); }),
            (ErrorContext{Code::zip_directory_count, "", 100}));
}

TEST(SharedChecks, DiskSizesAndNameAreRefusedAtTheHeader) {
  const auto refused = [](const auto& check) { return refusal_of([&] { check(); }); };
  EXPECT_EQ(refused([] { zip::check_disk(0, header_of_a); }), std::nullopt);
  EXPECT_EQ(refused([] { zip::check_disk(1, header_of_a); }), (ErrorContext{Code::zip_entry_disk, "a", 7}));
  EXPECT_EQ(refused([] { zip::check_stored_sizes(5, 5, header_of_a); }), std::nullopt);
  EXPECT_EQ(refused([] { zip::check_stored_sizes(5, 6, header_of_a); }), (ErrorContext{Code::zip_entry_sizes, "a", 7}));
  zip::LocalParts local;
  local.name = "a";
  EXPECT_EQ(refused([&] { zip::check_local_name(local, header_of_a); }), std::nullopt);
  local.name = "A";
  EXPECT_EQ(refused([&] { zip::check_local_name(local, header_of_a); }), (ErrorContext{Code::zip_local_name, "a", 7}));
  EXPECT_EQ(refused([] { zip::refuse_missing_local_zip64(header_of_a); }),
            (ErrorContext{Code::zip_zip64_extra, "a", 7}));
}

TEST(LocalParts, AreNameAndExtraFieldsInTheRoomOfTheEntry) {
  const Built built = smallest_archive();
  const auto& first = built.entries[0];
  const Bytes room = Bytes(built.bytes).first(first.data_offset);
  const zip::LocalParts local = zip::read_local_parts(room, header_of_a);
  EXPECT_EQ(local.length, first.data_offset - first.header_offset);
  EXPECT_EQ(local.extra.size(), local.length - 30 - local.name.size());
  for (std::size_t size = 0; size < room.size(); ++size) {
    EXPECT_EQ(refusal_of([&] { return zip::read_local_parts(room.first(size), header_of_a); }),
              (ErrorContext{Code::zip_local_header, "a", 7}))
        << size;
  }
}

}  // namespace
}  // namespace onnxar::testing
