// The error for a wrong CRC-32: damaged data, or a sum that its writer began anew.
#include "zip/crc_fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Place place_of_data{"w", 64};

TEST(CrcFault, NamesThePlaceAndBothSums) {
  const Blob data = pattern(100);
  const Error error = zip::crc_fault(place_of_data, "the archive", 0x1234, bitwise_crc32(data), data);
  EXPECT_EQ(error.code(), Code::zip_data_crc);
  EXPECT_EQ(error.entry(), "w");
  EXPECT_EQ(error.offset(), 64U);
  EXPECT_THAT(error.message(), HasSubstr("the archive says 0x1234"));
  EXPECT_THAT(error.message(), HasSubstr("it was damaged"));
  EXPECT_EQ(error.advice().hint, Hint::none);
}

TEST(CrcFault, TellsASumThatWasBegunAnew) {
  const Blob data = pattern(100);
  const std::uint32_t of_the_end = bitwise_crc32(Bytes(data).subspan(30));
  const Error error = zip::crc_fault(place_of_data, "the zip", of_the_end, bitwise_crc32(data), data);
  EXPECT_EQ(error.code(), Code::zip_data_crc);
  EXPECT_EQ(error.offset(), 64U);
  EXPECT_THAT(error.message(), HasSubstr("of its last 70 bytes alone"));
  EXPECT_EQ(error.advice().hint, Hint::repack_accept_crc);
  EXPECT_EQ(error.advice().value, "\"w\"");
}

TEST(CrcFault, DoesNotSearchDataThatIsNotInMemory) {
  const Error error = zip::crc_fault(place_of_data, "the zip", 0, 1, {});  // 0 is the sum of no bytes at the end
  EXPECT_THAT(error.message(), HasSubstr("it was damaged"));
  EXPECT_THAT(error.message(), Not(HasSubstr("alone")));
}

}  // namespace
}  // namespace onnxar::testing
