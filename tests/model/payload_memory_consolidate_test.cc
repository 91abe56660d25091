// All large payloads in one buffer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "support/mappings.h"
#include "support/model_samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

TensorBufferOptions of(std::uint64_t threshold, std::uint64_t alignment = 0) {
  return {.threshold = threshold, .alignment = alignment};
}

static_assert(std::is_aggregate_v<TensorBufferOptions> && TensorBufferOptions{.alignment = 64}.threshold == 0);

/// Four tensors in the table, of 4, 1024, 1300 and 40000 bytes.
Message sample() {
  return model_of({floats("a", 1, 1), floats("b", 256, 2), floats("c", 325, 3), floats("d", 10000, 4)});
}

Model load_all(const Message& message) { return Model::load(message.view(), {.threshold = 0}); }

std::vector<Blob> payloads_of(const Model& model) {
  std::vector<Blob> all;
  for (const auto& tensor : model.proto().graph().initializer()) all.push_back(copied(model.payload(tensor)));
  return all;
}

const std::byte* address(const Model& model, int index) { return model.span(initializer(model, index)).bytes().data(); }

TEST(Consolidate, SpansBecomeSharesOfOneBuffer) {
  Model model = load_all(sample());
  const std::vector<Blob> before = payloads_of(model);
  const std::shared_ptr<const void> buffer = consolidate_tensors_to_buffer(model, of(0));
  EXPECT_EQ(payloads_of(model), before);
  const auto* end = static_cast<const std::byte*>(buffer.get());
  for (const int i : {0, 1, 2, 3}) {
    const ByteSpan& span = model.span(initializer(model, i));
    EXPECT_FALSE(span.owned());
    EXPECT_EQ(span.owner(), buffer);
    const std::size_t size = before[static_cast<std::size_t>(i)].size();
    EXPECT_EQ(span.size(), size);
    EXPECT_EQ(span.bytes().data(), end);
    end += size;
  }
}

TEST(Consolidate, AlignsStartAndOffsetsEveryTime) {
  Model again = load_all(sample());
  const std::vector<Blob> before = payloads_of(again);
  for (const std::uint64_t alignment : {1U, 2U, 64U, 4096U, 65536U, 1U << 22U, 1U}) {
    Model once = load_all(sample());
    for (Model* model : {&once, &again}) {
      ASSERT_NE(consolidate_tensors_to_buffer(*model, of(0, alignment)), nullptr);
      EXPECT_EQ(payloads_of(*model), before);
      for (const int i : {0, 1, 2, 3}) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address(*model, i)) % alignment, 0U) << alignment;
      }
    }
  }
}

TEST(Consolidate, RefusesAlignmentThatIsNotAPowerOfTwo) {
  Model model = load_all(sample());
  const std::byte* before = address(model, 3);
  for (const std::uint64_t alignment : {3ULL, 63ULL, 96ULL, 1ULL << 31U, 1ULL << 63U, ~0ULL}) {
    const Error error = error_of([&] { static_cast<void>(consolidate_tensors_to_buffer(model, of(0, alignment))); });
    EXPECT_EQ(id(error.code()), "usage.argument");
  }
  EXPECT_EQ(address(model, 3), before);
  EXPECT_TRUE(model.span(initializer(model, 3)).owned());
}

TEST(Consolidate, SmallerPayloadsStayAsTheyWere) {
  Model model = load_all(sample());
  const std::byte* small = address(model, 1);
  ASSERT_NE(consolidate_tensors_to_buffer(model, of(1025)), nullptr);
  EXPECT_EQ(address(model, 1), small);
  EXPECT_TRUE(model.span(initializer(model, 0)).owned());
  EXPECT_TRUE(model.span(initializer(model, 1)).owned());
  EXPECT_FALSE(model.span(initializer(model, 2)).owned());
  EXPECT_FALSE(model.span(initializer(model, 3)).owned());
  EXPECT_EQ(consolidate_tensors_to_buffer(model, of(40001)), nullptr) << "nothing is that large";
}

TEST(Consolidate, FollowsThresholdAndAlignmentOfAnArchive) {
  Model model = load_all(sample());
  ASSERT_NE(consolidate_tensors_to_buffer(model, {.threshold = 1024, .alignment = 64}), nullptr);
  EXPECT_TRUE(model.span(initializer(model, 0)).owned());
  for (const int i : {1, 2, 3}) {  // the first one is exactly as large as the threshold
    EXPECT_FALSE(model.span(initializer(model, i)).owned());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address(model, i)) % 64, 0U);
  }
}

TEST(Consolidate, TensorsAndBufferOutliveEachOther) {
  std::optional<Model> model = load_all(sample());
  static_cast<void>(consolidate_tensors_to_buffer(*model, of(0)));  // the buffer is not kept
  EXPECT_EQ(copied(model->payload(initializer(*model, 3))), pattern(40000, 4));
  const ByteSpan kept = model->payload(initializer(*model, 2));
  std::optional<ByteSpan> copy = kept;
  const ByteSpan moved = std::move(*copy);
  const std::shared_ptr<const void> buffer = consolidate_tensors_to_buffer(*model, of(0));
  model.reset();
  EXPECT_EQ(copied(kept), pattern(1300, 3));
  EXPECT_EQ(copied(moved), pattern(1300, 3));
  EXPECT_EQ(buffer.use_count(), 1);
  const Bytes bytes(static_cast<const std::byte*>(buffer.get()) + 4, 1024);
  EXPECT_EQ(Blob(bytes.begin(), bytes.end()), pattern(1024, 2));
}

TEST(Consolidate, SpansFromBeforeStayValid) {
  const TempDir folder;
  Model model = Model::load(folder.write_file("m", sample().view()));
  const ByteSpan mapped = model.payload(initializer(model, 3));
  static_cast<void>(consolidate_tensors_to_buffer(model, of(0)));
  EXPECT_EQ(copied(mapped), pattern(40000, 4));
  EXPECT_EQ(mapped_file_at(mapped.bytes().data()), std::filesystem::canonical(folder / "m"));
  EXPECT_NE(mapped_file_at(address(model, 3)), std::filesystem::canonical(folder / "m"));
  Model own = load_all(sample());
  const ByteSpan share = own.payload(initializer(own, 3));
  static_cast<void>(consolidate_tensors_to_buffer(own, of(0)));
  EXPECT_EQ(copied(share), pattern(40000, 4));
}

TEST(Consolidate, PayloadsLargerThanOnePieceOfWorkArriveWhole) {
  constexpr std::size_t large = (20U << 20U) / 4 + 1;
  Model model = load_all(model_of({floats("a", large, 1), floats("b", 3, 2), floats("c", large, 3)}));
  ASSERT_NE(consolidate_tensors_to_buffer(model, of(0, 64)), nullptr);
  EXPECT_THAT(payloads_of(model), ElementsAre(pattern(4 * large, 1), pattern(12, 2), pattern(4 * large, 3)));
}

TEST(Consolidate, TensorsThatShareTheirDataStillDo) {
  Model model;
  auto shared = std::make_shared<const Blob>(pattern(4000));
  for (const char* name : {"a", "b"}) {
    model.set_payload(add_initializer(model, name, dtype::uint8, {4000}), ByteSpan::borrow(*shared, shared));
  }
  static_cast<void>(consolidate_tensors_to_buffer(model, of(0)));
  EXPECT_EQ(address(model, 0), address(model, 1));
  EXPECT_EQ(shared.use_count(), 1) << "the old storage is let go";
}

TEST(Consolidate, ArchivesAreVerifiedWhileTheyAreCopied) {
  Built archive = archive_of(model_of({linked_floats("a", 300, "a"), linked_floats("b", 300, "b")}),
                             {zip_entry("a", pattern(1200, 1)), zip_entry("b", pattern(1200, 2))});
  Model sound = Model::load(archive.bytes, with_no_copy(true));
  static_cast<void>(consolidate_tensors_to_buffer(sound, of(0)));
  EXPECT_THAT(payloads_of(sound), ElementsAre(pattern(1200, 1), pattern(1200, 2)));
  Blob damaged = archive.bytes;
  damaged.at(archive.entry("b").data_offset) ^= std::byte{1};
  Model model = Model::load(damaged, with_no_copy(true));
  const Error error = error_of([&] { static_cast<void>(consolidate_tensors_to_buffer(model, of(0))); });
  EXPECT_EQ(id(error.code()), "zip.data.crc");
  EXPECT_TRUE(lies_in(model.span(initializer(model, 0)).bytes(), damaged)) << "the model is as it was";
}

TEST(Consolidate, AConsolidatedModelIsSavedInEveryForm) {
  const TempDir folder;
  Model model = load_all(sample());
  const std::vector<Blob> before = payloads_of(model);
  static_cast<void>(consolidate_tensors_to_buffer(model, of(0, 4096)));
  for (const Format format : {Format::archive, Format::onnx_external, Format::onnx_inline}) {
    model.save(folder / "out", saved_as(format, over_existing));
    EXPECT_EQ(payloads_of(Model::load(folder / "out")), before);
  }
}

TEST(Consolidate, AnEmptyModelHasNothingToMove) {
  Model model;
  EXPECT_EQ(consolidate_tensors_to_buffer(model, of(0)), nullptr);
  model.set_payload(add_initializer(model, "empty", dtype::uint8, {0}), ByteSpan());
  EXPECT_EQ(consolidate_tensors_to_buffer(model, of(0)), nullptr);
}

}  // namespace
}  // namespace onnxar::testing
