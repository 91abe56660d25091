// Shapes as text, for the command.
#include "model/front_end.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "support/refusal.h"

namespace onnxar::testing {
namespace {

TEST(ShapeText, HasNumbersPrintableNamesAndMarks) {
  const auto printable = [](const std::string& name) { return escaped(name); };
  EXPECT_EQ(shape_text({{1, ""}, {{}, "batch"}, {{}, ""}, {{}, "a\n"}, {INT64_MIN, "ignored"}}, printable),
            "[1,batch,?,a\\x0a,-9223372036854775808]");
  EXPECT_EQ(shape_text({}, printable), "[]");
}

TEST(ShapeText, EmptyFunctionIsRefused) {
  EXPECT_EQ(code_of([] { return shape_text({{1, ""}}, std::function<std::string(const std::string&)>()); }),
            Code::usage_argument);
}

}  // namespace
}  // namespace onnxar::testing
