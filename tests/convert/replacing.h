// A test of `replace` has an archive of two weights, and compares the result with an independent builder's.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/convert.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {

inline ReplaceOptions with_files() { return {.append_external = true, .output = unsynced_output}; }

class ReplaceTest : public ::testing::Test {
 protected:
  /// An archive of two weights, `a` and `b`, of 300 floats each.
  void SetUp() override {
    start_with(archive_of(model_of({linked_floats("a", 300, "a"), linked_floats("b", 300, "b")}),
                          {zip_entry("a", pattern(1200, 1)), zip_entry("b", pattern(1200, 2))}));
  }
  void start_with(Built built) {
    before_ = std::move(built);
    archive_ = folder_.write_file("x.onnxar", before_.bytes);
  }
  [[nodiscard]] Blob now() const { return folder_.read_file("x.onnxar"); }
  std::filesystem::path write(const Message& model) { return folder_.write_file("m.onnx", model.view()); }

  /// Expects the archive that an independent builder makes by the same edit.
  void expect_edit(const Message& model, std::vector<ZipEntry> extra = {}) {
    EXPECT_EQ(now(), append_edit(before_, model.view(), std::move(extra)).bytes);
    for (const Finding& finding : check(archive_, {.data = true, .strict = false, .load = {}})) {
      EXPECT_NE(finding.severity, Severity::error) << to_string(finding);
    }
  }
  /// Expects that replacing by the file `m.onnx` gives the model `expected`, and adds these entries.
  void expect_replaced(const Message& model, const Message& expected, std::vector<ZipEntry> extra = {},
                       const ReplaceOptions& options = unsynced_edit()) {
    report_ = onnxar::replace(archive_, write(model), options);
    expect_edit(expected, std::move(extra));
    EXPECT_EQ(report_.file_bytes, now().size());
    EXPECT_EQ(report_.file_bytes_before, before_.bytes.size());
    EXPECT_EQ(report_.model_bytes, expected.size());
  }
  Error expect_refused(const Message& model, Code code, const ReplaceOptions& options = unsynced_edit()) {
    const std::filesystem::path path = write(model);
    const std::vector<std::string> files = folder_.file_names();
    Error error = error_of([&] { onnxar::replace(archive_, path, options); });
    EXPECT_EQ(id(error.code()), id(code)) << error.what();
    EXPECT_EQ(now(), before_.bytes);
    EXPECT_EQ(folder_.file_names(), files);
    return error;
  }
  [[nodiscard]] std::uint64_t offset_of(std::string_view entry) const { return before_.entry(entry).data_offset; }

  TempDir folder_;
  std::filesystem::path archive_;
  Built before_;
  ReplaceReport report_;
};

}  // namespace onnxar::testing
