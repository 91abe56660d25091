// `replace` keeps the links of the new model that lead to entries of the archive, and refuses others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "convert/checksum.h"
#include "convert/replacing.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST_F(ReplaceTest, LinksToEntriesStayAsTheyAreAndGetALength) {
  const Message model = model_of({linked_floats("b", 300, "b"), linked_floats("half", 150, "a", 600)});
  expect_replaced(model, model);
  EXPECT_EQ(report_.tensors_outside, 2U);
  EXPECT_EQ(report_.entries_added, 0U);
  EXPECT_EQ(report_.bytes_added, 0U);
  SetUp();
  expect_replaced(model_of({tensor("a", dtype::float32, {300}).external("a")}),
                  model_of({linked_floats("a", 300, "a")}));
}

TEST_F(ReplaceTest, ChecksumsOfWholeEntriesStay) {
  const auto with = [](TensorBuilder tensor, std::string_view checksum) {
    return tensor.external_data("checksum", checksum);
  };
  const Blob data = pattern(1200, 1);
  const std::string sum = checksum_of(SpanSource(data));
  const auto part = [] { return tensor("c", dtype::float32, {100}).external("a", 400, 400); };
  const Message model = model_of({with(linked_floats("a", 300, "a"), sum), with(linked_floats("b", 300, "b"), "none"),
                                  with(part(), sum), with(linked_floats("d", 300, "x.onnxar", offset_of("b")), sum)});
  const Message expected = model_of(
      {with(linked_floats("a", 300, "a"), sum), linked_floats("b", 300, "b"), part(), linked_floats("d", 300, "b")});
  onnxar::replace(archive_, write(model), unsynced_edit());
  EXPECT_EQ(now(), append_edit(before_, expected.view()).bytes);
}

TEST_F(ReplaceTest, AGraphCannotBeChosenInAModelThatHasNone) {
  const LoadOptions load = {.graph = "decoder"};
  const Message model = model_of({linked_floats("a", 300, "a")});
  const fs::path path = write(model);
  EXPECT_EQ(code_of([&] { onnxar::replace(archive_, path, unsynced_edit(), load); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { onnxar::replace(archive_, path, with_files(), load); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { onnxar::replace(archive_, model.view(), unsynced_edit(), load); }), Code::usage_argument);
  EXPECT_EQ(now(), before_.bytes);
}

TEST_F(ReplaceTest, LinksIntoTheArchivesFileLeadToItsEntries) {
  expect_replaced(
      model_of({linked_floats("a", 300, "x.onnxar", offset_of("a")),
                linked_floats("rest", 100, "x.onnxar", offset_of("b") + 800),
                tensor("b", dtype::float32, {300}).external("x.onnxar", offset_of("b"))}),
      model_of({linked_floats("a", 300, "a"), linked_floats("rest", 100, "b", 800), linked_floats("b", 300, "b")}));
}

TEST_F(ReplaceTest, LinksIntoTheArchivesFileLieInOneEntry) {
  for (const std::uint64_t offset :
       {std::uint64_t{0}, offset_of("a") - 4, offset_of("a") + 4, offset_of("b") - 1, offset_of("b") + 4,
        offset_of(model_entry), std::uint64_t{before_.bytes.size()}, ~std::uint64_t{0} - 3}) {
    const Error error =
        expect_refused(model_of({linked_floats("w", 300, "x.onnxar", offset)}), Code::onnx_external_out_of_range);
    EXPECT_THAT(error.what(), HasSubstr("\"w\"")) << offset;
  }
}

TEST_F(ReplaceTest, EntryOfTheArchivesOwnNameIsRefusedInAnyCase) {
  for (const std::string name : {"x.onnxar", "X.Onnxar"}) {
    start_with(archive_of(model_of({linked_floats("w", 300, name)}), {zip_entry(name, pattern(1200, 1))}));
    const Error error = expect_refused(model_of({linked_floats("other", 300, name)}), Code::usage_own_name);
    EXPECT_EQ(error.entry(), name);
    EXPECT_EQ(error.advice().hint, Hint::repack_rename);
  }
}

TEST_F(ReplaceTest, LinkThatLeadsNowhereNamesTheTensor) {
  const Error error = expect_refused(model_of({linked_floats("a", 300, "a"), linked_floats("w", 300, "A")}),
                                     Code::onnx_external_missing);
  EXPECT_THAT(error.what(), HasSubstr("tensor \"w\" (graph.initializer[1])"));
  EXPECT_EQ(error.advice().hint, Hint::data_beside);
  EXPECT_EQ(error.path(), folder_ / "m.onnx");
}

TEST_F(ReplaceTest, RefusesLinksToOldModelOrOutsideTheEntry) {
  expect_refused(model_of({tensor("w", dtype::uint8, {4}).external(model_entry, {}, 4)}), Code::onnx_external_missing);
  expect_refused(model_of({linked_floats("a", 301, "a")}), Code::onnx_external_out_of_range);
  expect_refused(model_of({linked_floats("a", 300, "a", 4)}), Code::onnx_external_out_of_range);
  expect_refused(model_of({tensor("a", dtype::float32, {299}).external("a", {}, 1200)}), Code::onnx_tensor_length);
  expect_refused(model_of({tensor("a", dtype::float32, {300}).external("a", {}, 1200).raw_data(pattern(1200))}),
                 Code::onnx_external_data_beside);
}

}  // namespace
}  // namespace onnxar::testing
