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

TEST_F(PayloadMemoryTest, ALargeDataFileIsComparedWithItsChecksumWhenItGoesToOneBuffer) {
  LoadedModel model = load(std::string(40, '0'));
  const std::byte* before = model.payloads.front().bytes().data();
  EXPECT_EQ(code_of([&] { return consolidate(model, {}); }), Code::onnx_external_checksum);
  EXPECT_EQ(model.payloads.front().bytes().data(), before) << "the model is as it was";
}

TEST_F(PayloadMemoryTest, ALargeDataFileIsComparedWithItsChecksumWhenTheModelOwnsIt) {
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

TEST_F(PayloadMemoryTest, SizesThatAddUpToNothingDoNotGoToOneBuffer) {
  LoadedModel model;
  for (int i = 0; i < 2; ++i) model.payloads.push_back({std::make_shared<AnnouncedSource>(1ULL << 63U)});
  // On 32-bit systems one of them is too large already.
  const Code code = sizeof(std::size_t) < sizeof(std::uint64_t) ? Code::io_address_space : Code::usage_argument;
  EXPECT_EQ(code_of([&] { return consolidate(model, {}); }), code);
}

}  // namespace
}  // namespace onnxar::testing
