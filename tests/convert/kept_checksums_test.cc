// Checksums of links that a new model keeps are those of the entries, or known from the old model.
#include "convert/kept_checksums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "convert/checksum.h"
#include "convert/replacing.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(ReplaceTest, ChecksumsThatStayAreThoseOfTheirEntries) {
  const Message wrong = model_of({linked_floats("a", 300, "a").external_data("checksum", std::string(40, 'a'))});
  const Error error = expect_refused(wrong, Code::onnx_external_checksum);
  EXPECT_THAT(error.what(), HasSubstr("\"a\""));
  onnxar::replace(archive_, write(wrong), unsynced_edit(), {.verify_data = false});
  EXPECT_EQ(now(), append_edit(before_, wrong.view()).bytes);
}

// Summing would read all weights again with every new model.
TEST_F(ReplaceTest, KeepsAChecksumOfTheOldModel) {
  const Message stated = model_of({linked_floats("a", 300, "a").external_data("checksum", std::string(40, 'a'))});
  start_with(archive_of(stated, {zip_entry("a", pattern(1200, 1))}));
  onnxar::replace(archive_, write(stated), unsynced_edit());
  EXPECT_EQ(now(), append_edit(before_, stated.view()).bytes);
}

}  // namespace
}  // namespace onnxar::testing
