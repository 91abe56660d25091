// Text of models that is parsed: the place of a syntax error, and no places for other faults.
#include "model/text_parser.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <optional>

#include "model/front_end.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::StartsWith;

class TextParserTest : public ::testing::Test {
 protected:
  TempDir folder_;
};

TEST_F(TextParserTest, ASyntaxErrorNamesItsPlaceAndTheFile) {
  const auto path = folder_.write_file("t", "ir_version: 8\ngraph {\n  node { op_type: Relu }\n}\n");
  const Error error = error_of([&] { static_cast<void>(Model::load(path)); });
  EXPECT_EQ(error.code(), Code::onnx_text_syntax);
  EXPECT_EQ(error.path(), path);
  EXPECT_THAT(error.message(), StartsWith("line 3, column 19: "));
  EXPECT_EQ(error.offset(), std::nullopt);
}

TEST_F(TextParserTest, AFaultOfAModelThatWasTextHasNoPlaceInTheFile) {
  const auto path = folder_.write_file("t", "graph { initializer { name: 'w' dims: 9 data_type: 1 raw_data: '12' } }");
  const Error error = error_of([&] { static_cast<void>(Model::load(path)); });
  EXPECT_EQ(error.code(), Code::onnx_tensor_length);
  EXPECT_EQ(error.offset(), std::nullopt);
  EXPECT_EQ(error.path(), path);
}

TEST(TextParser, CallersOwnParserIsKept) {
  LoadOptions options;
  options.text_parser = [](Bytes) { return Blob(7); };
  EXPECT_EQ(with_text_parser(options).text_parser({}).size(), 7U);
  EXPECT_TRUE(with_text_parser({}).text_parser);
}

}  // namespace
}  // namespace onnxar::testing
