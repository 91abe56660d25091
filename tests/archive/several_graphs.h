// An archive of several graphs, for tests that read, edit and save it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "support/samples.h"
#include "support/temp_dir.h"

namespace onnxar::testing {

inline constexpr std::size_t graph_weight = 300;

inline Message named_weight(const std::string& name) { return linked_floats(name, graph_weight, name); }

/// An archive with the weight `w`, and these entries after it.
inline Built with_w(const Message& model, std::vector<ZipEntry> entries) {
  entries.insert(entries.begin(), zip_entry("w", pattern(4 * graph_weight, 1)));
  return archive_of(model, std::move(entries));
}

class GraphsTest : public ::testing::Test {
 protected:
  /// An archive in which model and graph share `w`, only the graph uses `v`, and a side file follows.
  std::filesystem::path several() {
    const Message graph = model_of({named_weight("w"), named_weight("v")});
    const Built built =
        with_w(model_of({named_weight("w")}), {zip_entry("v", pattern(4 * graph_weight, 2)),
                                               zip_entry("t.json", pattern(5)), zip_entry("b.onnx", graph.view())});
    return folder_.write_file("several", built.bytes);
  }

  static EditOptions unsynced() { return {.output = {.sync = false}}; }

  ArchiveWriter writer() { return ArchiveWriter::create(folder_ / "written", {.output = {.sync = false}}); }

  void expect_good(const std::filesystem::path& path) { EXPECT_TRUE(passed(check(path, {.data = true}))); }

  TempDir folder_;
};

}  // namespace onnxar::testing
