// Loading any kind of source gives a skeleton with links and a table of payloads.
#include "convert/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "convert/checksum.h"
#include "convert/loading.h"
#include "convert/open.h"
#include "onnxar/convert.h"
#include "support/ranged_blob.h"

namespace onnxar::testing {
namespace {

using ::testing::IsEmpty;

TEST_F(LoadedModelTest, LargePayloadsOfAFileAreViewsOfItsMapping) {
  const LoadedModel model = load_onnx(model_of({floats("large", 256), floats("small", 255)}));
  EXPECT_EQ(payloads_of(model).at("large"), pattern(1024));
  EXPECT_EQ(payloads_of(model).at("small"), std::nullopt);
  ASSERT_EQ(model.payloads.size(), 1U);
  EXPECT_TRUE(lies_in(model.payloads[0].bytes(), model.source->model()));
  EXPECT_THAT(model.remarks, IsEmpty());
}

TEST_F(LoadedModelTest, SkeletonIsTheModelWithLinksToPayloads) {
  const LoadedModel model = load_onnx(model_of({floats("a", 256), floats("b", 3), floats("c", 300)}));
  const std::string begin = "#onnxar:" + std::to_string(model.id) + ":";
  EXPECT_EQ(
      model.skeleton,
      model_of({linked_floats("a", 256, begin + "0"), floats("b", 3), linked_floats("c", 300, begin + "1")}).view());
}

TEST_F(LoadedModelTest, APayloadOutlivesTheModel) {
  ByteSpan span;
  {
    const LoadedModel model = load_onnx(model_of({floats("w", 256)}));
    span = *model.payloads.at(0).span;
    std::filesystem::remove(folder_ / "m.onnx");
  }
  EXPECT_FALSE(span.owned());
  EXPECT_TRUE(std::ranges::equal(span.bytes(), pattern(1024)));
}

TEST_F(LoadedModelTest, ListsExternalDataOfAnySize) {
  folder_.write_file("w.bin", pattern(100));
  const LoadedModel model = load_onnx(model_of({linked_floats("a", 1, "w.bin", 96), linked_floats("b", 25, "w.bin")}));
  const Blob file = pattern(100);
  EXPECT_EQ(payloads_of(model).at("a"), Blob(file.end() - 4, file.end()));
  EXPECT_EQ(payloads_of(model).at("b"), file);
}

TEST_F(LoadedModelTest, PayloadsOfAnArchiveAreViewsOfItsEntries) {
  const Built archive = archive_of(model_of({linked_floats("a", 300, "k"), linked_floats("b", 2, "k", 8)}),
                                   {zip_entry("unused", pattern(4)), zip_entry("k", pattern(1200))});
  const LoadedModel model = load(folder_.write_file("m.onnxar", archive.bytes));
  const Blob data = pattern(1200);
  EXPECT_EQ(payloads_of(model).at("a"), data);
  EXPECT_EQ(payloads_of(model).at("b"), Blob(data.begin() + 8, data.begin() + 16));
  ASSERT_EQ(model.payloads.size(), 2U);
  const Archive& opened = *archive_of(*model.source);
  EXPECT_EQ(model.payloads[0].bytes().data(), opened.bytes(opened.entry(1)).data());
  EXPECT_TRUE(lies_in(model.payloads[1].bytes(), model.payloads[0].bytes()));
}

TEST_F(LoadedModelTest, TensorsInRangesShareDataInSpiteOfChecksum) {
  const Blob data = pattern(1200);
  const std::string sum = checksum_of(SpanSource(data));
  const auto tied = [&](std::string_view name) { return linked_floats(name, 300, "w").external_data("checksum", sum); };
  LoadOptions load;
  load.open_ranges = [&](const std::filesystem::path&) {
    return by_ranges(
        archive_of(model_of({tied("a"), tied("b"), linked_floats("c", 300, "w")}), {zip_entry("w", data)}).bytes);
  };
  const ConvertReport report = pack("there", folder_ / "out", saved_as(Format::archive), load);
  EXPECT_EQ(report.tensors_outside, 3U);
  EXPECT_EQ(report.payloads, 1U);
}

TEST_F(LoadedModelTest, SideFilesAreUnusedEntriesThatAreNotKeys) {
  const Built archive =
      archive_of(model_of({linked_floats("a", 1, "data.bin")}),
                 {zip_entry("left_over", pattern(9)), zip_entry("data.bin", pattern(4)),
                  zip_entry("tokenizer.json", blob("{}")), zip_entry("docs/README.md", blob("# hello"))});
  const LoadedModel model = load(folder_.write_file("m.onnxar", archive.bytes));
  ASSERT_EQ(model.side_files.size(), 2U);
  EXPECT_EQ(model.side_files[0].name, "tokenizer.json");
  EXPECT_EQ(model.side_files[1].name, "docs/README.md");
  EXPECT_EQ(model.side_files[1].source->size(), 7U);
}

TEST_F(LoadedModelTest, LinksThatContradictTheirTensorAreRefused) {
  folder_.write_file("w.bin", pattern(4096));
  expect_refused(tensor("s", dtype::string, {1}).external("w.bin", {}, 4), Code::onnx_external_string);
  expect_refused(linked_floats("w", 2, "w.bin").raw_data(pattern(8, 1)), Code::onnx_external_data_beside);
  expect_refused(linked_floats("w", 2, "w.bin").float_data({1, 2}), Code::onnx_external_data_beside);
  expect_refused(linked_floats("w", 2, "w.bin").raw_data(pattern(4)), Code::onnx_external_data_beside);
  expect_refused(tensor("w", dtype::float32, {2}).external("w.bin", {}, 4), Code::onnx_tensor_length);
  expect_refused(tensor("w", dtype::float32, {2}).external("w.bin", {}, 12), Code::onnx_tensor_length);
}

TEST_F(LoadedModelTest, TakesLinkBesideTheSameData) {
  // onnx 1.16 to 1.23.0 leave raw_data beside the link; empty raw_data is no data.
  folder_.write_file("w.bin", pattern(1200));
  folder_.write_file("zeros.bin", Blob(8));
  for (const TensorBuilder& each :
       {linked_floats("w", 300, "w.bin").raw_data(pattern(1200)), linked_floats("w", 300, "w.bin").raw_data({}),
        linked_floats("w", 2, "zeros.bin").float_data({0, 0})}) {
    const LoadedModel model = load_onnx(model_of({each}));
    EXPECT_EQ(model.payloads.size(), 1U);
    onnx::walk_tensors(model.skeleton, [](const onnx::TensorSite& site) {
      EXPECT_FALSE(site.tensor.raw_data);
      EXPECT_FALSE(site.tensor.typed_data);
    });
  }
}

TEST_F(LoadedModelTest, TakesZeroLengthAsNone) {
  folder_.write_file("w.bin", pattern(1200));
  const LoadedModel model = load_onnx(model_of({tensor("w", dtype::float32, {300}).external("w.bin", {}, 0)}));
  ASSERT_EQ(model.payloads.size(), 1U);
  EXPECT_EQ(model.payloads[0].size(), 1200U);
}

TEST_F(LoadedModelTest, LinksThatLeadNowhereAreRefused) {
  folder_.write_file("w.bin", pattern(7));
  const auto external = [](std::string_view location) { return tensor("w", dtype::float32, {2}).external(location); };
  expect_refused(external("none.bin"), Code::onnx_external_missing);
  expect_refused(external("w.bin"), Code::onnx_external_out_of_range);
  expect_refused(external("../w.bin"), Code::onnx_external_bad_location);
  expect_refused(external(""), Code::onnx_external_no_location);
  expect_refused(tensor("w", dtype::float32, {2}).data_location(1), Code::onnx_external_no_location);
  expect_refused(external("w.bin").external_data("offset", "-1"), Code::onnx_external_bad_offset);
  expect_refused(external("w.bin").external_data("length", "0x8"), Code::onnx_external_bad_length);
  expect_refused(external("#onnxar:1:0"), Code::onnx_external_marker);
  expect_refused(external("*/_ORT_MEM_ADDR_/*").external_data("offset", "140737"), Code::onnx_external_marker);
}

TEST_F(LoadedModelTest, RefusesAMemoryLocationInAnArchive) {
  const Message tensor = linked_floats("w", 2, "#onnxar:1:0");
  const Built archive = archive_of(model_of({tensor}));
  const auto path = folder_.write_file("m.onnxar", archive.bytes);
  expect_error(error_of([&] { static_cast<void>(load(path)); }), Code::onnx_external_marker, "__MODEL_PROTO",
               place_in(archive.bytes, tensor));
}

TEST_F(LoadedModelTest, RefusesWhatIsNotAModel) {
  const auto refusal = [this](std::string_view text) {
    return error_of([&] { static_cast<void>(load(folder_.write_file("m.onnx", text))); });
  };
  expect_error(refusal(""), Code::onnx_model_invalid, "", 0);
  expect_error(refusal("\x08\x07"), Code::onnx_model_invalid, "", 0);
  EXPECT_EQ(refusal("").path(), folder_ / "m.onnx");
  expect_error(error_of([this] { static_cast<void>(load(folder_ / "none")); }), Code::io_not_found, "", std::nullopt);
  expect_error(error_of([this] { static_cast<void>(load(folder_.path())); }), Code::io_not_a_file, "", std::nullopt);
}

TEST_F(LoadedModelTest, TheLimitOfTheSkeletonHolds) {
  LoadOptions options;
  const Message wide = model_of({floats("large", 1000), floats("small", 200)});
  const std::size_t skeleton = load_onnx(wide).skeleton.size();
  options.max_skeleton_size = skeleton + 20;  // the sizes of links vary a little
  EXPECT_NO_THROW(static_cast<void>(load_onnx(wide, options)));
  options.max_skeleton_size = skeleton - 20;
  const Error error = error_of([&] { static_cast<void>(load_onnx(wide, options)); });
  expect_error(error, Code::onnx_model_too_large, "", std::nullopt);
  EXPECT_EQ(error.path(), folder_ / "m.onnx");
}

TEST_F(LoadedModelTest, UsesTheThresholdOfTheOptions) {
  const Message proto = model_of({floats("a", 1), floats("b", 2)});
  EXPECT_EQ(load_onnx(proto, {.threshold = 0}).payloads.size(), 2U);
  EXPECT_EQ(load_onnx(proto, {.threshold = 8}).payloads.size(), 1U);
  EXPECT_EQ(load_onnx(proto, {.threshold = 9}).payloads.size(), 0U);
}

std::shared_ptr<const Blob> shared(const Message& message) { return std::make_shared<const Blob>(message.view()); }

TEST_F(LoadedModelTest, EditedSkeletonKeepsLinksAndMovesNewData) {
  LoadedModel model = load_onnx(model_of({floats("old", 256, 1)}));
  const std::string location = "#onnxar:" + std::to_string(model.id) + ":0";
  const LoadOptions options;
  set_skeleton(model, shared(model_of({floats("new", 300, 2), linked_floats("renamed", 256, location)})),
               ExternalPolicy::of(options), options);
  EXPECT_EQ(model.payloads.size(), 2U);
  EXPECT_EQ(payloads_of(model).at("new"), pattern(1200, 2));
  EXPECT_EQ(payloads_of(model).at("renamed"), pattern(1024, 1));
}

}  // namespace
}  // namespace onnxar::testing
