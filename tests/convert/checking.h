// A test of `check` writes a file and compares the findings.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnxar/convert.h"
#include "support/samples.h"

namespace onnxar::testing {

class CheckTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<Finding> checked(const Blob& file, const CheckOptions& options = {}) const {
    return check(folder_.write_file("file", file), options);
  }
  [[nodiscard]] std::vector<Finding> checked(const Built& archive, const CheckOptions& options = {}) const {
    return checked(archive.bytes, options);
  }
  [[nodiscard]] std::vector<Finding> checked(const Message& model) const { return checked(model.view()); }

  /// Expects one finding, at this tensor of this plain model.
  void expect_finding(const Message& model, const Message& tensor, Severity severity, Code code) const {
    expect_only(checked(model), severity, code, "", place_in(model.view(), tensor));
  }
  /// Expects one finding, at this tensor of an archive of the model and these entries.
  void expect_finding_in_archive(const Message& tensor, const std::vector<ZipEntry>& entries, Severity severity,
                                 Code code) const {
    const Built archive = archive_of(model_of({tensor}), entries);
    expect_only(checked(archive), severity, code, "__MODEL_PROTO", place_in(archive.bytes, tensor));
  }
  static void expect_only(const std::vector<Finding>& findings, Severity severity, Code code, const std::string& entry,
                          std::optional<std::uint64_t> offset) {
    ASSERT_THAT(ids_of(findings),
                ::testing::ElementsAre(std::string(to_string(severity)) + " " + std::string(id(code))));
    EXPECT_EQ(findings[0].place.entry, entry) << to_string(findings[0]);
    EXPECT_EQ(findings[0].place.offset, offset) << to_string(findings[0]);
    EXPECT_EQ(passed(findings), severity != Severity::error);
  }

  TempDir folder_;
};

inline const CheckOptions strict = {.strict = true}, with_data = {.data = true};

}  // namespace onnxar::testing
