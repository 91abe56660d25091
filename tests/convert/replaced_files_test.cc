// Files that an edit adds and removes: what cannot be removed or is named twice leaves the archive as it was.
#include "convert/replaced_files.h"

#include <gtest/gtest.h>

#include <optional>

#include "convert/replacing.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

TEST_F(ReplaceTest, AnEntryThatWouldMoveIsNamed) {
  start_with(
      archive_of(model_of({linked_floats("a", 300, "a")}),
                 {zip_entry("a", pattern(1200, 1)), zip_entry("t.json", blob("{}")), zip_entry("c", pattern(4))}));
  ReplaceOptions options = unsynced_edit();
  options.remove = {"t.json"};
  const Error error =
      error_of([&] { onnxar::replace(archive_, write(model_of({linked_floats("c", 1, "c")})), options); });
  expect_error(error, Code::usage_argument, "c", std::nullopt);
  EXPECT_EQ(error.path(), archive_);
}

TEST_F(ReplaceTest, GraphsThatCannotBeReadAreRemovedTogether) {
  start_with(archive_of(model_of({linked_floats("a", 300, "a")}),
                        {zip_entry("a", pattern(1200, 1)), zip_entry("g.onnx", blob("\x3a\x7f")),
                         zip_entry("h.onnx", blob("\x3a\x7f"))}));
  ReplaceOptions options = unsynced_edit();
  for (const bool dry : {true, false}) {
    options.output.dry_run = dry;
    options.remove = {"h.onnx"};
    EXPECT_EQ(error_of([&] { onnxar::replace(archive_, options); }).code(), Code::usage_argument);
    EXPECT_EQ(now(), before_.bytes);
    options.remove = {"h.onnx", "g.onnx"};
    EXPECT_NO_THROW(onnxar::replace(archive_, options));
  }
  EXPECT_EQ(Archive::open(archive_).size(), 2U);
}

TEST_F(ReplaceTest, EntryThatIsNamedTwiceIsRefused) {
  start_with(archive_of(model_of({linked_floats("a", 300, "a")}),
                        {zip_entry("a", pattern(1200, 1)), zip_entry("t.json", blob("{}"))}));
  const AddedFile file = {"t.json", folder_.write_file("new.json", "[]")};
  ReplaceOptions both = unsynced_edit(), added = unsynced_edit(), removed = unsynced_edit();
  both.add = {file};
  both.remove = {"t.json"};
  added.add = {file, file};
  removed.remove = {"t.json", "t.json"};
  for (const ReplaceOptions& options : {both, added, removed}) {
    expect_error(error_if_any([&] { return onnxar::replace(archive_, options); }),
                 {.code = Code::usage_argument, .entry = "t.json", .path = archive_, .says = {"twice"}});
    EXPECT_EQ(now(), before_.bytes);
  }
}

TEST_F(ReplaceTest, AddedFileReplacesTheEntryOfItsName) {
  start_with(archive_of(model_of({linked_floats("a", 300, "a")}),
                        {zip_entry("a", pattern(1200, 1)), zip_entry("t.json", blob("{}"))}));
  ReplaceOptions options = unsynced_edit();
  options.add = {{"t.json", folder_.write_file("new.json", "[]")}};
  onnxar::replace(archive_, options);
  const Archive archive = Archive::open(archive_);
  EXPECT_EQ(archive.size(), 3U);
  EXPECT_EQ(copy_of(archive.bytes(*archive.find("t.json"))), blob("[]"));
}

}  // namespace
}  // namespace onnxar::testing
