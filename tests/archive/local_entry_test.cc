// Local headers of an open archive, in memory or read in ranges: their fields, and the place of a fault.
#include "archive/local_entry.h"

#include <gtest/gtest.h>

#include "archive/opened.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

TEST(LocalEntryOfArchive, SaysWhereTheDataBegins) {
  const Built built = built_with({zip_entry("v", pattern(10)), zip_entry("w", pattern(300))});
  for (const Archive& archive : {opened(built.bytes), Archive::open(by_ranges(built.bytes))}) {
    EXPECT_EQ(local_entry(archive, 1).data_offset, built.entry("w").data_offset);
  }
}

TEST(LocalEntryOfArchive, FaultHasEntryPlaceAndPath) {
  Built built = built_with({zip_entry("v", pattern(10)), zip_entry("w", pattern(300))});
  flip_bit(built.bytes, built.entry("w").header_offset + 30);  // the name
  const TempDir folder;
  const auto path = folder.write_file("a", built.bytes);
  const Archive archive = Archive::open(path);
  const ExpectedError expected{
      .code = Code::zip_local_name, .entry = "w", .offset = built.entry("w").header_offset, .path = path};
  expect_error(error_if_any([&] { return local_entry(archive, 1); }), expected);
  expect_error(error_if_any([&] { locate_all(archive); }), expected);
  EXPECT_EQ(code_of([&] { return local_entry(archive, 0); }), std::nullopt);
}

}  // namespace
}  // namespace onnxar::testing
