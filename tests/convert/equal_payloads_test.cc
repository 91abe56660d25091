// Tests that equal data is written once.
#include "convert/equal_payloads.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/crc32.h"
#include "onnxar/error.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

constexpr DataType type = DataType::float32;
constexpr std::size_t size = 10'000;  // beyond the bytes that are read of every payload of one size

/// Counts how often it is read. Stands for data that a reader checks or that reading produces.
class CountedReads final : public ByteSource {
 public:
  explicit CountedReads(Blob bytes, bool is_bad = false) : bytes_(std::move(bytes)), is_bad_(is_bad) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override {
    ++reads_;
    sink(Bytes(bytes_).first(bytes_.size() / 2));
    sink(Bytes(bytes_).subspan(bytes_.size() / 2));
    if (is_bad_) throw Error(Code::zip_data_crc, "damaged");
  }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] int reads() const { return reads_; }

 private:
  Blob bytes_;
  bool is_bad_;
  mutable int reads_ = 0;
};

class EqualPayloadsTest : public ::testing::Test {
 protected:
  const Payload& mapped(Blob bytes) { return kept(payload_of(ByteSpan::own(std::move(bytes)))); }
  const Payload& decoded(const std::shared_ptr<const CountedReads>& source) { return kept({source}); }
  const Payload& checked(const std::shared_ptr<const CountedReads>& source) {
    return kept(payload_at(source->bytes(), source, source));
  }
  const Payload& kept(Payload payload) { return payloads_.emplace_back(std::move(payload)); }

  static Blob differing_at(std::size_t place) {
    Blob bytes = pattern(size);
    bytes[place] ^= std::byte{1};
    return bytes;
  }

  EqualPayloads equal_;

 private:
  std::deque<Payload> payloads_;  // whose addresses stay
};

TEST_F(EqualPayloadsTest, DistinguishesDataWithEqualCrc32) {
  const Blob other = with_the_same_crc(pattern(size), 9000);
  ASSERT_NE(other, pattern(size));
  ASSERT_EQ(base::crc32(0, other), base::crc32(0, pattern(size)));
  const Payload& first = mapped(pattern(size));
  EXPECT_EQ(equal_.first_of(type, first), nullptr);
  EXPECT_EQ(equal_.first_of(type, mapped(other)), nullptr);
  EXPECT_EQ(equal_.first_of(type, mapped(pattern(size))), &first);
}

TEST_F(EqualPayloadsTest, EqualBytesOfOneTypeAreFound) {
  const Payload& first = mapped(pattern(size));
  EXPECT_EQ(equal_.first_of(type, first), nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(equal_.first_of(type, mapped(pattern(size))), &first);
}

TEST_F(EqualPayloadsTest, ADifferenceAnywhereIsSeen) {
  EXPECT_EQ(equal_.first_of(type, mapped(pattern(size))), nullptr);
  std::vector<const Payload*> others;
  for (const std::size_t place : {std::size_t{0}, std::size_t{4095}, std::size_t{4096}, size - 1}) {
    others.push_back(&mapped(differing_at(place)));
    EXPECT_EQ(equal_.first_of(type, *others.back()), nullptr) << place;
    EXPECT_EQ(equal_.first_of(type, mapped(differing_at(place))), others.back()) << place;
  }
}

TEST_F(EqualPayloadsTest, DistinguishesTypesAndSizes) {
  EXPECT_EQ(equal_.first_of(type, mapped(Blob(size))), nullptr);
  EXPECT_EQ(equal_.first_of(DataType::int32, mapped(Blob(size))), nullptr);
  EXPECT_EQ(equal_.first_of(type, mapped(Blob(size - 4))), nullptr);
  EXPECT_EQ(equal_.first_of(type, mapped(Blob(0))), nullptr);
}

TEST_F(EqualPayloadsTest, FindsDecodedDataAndComparesSmallData) {
  const Payload& first = decoded(std::make_shared<CountedReads>(pattern(size)));
  EXPECT_EQ(equal_.first_of(type, first), nullptr);
  EXPECT_EQ(equal_.first_of(type, decoded(std::make_shared<CountedReads>(pattern(size)))), &first);
  EXPECT_EQ(equal_.first_of(type, mapped(pattern(size))), &first);
  EXPECT_EQ(equal_.first_of(type, decoded(std::make_shared<CountedReads>(differing_at(size - 1)))), nullptr);
}

TEST_F(EqualPayloadsTest, TheChecksOfDataThatIsNotWrittenAreMade) {
  EXPECT_EQ(equal_.first_of(type, mapped(pattern(size))), nullptr);
  const auto bad = std::make_shared<const CountedReads>(pattern(size), true);
  EXPECT_EQ(error_of([&] { static_cast<void>(equal_.first_of(type, checked(bad))); }).code(), Code::zip_data_crc);
}

// A hostile model may have a million tensors of one size that differ in their last byte, or not at all.
TEST_F(EqualPayloadsTest, ReadsEachPayloadAFewTimesAtMost) {
  std::vector<std::shared_ptr<const CountedReads>> sources;
  for (std::size_t i = 0; i < 300; ++i) {
    sources.push_back(
        std::make_shared<const CountedReads>(i % 3 == 0 ? pattern(size) : differing_at(size - 1 - i % 7)));
    static_cast<void>(equal_.first_of(type, checked(sources.back())));
  }
  for (const auto& source : sources) EXPECT_LE(source->reads(), 1);  // for the comparison; digests read the memory
}

TEST_F(EqualPayloadsTest, StopsReadingAfterDifferentFirstBytes) {
  for (std::uint32_t i = 0; i < 100; ++i) {
    Blob bytes = pattern(size);
    bytes[0] = static_cast<std::byte>(i);
    const auto source = std::make_shared<const CountedReads>(std::move(bytes));
    EXPECT_EQ(equal_.first_of(type, checked(source)), nullptr);
    EXPECT_EQ(source->reads(), 0);
  }
}

}  // namespace
}  // namespace onnxar::testing
