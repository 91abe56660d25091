// Zip files to be repacked, and what may become of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {

inline ZipBuilder zip_file_of(std::vector<ZipEntry> entries) {
  ZipBuilder builder;
  builder.entries = std::move(entries);
  return builder;
}

/// Nothing is synced: no test cuts the power.
inline RepackOptions quick() { return {.output = {.sync = false}}; }
inline RepackOptions replacing() { return {.output = {.overwrite = true, .sync = false}}; }

class RepackTest : public ::testing::Test {
 protected:
  std::filesystem::path input(const Blob& bytes) const { return folder_.write_file("in", bytes); }

  /// The output for these bytes; it is an archive without remarks.
  Blob repacked(const Blob& bytes, RepackOptions options = quick()) {
    options.output.overwrite = true;
    report_ = repack(input(bytes), folder_ / "out", options);
    const Blob output = folder_.read_file("out");
    EXPECT_EQ(report_.file_bytes, output.size());
    EXPECT_EQ(report_.input_bytes, bytes.size());
    const Archive archive = Archive::open(output, nullptr);
    EXPECT_EQ(report_.entries, archive.size());
    for (std::size_t i = 0; i < archive.size(); ++i) archive.verify(archive.entry(i));
    return output;
  }

  /// Expects this error and no remaining file. Returns the message.
  std::string expect_refused(const Blob& bytes, const ErrorContext& refusal, const RepackOptions& options = quick()) {
    const std::filesystem::path path = input(bytes);
    const auto error = error_if_any([&] { return repack(path, folder_ / "out", options); });
    EXPECT_TRUE(error);
    if (!error) return "";
    EXPECT_EQ((ErrorContext{error->code(), error->entry(), error->offset()}), refusal);
    EXPECT_EQ(error->path(), path);
    EXPECT_THAT(folder_.file_names(), ::testing::ElementsAre("in"));
    return error->what();
  }

  /// The messages of the report, all of which must be notes about the kind of input.
  [[nodiscard]] std::vector<std::string> remarks() const {
    std::vector<std::string> lines;
    for (const Finding& remark : report_.remarks) {
      EXPECT_EQ(remark.severity, Severity::note);
      EXPECT_EQ(remark.code, Code::zip_foreign);
      lines.push_back(remark.message);
    }
    return lines;
  }

  TempDir folder_;
  RepackReport report_;
};

/// A zip as of another maker: a model of this name, `a` and `b`.
inline ZipBuilder plain_zip_of_three(std::string_view model = model_entry) {
  return zip_file_of({plain_entry(zip_entry(model, blob("model"))), plain_entry(zip_entry("a", pattern(100, 1))),
                      plain_entry(zip_entry("b", pattern(2 * mebibyte, 2)))});
}

/// What becomes of them.
inline Blob archive_of_three() {
  return zip_file_of({zip_entry("a", pattern(100, 1)), zip_entry("b", pattern(2 * mebibyte, 2)),
                      zip_entry(model_entry, blob("model"))})
      .build();
}

}  // namespace onnxar::testing
