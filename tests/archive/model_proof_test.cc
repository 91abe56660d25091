// The limit of models and graphs.
#include "archive/model_proof.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace onnxar::testing {
namespace {

TEST(ModelSize, FitsProtobufBelowTwoGibibytes) {
  EXPECT_TRUE(fits_protobuf(0));
  EXPECT_TRUE(fits_protobuf(0x7fffffff));
  EXPECT_FALSE(fits_protobuf(0x80000000));
  EXPECT_FALSE(fits_protobuf(~std::uint64_t{0}));
}

TEST(OversizeText, SaysHowLargeTheModelIsAndWhatTheLimitIs) {
  EXPECT_EQ(oversize_text("the graph is", 3ULL << 30U),
            "the graph is 3.00 GiB (3221225472 bytes), and protobuf reads less than 2 GiB");
}

}  // namespace
}  // namespace onnxar::testing
