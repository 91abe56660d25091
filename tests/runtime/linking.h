// An archive to link to, and its links.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/link.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {

inline constexpr std::string_view archive_key = "onnxar.link.archive", offset_key = "onnxar.link.offset",
                                  size_key = "onnxar.link.size", model_key = "onnxar.link.model_crc32",
                                  directory_key = "onnxar.link.directory_crc32";

inline LinkOptions unsynced_link() { return {.output = {.sync = false}}; }

/// The marker of a link to this archive.
inline Messages marker_of(const Built& archive, std::string_view name = "x.onnxar") {
  const Bytes directory = Bytes(archive.bytes).subspan(archive.directory_offset, archive.directory_size);
  return {string_entry(archive_key, name), string_entry(size_key, std::to_string(archive.bytes.size())),
          string_entry(model_key, std::to_string(bitwise_crc32(archive.data_of(model_entry)))),
          string_entry(directory_key, std::to_string(bitwise_crc32(directory)))};
}

inline Message model_with(const Messages& initializers, const Messages& metadata) {
  return model({.graph = graph({.initializers = initializers}), .metadata = metadata});
}

class LinkTest : public ::testing::Test {
 protected:
  /// An archive of two weights, `a` and `b`, of 300 floats each.
  void SetUp() override {
    start_with(archive_of(model_of({linked_floats("a", 300, "a"), linked_floats("b", 300, "b")}),
                          {zip_entry("a", pattern(1200, 1)), zip_entry("b", pattern(1200, 2))}));
  }
  void start_with(Built built) {
    built_ = std::move(built);
    archive_ = folder_.write_file("x.onnxar", built_.bytes);
  }
  [[nodiscard]] std::uint64_t offset_of(std::string_view entry) const { return built_.entry(entry).data_offset; }
  /// The model of SetUp as a link.
  [[nodiscard]] Message expected() const { return linked_model(marker_of(built_)); }
  [[nodiscard]] Message linked_model(const Messages& metadata) const {
    return model_with(
        {linked_floats("a", 300, "x.onnxar", offset_of("a")), linked_floats("b", 300, "x.onnxar", offset_of("b"))},
        metadata);
  }
  std::filesystem::path written() {
    const std::filesystem::path link = folder_ / "x.onnx";
    onnxar::link(archive_, link, unsynced_link());
    return link;
  }
  /// Expects the link `after` of an archive with the model `before` and an entry `w` of this size. `after` gets the
  /// place of the entry's data and the marker.
  void expect_link(const Message& before, const std::function<Message(std::uint64_t, const Messages&)>& after,
                   std::size_t size = 1200) {
    start_with(archive_of(before, {zip_entry("w", pattern(size, 5))}));
    EXPECT_EQ(make_link(archive_).model, after(offset_of("w"), marker_of(built_)).view());
  }
  void expect_stale(const std::filesystem::path& link) {
    const auto error = error_of([&] { verify_link(link); });
    EXPECT_EQ(id(error.code()), "onnx.link.stale") << error.what();
    EXPECT_EQ(error.path(), link);
    EXPECT_EQ(error.advice().hint, Hint::link_again);
    expect_refused(folder_, link, saved_as(Format::archive), Code::onnx_link_stale, "", {});
    EXPECT_THAT(ids_of(check(link)), ::testing::ElementsAre("error onnx.link.stale"));
  }

  TempDir folder_;
  std::filesystem::path archive_;
  Built built_;
};

}  // namespace onnxar::testing
