// Loaded models: whose links name a payload, where tensors without data were, and what was left out.
#include "convert/loaded_model.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>

#include "convert/checksum.h"
#include "convert/load.h"
#include "convert/loading.h"
#include "convert/open.h"

namespace onnxar::testing {
namespace {

TEST_F(LoadedModelTest, TensorsWithoutDataHaveTheirPlaceInTheInput) {
  const Message open = tensor("open", dtype::float32, {3});
  const Message proto = model_of({floats("w", 256), open});  // the skeleton is shorter than the model
  const LoadedModel model = load_onnx(proto);
  std::size_t seen = 0;
  onnx::walk_tensors(model.skeleton, [&](const onnx::TensorSite& site) {
    const Place place = no_data(site, model.without_data).place;
    EXPECT_EQ(place.offset.has_value(), site.tensor.lacks_data());
    if (!site.tensor.lacks_data()) return;
    EXPECT_EQ(place.offset, place_in(proto.view(), open));
    EXPECT_NE(place.offset, site.tensor.range.begin);
    ++seen;
  });
  EXPECT_EQ(seen, 1U);
}

TEST_F(LoadedModelTest, EveryModelHasAnotherIdAndKnowsOnlyItsOwnLinks) {
  const Message proto = model_of({floats("w", 256)});
  const LoadedModel one = load_onnx(proto);
  const LoadedModel other = load_onnx(proto);
  EXPECT_NE(one.id, other.id);
  onnx::walk_tensors(one.skeleton, [&](const onnx::TensorSite& site) {
    EXPECT_NE(one.payload_of(site), nullptr);
    EXPECT_EQ(other.payload_of(site), nullptr);
  });
}

TEST_F(LoadedModelTest, AnEditedSkeletonMayNotLinkToAnotherModel) {
  LoadedModel model = load_onnx(model_of({floats("w", 256)}));
  const std::string location = "#onnxar:" + std::to_string(model.id + 1) + ":0";
  const Message foreign = linked_floats("w", 256, location);
  const auto skeleton = std::make_shared<const Blob>(model_of({foreign}).view());
  const LoadOptions options;
  const Error error = error_of([&] { set_skeleton(model, skeleton, ExternalPolicy::of(options), options); });
  EXPECT_EQ(id(error.code()), "onnx.external_data.marker");
}

TEST(NoteOfLeftOut, NamesTenEntriesAndCountsTheRest) {
  LoadedModel model;
  EXPECT_FALSE(note_of_left_out(model));
  model.left_out = {"a\n"};
  model.left_out_bytes = 5;
  EXPECT_EQ(note_of_left_out(model)->message, "left out, as no tensor refers to it: the entry \"a\\x0a\" (5 bytes)");
  model.left_out.assign(12, "b");
  const Finding note = note_of_left_out(model).value();
  EXPECT_EQ(note.severity, Severity::note);
  EXPECT_EQ(note.code, Code::archive_entry_unused);
  EXPECT_NE(note.message.find("\"b\" and 2 more (5 bytes)"), std::string::npos) << note.message;
}

TEST(PayloadAt, OtherIdsAndReleasedPayloadsAreNull) {
  LoadedModel model;
  model.id = new_model_id();
  model.payloads.push_back(payload_of(ByteSpan::own(pattern(5))));
  const std::string own = "#onnxar:" + std::to_string(model.id) + ":";
  EXPECT_EQ(model.payload_at(own + "0"), model.payloads.data());
  for (const std::string& other : {own + "1", own + "-1", own, std::string("#onnxar:1:0"), std::string("w.bin")}) {
    EXPECT_EQ(model.payload_at(other), nullptr) << other;
  }
  model.payloads[0] = {};
  EXPECT_EQ(model.payload_at(own + "0"), nullptr);
}

}  // namespace
}  // namespace onnxar::testing
