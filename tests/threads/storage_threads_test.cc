// Many threads copy payloads.
#include <gtest/gtest.h>

#include <string>

#include "convert/load.h"
#include "convert/open.h"
#include "model/payload_memory.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

constexpr std::size_t tensor_count = 200;

/// An archive with all kinds of payloads: verified entries, and decoded typed data.
Built archive_of_all_kinds() {
  Messages links;
  std::vector<ZipEntry> entries;
  for (std::size_t i = 0; i < tensor_count; ++i) {
    const std::string name = "w" + std::to_string(i);
    links.push_back(linked_floats(name, 300 + i, name));
    entries.push_back(zip_entry(name, pattern(4 * (300 + i), static_cast<std::uint32_t>(i))));
    links.push_back(tensor("typed" + name, dtype::int16, {600}).int32_data(std::vector<std::int32_t>(600, -1)));
  }
  return archive_of(model_of(links), entries);
}

LoadedModel load(const Built& archive) {
  const LoadOptions options;
  return load_model(source_of(archive.bytes, nullptr, options), ExternalPolicy::of(options), options);
}

void expect_right(const LoadedModel& model) {
  ASSERT_EQ(model.payloads.size(), 2 * tensor_count);
  for (std::size_t i = 0; i < tensor_count; ++i) {
    EXPECT_TRUE(
        std::ranges::equal(model.payloads[2 * i].bytes(), pattern(4 * (300 + i), static_cast<std::uint32_t>(i))));
    EXPECT_TRUE(std::ranges::equal(model.payloads[2 * i + 1].bytes(), Blob(1200, std::byte{0xff})));
  }
}

TEST(StorageThreads, PayloadsAreCopiedByManyThreads) {
  const Built archive = archive_of_all_kinds();
  for (int round = 0; round < 5; ++round) {
    LoadedModel model = load(archive);
    own_payloads(model, Ownership::all, 8);
    expect_right(model);
  }
}

TEST(StorageThreads, AndGatheredInOneBuffer) {
  const Built archive = archive_of_all_kinds();
  for (int round = 0; round < 5; ++round) {
    LoadedModel model = load(archive);
    const auto buffer = consolidate(model, {});
    expect_right(model);
    EXPECT_EQ(model.payloads.front().span->owner(), buffer);
  }
}

}  // namespace
}  // namespace onnxar::testing
