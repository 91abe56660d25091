// Every option struct of onnxar::model is an aggregate.
#include <gtest/gtest.h>

#include <type_traits>

#include "inspect/inspection.h"
#include "model/front_end.h"

namespace onnxar::testing {
namespace {

static_assert(std::is_aggregate_v<TextOptions> && std::is_aggregate_v<InspectOptions> &&
              std::is_aggregate_v<FreezeOptions>);

TEST(ModelOptions, AreWrittenByTheNamesOfTheirMembers) {
  EXPECT_TRUE(TextOptions{.with_data = true}.load.verify_data);
  EXPECT_FALSE(InspectOptions{.nodes = true}.files);
  EXPECT_FALSE(FreezeOptions{.weights = "w.npz"}.strip_docs);
}

}  // namespace
}  // namespace onnxar::testing
