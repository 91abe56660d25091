// `check` and `pack` compute one checksum for bytes that many tensors share.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/sha1.h"
#include "onnxar/convert.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::Contains;

constexpr std::size_t count = 50'000;
const std::string checksum_fault = "error onnx.external_data.checksum";

class ChecksumCostTest : public ::testing::Test {
 protected:
  ChecksumCostTest() : data_(pattern(4 * count)) {
    base::Sha1 sum;
    sum.update(data_);
    sum_ = std::move(sum).hex();
    folder_.write_file("w.bin", data_);
  }

  /// A model with one tensor for each checksum; all of them link to one file.
  [[nodiscard]] std::filesystem::path model_with(const std::vector<std::string>& checksums) const {
    Messages list;
    for (const std::string& sum : checksums) {
      const std::string name = "t" + std::to_string(list.size());
      list.push_back(linked_floats(name, count, "w.bin").external_data("checksum", sum));
    }
    return folder_.write_file("m", model_of(list).view());
  }
  /// Expects so many wrong checksums, and that the data is summed once.
  static void expect_faults(const std::filesystem::path& path, std::size_t faults) {
    const std::uint64_t before = base::Sha1::bytes_summed();
    EXPECT_THAT(ids_of(check(path, {.data = true})), Contains(checksum_fault).Times(faults));
    EXPECT_EQ(base::Sha1::bytes_summed() - before, 4 * count);
  }

  TempDir folder_;
  Blob data_;
  std::string sum_;
};

TEST_F(ChecksumCostTest, Sha1OfAFileSharedByTensorsIsComputedOnce) {
  expect_faults(model_with(std::vector<std::string>(1000, sum_)), 0);
}

TEST_F(ChecksumCostTest, FindsEachWrongChecksumWithOneComputation) {
  expect_faults(model_with({sum_, std::string(40, 'a'), sum_, std::string(40, 'b')}), 2);
}

TEST_F(ChecksumCostTest, SharedEntriesOfAnArchiveAreSummedOnce) {
  Messages list;
  for (int i = 0; i < 500; ++i) {
    const std::string name = "t" + std::to_string(i);
    list.push_back(linked_floats(name, count, "w", 0).external_data("checksum", sum_));
  }
  expect_faults(folder_.write_file("a", archive_of(model_of(list), {zip_entry("w", data_)}).bytes), 0);
}

TEST_F(ChecksumCostTest, AnEntryThatAThousandGraphsNameIsSummedOnce) {
  const Message graph = model_of({linked_floats("t", count, "w", 0).external_data("checksum", sum_)});
  std::vector<ZipEntry> entries = {zip_entry("w", data_)};
  for (int i = 0; i < 1000; ++i) entries.push_back(zip_entry("g" + std::to_string(i) + ".onnx", graph.view()));
  expect_faults(folder_.write_file("a", archive_of(model_of({}), entries).bytes), 0);
}

TEST_F(ChecksumCostTest, PackingSumsSharedBytesOnce) {
  const auto path = model_with(std::vector<std::string>(1000, sum_));
  const std::uint64_t before = base::Sha1::bytes_summed();
  pack(path, folder_ / "out", saved_as(Format::archive));
  EXPECT_EQ(base::Sha1::bytes_summed() - before, 4 * count);
}

// Both checksums are of the same bytes.
TEST_F(ChecksumCostTest, PackRefusesWrongChecksumBesideARightOne) {
  const Error error =
      error_of([&] { pack(model_with({sum_, std::string(40, 'a')}), folder_ / "out", saved_as(Format::archive)); });
  EXPECT_EQ(id(error.code()), "onnx.external_data.checksum") << error.what();
}

}  // namespace
}  // namespace onnxar::testing
