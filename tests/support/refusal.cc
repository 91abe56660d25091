// Compares an error with the expected code, entry, offset, path, hint and words.
#include "support/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onnxar::testing {

void expect_error(const std::optional<Error>& error, const ExpectedError& expected, const std::source_location& place) {
  const ::testing::ScopedTrace trace(place.file_name(), static_cast<int>(place.line()), error ? error->what() : "");
  ASSERT_TRUE(error) << "nothing was thrown";
  EXPECT_EQ(error->code(), expected.code);
  EXPECT_EQ(error->entry(), expected.entry.value_or(error->entry()));
  EXPECT_EQ(error->offset(), expected.offset ? expected.offset : error->offset());
  EXPECT_EQ(error->path(), expected.path.value_or(error->path()));
  EXPECT_EQ(id(error->advice().hint), id(expected.hint.value_or(error->advice().hint)));
  for (const std::string_view part : expected.says) EXPECT_THAT(error->what(), ::testing::HasSubstr(part));
}

}  // namespace onnxar::testing
