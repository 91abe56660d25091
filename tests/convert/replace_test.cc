// `replace` gives an archive a new model: adds its data, and refuses models that do not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "convert/replacing.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ReplaceOptions replacing_from(std::uint64_t threshold) { return {.threshold = threshold, .output = unsynced_output}; }

/// An archive has no links that were not loaded, so the option is not for `replace`.
TEST_F(ReplaceTest, LinksLeadToEntriesWithoutLoadingData) {
  const LoadOptions unread = {.load_external_data = false};
  const fs::path path = write(model_of({linked_floats("w", 300, "none")}));
  EXPECT_EQ(code_of([&] { onnxar::replace(archive_, path, unsynced_edit(), unread); }), Code::onnx_external_missing);
  EXPECT_EQ(now(), before_.bytes);
  const Message model = model_of({linked_floats("w", 150, "b")});
  onnxar::replace(archive_, write(model), unsynced_edit(), unread);
  expect_edit(model);
}

// --- Data ------------------------------------------------------------------------------------------------------------

TEST_F(ReplaceTest, DataThatTheArchiveHasIsLinkedToIt) {
  expect_replaced(
      model_of({floats("new name", 300, 2), floats("a", 300, 1), floats("again", 300, 1)}),
      model_of({linked_floats("new name", 300, "b"), linked_floats("a", 300, "a"), linked_floats("again", 300, "a")}));
}

TEST_F(ReplaceTest, OtherDataIsAddedUnderNewKeys) {
  expect_replaced(
      model_of({floats("a", 300, 3), linked_floats("b", 300, "b"), floats("B", 400, 4), floats("c", 300, 5)}),
      model_of({linked_floats("a", 300, "a_2"), linked_floats("b", 300, "b"), linked_floats("B", 400, "B_2"),
                linked_floats("c", 300, "c")}),
      {zip_entry("a_2", pattern(1200, 3)), zip_entry("B_2", pattern(1600, 4)), zip_entry("c", pattern(1200, 5))});
  EXPECT_EQ(report_.entries_added, 3U);
  EXPECT_EQ(report_.bytes_added, 4000U);
  EXPECT_EQ(report_.tensors_outside, 4U);
}

TEST_F(ReplaceTest, KeysOfDroppedTensorsAreNotUsedAgain) {
  onnxar::replace(archive_, write(model_of({linked_floats("b", 300, "b")})), unsynced_edit());
  start_with(append_edit(before_, model_of({linked_floats("b", 300, "b")}).view()));
  expect_replaced(model_of({floats("a", 300, 7)}), model_of({linked_floats("a", 300, "a_2")}),
                  {zip_entry("a_2", pattern(1200, 7))});
}

TEST_F(ReplaceTest, KeysClashWithNoFolder) {
  start_with(archive_of(model_of({linked_floats("a", 300, "a")}),
                        {zip_entry("a", pattern(1200, 1)), zip_entry("docs/readme.txt", pattern(10))}));
  expect_replaced(model_of({floats("docs", 300, 7)}), model_of({linked_floats("docs", 300, "docs_2")}),
                  {zip_entry("docs_2", pattern(1200, 7))});
}

TEST_F(ReplaceTest, DataOfEqualSizeAndCrcIsCompared) {
  // The CRC is that of the tensor, but the bytes of the entry are damaged, so they differ.
  Built damaged = before_;
  flip_bit(damaged.bytes, damaged.entry("a").data_offset + 700);
  start_with(damaged);
  report_ = onnxar::replace(archive_, write(model_of({floats("a", 300, 1)})), unsynced_edit());
  EXPECT_EQ(report_.entries_added, 1U);
  EXPECT_EQ(now(), append_edit(before_, model_of({linked_floats("a", 300, "a_2")}).view(),
                               {zip_entry("a_2", pattern(1200, 1))})
                       .bytes);
}

// Small integers always stay.
TEST_F(ReplaceTest, SmallDataStaysUnlessItIsInTheArchive) {
  start_with(archive_of(model_of({linked_floats("s", 5, "s")}), {zip_entry("s", pattern(20, 1))}));
  const Message ints = tensor("i", dtype::int64, {2}).raw_data(pattern(16, 1));
  expect_replaced(model_of({floats("s", 5, 1), floats("t", 5, 2), ints}),
                  model_of({linked_floats("s", 5, "s"), floats("t", 5, 2), ints}));
  start_with(archive_of(model_of({linked_floats("s", 4, "s")}), {zip_entry("s", pattern(16, 1))}));
  expect_replaced(model_of({ints}), model_of({ints}));
}

TEST_F(ReplaceTest, ThresholdDecidesWhatIsAdded) {
  expect_replaced(model_of({floats("s", 5, 3)}), model_of({linked_floats("s", 5, "s")}),
                  {zip_entry("s", pattern(20, 3))}, replacing_from(20));
  start_with(append_edit(before_, model_of({linked_floats("s", 5, "s")}).view(), {zip_entry("s", pattern(20, 3))}));
  expect_replaced(model_of({floats("t", 400, 3)}), model_of({floats("t", 400, 3)}), {}, replacing_from(1601));
}

// A tensor of floats that shares their bytes moves.
TEST_F(ReplaceTest, SmallIntegersStayIfTheirBytesMoveElsewhere) {
  folder_.write_file("w.bin", pattern(512, 3));
  const Message as_floats = linked_floats("f", 128, "w.bin"),
                as_integers = tensor("i", dtype::int64, {64}).external("w.bin", 0, 512);
  const Message moved = linked_floats("f", 128, "f"),
                inside = tensor("i", dtype::int64, {64}).raw_data(pattern(512, 3));
  ReplaceOptions options = with_files();
  options.threshold = 256;
  expect_replaced(model_of({as_floats, as_integers}), model_of({moved, inside}), {zip_entry("f", pattern(512, 3))},
                  options);
}

TEST_F(ReplaceTest, TypedDataIsLinkedAsRawBytes) {
  const std::vector<float> values(300, 1.5F);
  const Blob raw = little_endian_bytes(values);
  const Message typed = tensor("t", dtype::float32, {300}).float_data(values);
  expect_replaced(model_of({typed}), model_of({linked_floats("t", 300, "t")}), {zip_entry("t", raw)});
  start_with(append_edit(before_, model_of({linked_floats("t", 300, "t")}).view(), {zip_entry("t", raw)}));
  expect_replaced(model_of({typed}), model_of({linked_floats("t", 300, "t")}));
}

TEST_F(ReplaceTest, EqualSlicesOfTheSourceShareAnEntry) {
  const Blob file = pattern(4000, 9);
  folder_.write_file("w.bin", file);
  expect_replaced(model_of({linked_floats("u", 300, "w.bin", 64), linked_floats("v", 300, "w.bin", 64)}),
                  model_of({linked_floats("u", 300, "u"), linked_floats("v", 300, "u")}),
                  {zip_entry("u", {file.begin() + 64, file.begin() + 1264})}, with_files());
}

// --- Where the model comes from --------------------------------------------------------------------------------------

TEST_F(ReplaceTest, DataFilesAreAddedOnRequest) {
  folder_.write_file("w.bin", pattern(1200, 9));
  const Message model = model_of({linked_floats("w", 300, "w.bin"), linked_floats("a", 300, "a")});
  expect_refused(model, Code::onnx_external_missing);
  expect_replaced(model, model_of({linked_floats("w", 300, "w"), linked_floats("a", 300, "a")}),
                  {zip_entry("w", pattern(1200, 9))}, with_files());
}

TEST_F(ReplaceTest, DataFileThatIsMissingOrOutsideIsRefused) {
  expect_refused(model_of({linked_floats("w", 300, "none.bin")}), Code::onnx_external_missing, with_files());
  expect_refused(model_of({linked_floats("w", 300, "../w.bin")}), Code::onnx_external_bad_location, with_files());
  folder_.write_file("w.bin", pattern(1199));
  expect_refused(model_of({linked_floats("w", 300, "w.bin")}), Code::onnx_external_out_of_range, with_files());
}

TEST_F(ReplaceTest, ModelOfAnotherArchiveBringsItsData) {
  // Its entry `a` differs from ours; its entry `w` equals our `b`.
  const Built other = archive_of(model_of({linked_floats("a", 300, "a"), linked_floats("w", 300, "w")}),
                                 {zip_entry("a", pattern(1200, 8)), zip_entry("w", pattern(1200, 2))});
  report_ = onnxar::replace(archive_, folder_.write_file("y.onnxar", other.bytes), unsynced_edit());
  expect_edit(model_of({linked_floats("a", 300, "a_2"), linked_floats("w", 300, "b")}),
              {zip_entry("a_2", pattern(1200, 8))});
}

TEST_F(ReplaceTest, SideFilesOfAnotherArchiveStayThere) {
  const Built other = archive_of(model_of({linked_floats("c", 400, "c")}),
                                 {zip_entry("c", pattern(1600, 8)), zip_entry("docs/a.txt", pattern(10))});
  report_ = onnxar::replace(archive_, folder_.write_file("y.onnxar", other.bytes), unsynced_edit());
  expect_edit(model_of({linked_floats("c", 400, "c")}), {zip_entry("c", pattern(1600, 8))});
  EXPECT_THAT(ids_of(report_.remarks), ElementsAre("note archive.entry.unused"));
}

TEST_F(ReplaceTest, DamagedDataOfAnotherArchiveIsRefused) {
  Built other = archive_of(model_of({linked_floats("c", 400, "c")}), {zip_entry("c", pattern(1600, 8))});
  flip_bit(other.bytes, other.entry("c").data_offset);
  const fs::path path = folder_.write_file("y.onnxar", other.bytes);
  EXPECT_EQ(error_of([&] { onnxar::replace(archive_, path, unsynced_edit()); }).code(), Code::zip_data_crc);
  EXPECT_EQ(now(), before_.bytes);
}

TEST_F(ReplaceTest, OwnModelChangesNothingButTheEnd) {
  report_ = onnxar::replace(archive_, archive_, unsynced_edit());
  expect_edit(model_of({linked_floats("a", 300, "a"), linked_floats("b", 300, "b")}));
}

TEST_F(ReplaceTest, ModelMayBeBytesWithADataFolder) {
  const Message model = model_of({linked_floats("b", 300, "x.onnxar", offset_of("b")), floats("c", 300, 5)});
  report_ = onnxar::replace(archive_, model.view(), unsynced_edit());
  expect_edit(model_of({linked_floats("b", 300, "b"), linked_floats("c", 300, "c")}),
              {zip_entry("c", pattern(1200, 5))});
  SetUp();
  folder_.write_file("data/w.bin", pattern(1200, 9));
  const Message linked = model_of({linked_floats("w", 300, "w.bin")});
  EXPECT_EQ(error_of([&] { onnxar::replace(archive_, linked.view(), with_files()); }).code(),
            Code::onnx_external_missing);
  report_ = onnxar::replace(archive_, linked.view(), with_files(), {.external_data_dir = folder_ / "data"});
  expect_edit(model_of({linked_floats("w", 300, "w")}), {zip_entry("w", pattern(1200, 9))});
}

// --- The archive -----------------------------------------------------------------------------------------------------

TEST_F(ReplaceTest, RewritesArchiveWithoutOtherEntries) {
  start_with(archive_of(model_of({floats("s", 5, 1)})));
  onnxar::replace(archive_, write(model_of({floats("w", 300, 5)})), unsynced_edit());
  EXPECT_EQ(now(), archive_of(model_of({linked_floats("w", 300, "w")}), {zip_entry("w", pattern(1200, 5))}).bytes);
  EXPECT_THAT(check(archive_, {.data = true, .strict = true, .load = {}}), IsEmpty());
}

TEST_F(ReplaceTest, ReportsThatEarlierStatesAreDiscarded) {
  const fs::path other = write(model_of({floats("w", 300, 5)}));
  for (const OutputOptions& output : {dry_output, unsynced_output}) {
    EXPECT_FALSE(onnxar::replace(archive_, other, {.output = output}).discards_states);
  }
  EXPECT_NO_THROW(undo(archive_));
  start_with(archive_of(model_of({floats("s", 5, 1)})));
  for (const OutputOptions& output : {dry_output, unsynced_output}) {
    EXPECT_TRUE(onnxar::replace(archive_, other, {.output = output}).discards_states);
  }
  expect_error(error_of([&] { return undo(archive_).size; }),
               {.code = Code::usage_nothing_to_undo, .says = {"kept no entry in place and rewrote the file"}});
  // Without a weight, the first entry is a side file, which may be removed.
  start_with(
      archive_of(model_of({floats("s", 5, 1)}), {zip_entry("t.json", pattern(5)), zip_entry("u.json", blob("{}"))}));
  ReplaceOptions options = unsynced_edit();
  options.remove = {"u.json"};
  EXPECT_FALSE(onnxar::replace(archive_, options).discards_states);
  options.remove = {"t.json"};
  EXPECT_TRUE(onnxar::replace(archive_, options).discards_states);
}

TEST_F(ReplaceTest, DryRunWritesNothing) {
  const Message model = model_of({floats("c", 300, 5)});
  report_ = onnxar::replace(archive_, write(model), {.output = dry_output});
  EXPECT_EQ(now(), before_.bytes);
  const ReplaceReport real = onnxar::replace(archive_, write(model), unsynced_edit());
  EXPECT_EQ(real.file_bytes, report_.file_bytes);
  EXPECT_EQ(real.entries_added, report_.entries_added);
  EXPECT_EQ(now().size(), report_.file_bytes);
}

TEST_F(ReplaceTest, CheckNotesWhatAnEditLeft) {
  onnxar::replace(archive_, write(model_of({linked_floats("b", 300, "b")})), unsynced_edit());
  EXPECT_THAT(ids_of(check(archive_)), ElementsAre("note archive.tail.superseded", "note archive.entry.unused"));
  EXPECT_THAT(ids_of(check(archive_, {.data = false, .strict = true, .load = {}})),
              ElementsAre("error archive.tail.superseded", "note archive.entry.unused"));
  pack(archive_, folder_ / "packed", saved_as(Format::archive));
  EXPECT_EQ(folder_.read_file("packed"),
            archive_of(model_of({linked_floats("b", 300, "b")}), {zip_entry("b", pattern(1200, 2))}).bytes);
}

TEST_F(ReplaceTest, TensorAtTheGreatestDepthKeepsItsData) {
  const Message holder = node("Constant", {}, {"w"}, {attribute_t("value", floats("", 300, 5))});
  const fs::path path = write(model({.graph = subgraph_of_depth(32, graph({.nodes = {holder}}))}));
  onnxar::replace(archive_, path, unsynced_edit());
  EXPECT_EQ(Archive::open(archive_).size(), 3U) << "at the deepest level there is no room for a link";
}

TEST_F(ReplaceTest, BrokenModelsAreRefused) {
  expect_refused(Message().raw(blob("no model")), Code::wire_type);
  expect_refused(Message(), Code::onnx_model_invalid);
  EXPECT_EQ(error_of([&] { onnxar::replace(archive_, folder_ / "none", unsynced_edit()); }).code(), Code::io_not_found);
  EXPECT_EQ(now(), before_.bytes);
}

TEST_F(ReplaceTest, WarnsOfMissingDataAtItsPlaceInTheNewModel) {
  const Message open = tensor("open", dtype::float32, {3});
  const Message proto = model_of({floats("w", 300, 1), open});
  const ReplaceReport report = onnxar::replace(archive_, write(proto), unsynced_edit());
  ASSERT_THAT(ids_of(report.remarks), ElementsAre("warning onnx.tensor.no_data"));
  EXPECT_EQ(report.remarks[0].place.offset, place_in(proto.view(), open));
}

TEST_F(ReplaceTest, RefusesEditPreparedFromAnotherState) {
  const Archive prepared = Archive::open(archive_);
  ReplaceOptions options = unsynced_edit();
  options.prepared_from = &prepared;
  static_cast<void>(onnxar::replace(archive_, write(model_of({linked_floats("a", 300, "a")})), unsynced_edit()));
  const Blob edited = now();
  expect_error(error_of([&] { onnxar::replace(archive_, folder_ / "m.onnx", options); }),
               {.code = Code::io_changed, .path = archive_});
  EXPECT_EQ(now(), edited) << "nothing was written";
  const Archive again = Archive::open(archive_);
  options.prepared_from = &again;
  EXPECT_NO_THROW(static_cast<void>(onnxar::replace(archive_, folder_ / "m.onnx", options)));
}

}  // namespace
}  // namespace onnxar::testing
