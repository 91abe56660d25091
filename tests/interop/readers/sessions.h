// The ways to make a session of ONNX Runtime from an archive.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "interop/readers/running.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/onnxruntime.h"
#include "support/temp_dir.h"

namespace onnxar::testing {

struct Way {
  std::string name;
  std::function<Ort::Session(const std::filesystem::path& archive, const Ort::SessionOptions& options)> session;
};

inline Ort::Session by_link_file(const std::filesystem::path& archive, const Ort::SessionOptions& options) {
  const std::filesystem::path link = std::filesystem::path(archive) += ".onnx";
  onnxar::link(archive, link, {.output = {.overwrite = true, .sync = false}});
  return ort::session_from_link(env(), link, options);
}

/// The second session is made from what the first one stored.
inline Ort::Session by_cache(const std::filesystem::path& archive, const Ort::SessionOptions& options) {
  const std::filesystem::path file = std::filesystem::path(archive) += ".stored";
  ort::session_from_cache(env(), archive, options, {.file = file});
  return ort::session_from_cache(env(), archive, options, {.file = file});
}

inline std::vector<Way> ways() {
  return {{"archive",
           [](const auto& path, const auto& options) { return ort::session_from_archive(env(), path, options); }},
          {"link", by_link_file},
          {"memory", [](const auto& path,
                        const auto& options) { return ort::session_from_memory(env(), Archive::open(path), options); }},
          {"cache", by_cache}};
}

inline ReplaceOptions unsynced_edit() { return {.output = {.sync = false}}; }

class SessionTest : public ::testing::Test {
 protected:
  std::filesystem::path packed(const std::filesystem::path& model) {
    const SaveOptions options = {.threshold = 0, .all_sites = true, .output = {.overwrite = true, .sync = false}};
    report_ = pack(model, folder_ / "m.onnxar", options);
    return folder_ / "m.onnxar";
  }
  /// Every way gives what the inline model gives.
  void expect_equal_outputs(const std::filesystem::path& model, const Tensors& inputs) {
    const Ort::SessionOptions options = plain_options();
    Ort::Session inline_session(env(), model.c_str(), options);
    const Tensors expected = run(inline_session, inputs);
    const std::filesystem::path archive = packed(model);
    for (const Way& way : ways()) {
      Ort::Session session = way.session(archive, options);
      EXPECT_EQ(ends_of(session), ends_of(inline_session)) << way.name;
      EXPECT_EQ(run(session, inputs), expected) << way.name;
    }
  }

  TempDir folder_;
  ConvertReport report_;
};

}  // namespace onnxar::testing
