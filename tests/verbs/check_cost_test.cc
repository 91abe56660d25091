// What `check` and packing sum: bytes that many tensors share are summed once.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <openssl/evp.h>

#include <atomic>
#include <string>
#include <vector>

#include "base/sha1.h"
#include "onnxar/convert.h"
#include "support/samples.h"

namespace {

std::atomic<std::uint64_t> bytes_hashed = 0;

}  // namespace

/// This program's own, in place of OpenSSL's: it counts, and has OpenSSL do it.
extern "C" int EVP_DigestUpdate(EVP_MD_CTX* ctx, const void* d, std::size_t cnt) {
  static const auto real = reinterpret_cast<decltype(&EVP_DigestUpdate)>(::dlsym(RTLD_NEXT, "EVP_DigestUpdate"));
  bytes_hashed += cnt;
  return real(ctx, d, cnt);
}

namespace onnxar::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;

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

  /// A model of a tensor for each checksum, all of them the same file.
  [[nodiscard]] std::filesystem::path model_with(const std::vector<std::string>& checksums) const {
    Messages list;
    for (const std::string& sum : checksums) {
      const std::string name = "t" + std::to_string(list.size());
      list.push_back(linked_floats(name, count, "w.bin").external_data("checksum", sum));
    }
    return folder_.write_file("m", model_of(list).view());
  }
  [[nodiscard]] static std::vector<std::string> found(const std::filesystem::path& path) {
    CheckOptions options;
    options.data = true;
    return ids_of(check(path, options));
  }

  TempDir folder_;
  Blob data_;
  std::string sum_;
};

TEST_F(ChecksumCostTest, TheSha1OfAFileThatAThousandTensorsShareIsComputedOnce) {
  const auto path = model_with(std::vector<std::string>(1000, sum_));
  bytes_hashed = 0;
  EXPECT_THAT(found(path), Not(Contains(checksum_fault)));
  EXPECT_EQ(bytes_hashed, 4 * count);
}

TEST_F(ChecksumCostTest, EachTensorWithAWrongChecksumIsFoundThoughTheSumIsComputedOnce) {
  const auto path = model_with({sum_, std::string(40, 'a'), sum_, std::string(40, 'b')});
  bytes_hashed = 0;
  EXPECT_THAT(found(path), Contains(checksum_fault).Times(2));
  EXPECT_EQ(bytes_hashed, 4 * count);
}

TEST_F(ChecksumCostTest, AnArchiveOfSharedEntriesIsSummedOnceToo) {
  Messages list;
  for (int i = 0; i < 500; ++i) {
    const std::string name = "t" + std::to_string(i);
    list.push_back(linked_floats(name, count, "w", 0).external_data("checksum", sum_));
  }
  const auto path = folder_.write_file("a", archive_of(model_of(list), {zip_entry("w", data_)}).bytes);
  bytes_hashed = 0;
  EXPECT_THAT(found(path), Not(Contains(checksum_fault)));
  EXPECT_EQ(bytes_hashed, 4 * count);
}

TEST_F(ChecksumCostTest, AnEntryThatAThousandGraphsNameIsSummedOnce) {
  const Message graph = model_of({linked_floats("t", count, "w", 0).external_data("checksum", sum_)});
  std::vector<ZipEntry> entries = {zip_entry("w", data_)};
  for (int i = 0; i < 1000; ++i) entries.push_back(zip_entry("g" + std::to_string(i) + ".onnx", graph.view()));
  const auto path = folder_.write_file("a", archive_of(model_of({}), entries).bytes);
  bytes_hashed = 0;
  EXPECT_THAT(found(path), Not(Contains(checksum_fault)));
  EXPECT_EQ(bytes_hashed, 4 * count);
}

TEST_F(ChecksumCostTest, PackingSumsSharedBytesOnce) {
  const auto path = model_with(std::vector<std::string>(1000, sum_));
  bytes_hashed = 0;
  pack(path, folder_ / "out", saved_as(Format::archive));
  EXPECT_EQ(bytes_hashed, 4 * count);
}

TEST_F(ChecksumCostTest, AWrongChecksumBesideARightOneOfTheSameBytesIsRefusedByPack) {
  const Error error =
      error_of([&] { pack(model_with({sum_, std::string(40, 'a')}), folder_ / "out", saved_as(Format::archive)); });
  EXPECT_EQ(id(error.code()), "onnx.external_data.checksum") << error.what();
}

}  // namespace
}  // namespace onnxar::testing
