// Writing files that are not archives, with the same guarantees.
#include <gtest/gtest.h>

#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

TEST(WriteFile, AFileAppearsWholeAndReplacesNothingUnasked) {
  const TempDir folder;
  write_file(folder / "page", as_bytes("first"), {.sync = false});
  EXPECT_EQ(code_of([&] { write_file(folder / "page", as_bytes("second"), {.sync = false}); }), Code::output_exists);
  EXPECT_EQ(folder.read_text("page"), "first");
  write_file(folder / "page", as_bytes("second"), {.overwrite = true, .sync = false});
  EXPECT_EQ(folder.read_text("page"), "second");
  EXPECT_EQ(folder.file_names(), std::vector<std::string>{"page"});
}

TEST(WriteFile, ADryRunFindsWhatIsInTheWayAndWritesNothing) {
  const TempDir folder;
  write_file(folder / "page", as_bytes("bytes"), {.dry_run = true});
  EXPECT_TRUE(folder.file_names().empty());
  write_file(folder / "page", as_bytes("mine"), {.sync = false});
  EXPECT_EQ(code_of([&] { write_file(folder / "page", as_bytes("bytes"), {.dry_run = true}); }), Code::output_exists);
}

}  // namespace
}  // namespace onnxar::testing
