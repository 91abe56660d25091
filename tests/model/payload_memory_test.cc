// Payloads are verified while they are copied into memory that the model owns.
#include "model/payload_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "convert/load.h"
#include "model/front_end.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/sources.h"

namespace onnxar::testing {
namespace {

/// 9 MiB of zeros: more than `consolidate` copies as one piece. The SHA-1 is what `sha1sum` prints for them.
constexpr std::size_t elements = (9U << 20U) / 4;
constexpr std::string_view sha1 = "8f7659b0fa3994fcce2be062bbea0d183e9bc44e";

class PayloadMemoryTest : public ::testing::Test {
 protected:
  /// A model with one tensor, whose data is a file with this checksum.
  [[nodiscard]] LoadedModel load(std::string_view checksum) const {
    const auto weight = linked_floats("w", elements, "w.bin").external_data("checksum", checksum);
    const LoadOptions options;
    return load_model(folder_.write_file("m.onnx", model_of({weight}).view()), ExternalPolicy::of(options), options);
  }

  TempDir folder_;
  std::filesystem::path data_ = folder_.write_file("w.bin", Blob(4 * elements));
};

TEST_F(PayloadMemoryTest, ConsolidatingComparesTheChecksum) {
  LoadedModel model = load(std::string(40, '0'));
  const std::byte* before = model.payloads.front().bytes().data();
  EXPECT_EQ(code_of([&] { return consolidate(model, {}); }), Code::onnx_external_checksum);
  EXPECT_EQ(model.payloads.front().bytes().data(), before) << "the model is as it was";
}

TEST_F(PayloadMemoryTest, OwningComparesTheChecksum) {
  LoadedModel model = load(std::string(40, '0'));
  EXPECT_EQ(code_of([&] { own_payloads(model, Ownership::all, 1); }), Code::onnx_external_checksum);
}

TEST_F(PayloadMemoryTest, ALargeDataFileWithItsChecksumIsCopied) {
  LoadedModel model = load(sha1);
  const auto buffer = consolidate(model, {});
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(model.payloads.front().bytes().data(), buffer.get());
  EXPECT_TRUE(std::ranges::equal(model.payloads.front().bytes(), Blob(4 * elements)));
}

TEST_F(PayloadMemoryTest, EmptyTensorOfARangedArchiveHasASpan) {
  const Message model = model_of({linked_floats("a", 300, "w"), tensor("e", dtype::float32, {0}).external("w", 0, 0)});
  LoadOptions load;
  load.open_ranges = [&](const std::filesystem::path&) {
    return by_ranges(archive_of(model, {zip_entry("w", pattern(1200))}).bytes);
  };
  const Model loaded = Model::load("there", load);
  EXPECT_EQ(loaded.span(loaded.proto().graph().initializer(1)).size(), 0U);
  EXPECT_TRUE(diff("there", "there", load).none());
}

TEST_F(PayloadMemoryTest, LimitsRangedReadsOfOverlappingSlices) {
  Messages list;
  for (std::size_t i = 0; i < 20; ++i) list.push_back(linked_floats("t" + std::to_string(i), 10'000, "w", 4 * i));
  LoadOptions load;
  load.open_ranges = [&](const std::filesystem::path&) {
    return by_ranges(archive_of(model_of(list), {zip_entry("w", pattern(40'080))}).bytes);
  };
  EXPECT_EQ(code_of([&] { return Model::load("there", load); }), Code::onnx_model_expansion);
}

TEST_F(PayloadMemoryTest, SizesThatAddUpToNothingDoNotGoToOneBuffer) {
  LoadedModel model;
  for (int i = 0; i < 2; ++i) {
    model.payloads.push_back({std::make_shared<AnnouncedSource>(1ULL << 63U)});
    model.payloads.back().may_be_shared = false;  // so that it needs no input
  }
  // On 32-bit systems one of them is too large already.
  const Code code = sizeof(std::size_t) < sizeof(std::uint64_t) ? Code::io_address_space : Code::usage_argument;
  EXPECT_EQ(code_of([&] { return consolidate(model, {}); }), code);
}

}  // namespace
}  // namespace onnxar::testing
