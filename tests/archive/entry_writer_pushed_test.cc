// Entries whose bytes come in pieces from a producer: begin, write, end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;

constexpr WriterOptions unsynced_writer = {.output = {.overwrite = true, .sync = false}, .verify_model = false};

/// Pushes `bytes` in pieces of `piece` bytes.
void push(auto& writer, std::string_view name, Bytes bytes, std::size_t piece) {
  writer.begin(name, bytes.size());
  while (!bytes.empty()) {
    const Bytes next = bytes.first(std::min(piece, bytes.size()));
    writer.write(Blob(next.begin(), next.end()));  // freed before the next piece
    bytes = bytes.subspan(next.size());
  }
  writer.end();
}

class PushedEntry : public ::testing::Test {
 protected:
  [[nodiscard]] ArchiveWriter writer(const char* name = "a") const {
    return ArchiveWriter::create(folder_ / name, unsynced_writer);
  }

  /// Expects that the action fails, and that nothing is published after it.
  template <typename Action>
  void expect_refused(const Action& action, Code code, std::string_view words) {
    ArchiveWriter used = writer();
    const std::optional<Error> error = error_if_any([&] { action(used); });
    ASSERT_TRUE(error) << words;
    EXPECT_EQ(error->code(), code) << error->what();
    EXPECT_THAT(error->what(), HasSubstr(words));
    EXPECT_EQ(code_of([&] { used.finish(smallest_model()); }), Code::usage_writer_failed);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
  }

  TempDir folder_;
};

TEST_F(PushedEntry, WritesTheSameFileAsAdd) {
  const Blob large = pattern((3U << 20U) + 5);  // at a multiple of 4096, and beyond each buffer
  const Blob small = pattern(100);
  ArchiveWriter added = writer("added");
  added.add("large", large);
  added.add("small", small);
  added.add("empty", Bytes());
  added.finish(smallest_model());
  for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 20U, large.size()}) {
    ArchiveWriter pushed = writer("pushed");
    push(pushed, "large", large, piece);
    pushed.begin("small", small.size());
    pushed.write(Bytes());
    pushed.write(small);
    pushed.end();
    push(pushed, "empty", {}, piece);
    pushed.finish(smallest_model());
    EXPECT_EQ(folder_.read_file("pushed"), folder_.read_file("added")) << piece;
  }
}

TEST_F(PushedEntry, MakesTheSameEditAsAdd) {
  const Blob weight = pattern(70000);
  for (const char* name : {"added", "pushed"}) {
    folder_.write_file(name, smallest_archive().bytes);
    ArchiveEditor editor = ArchiveEditor::open(folder_ / name, {.output = {.sync = false}, .verify_model = false});
    if (name == std::string_view("added")) {
      editor.add("new", weight);
    } else {
      push(editor, "new", weight, 999);
    }
    editor.commit(smallest_model());
  }
  EXPECT_EQ(folder_.read_file("pushed"), folder_.read_file("added"));
}

TEST_F(PushedEntry, NeedsExactlyTheAnnouncedBytes) {
  const auto pushed = [](std::size_t bytes) {
    return [bytes](ArchiveWriter& writer) {
      writer.begin("w", 10);
      writer.write(pattern(4));
      writer.write(pattern(bytes));
      writer.end();
    };
  };
  expect_refused(pushed(5), Code::io_source_size, "shorter than the 10 bytes");
  expect_refused(pushed(7), Code::io_source_size, "longer than the 10 bytes");
  expect_refused([](ArchiveWriter& used) { used.begin("w", UINT64_MAX); }, Code::usage_argument, "does not fit");
}

TEST_F(PushedEntry, RefusesOtherCallsInBetween) {
  const auto begun = [](const auto& action) {
    return [action](ArchiveWriter& writer) {
      writer.begin("w", 4);
      writer.write(pattern(4));
      action(writer);
    };
  };
  constexpr std::string_view words = "this entry was begun but not ended";
  expect_refused(begun([](ArchiveWriter& used) { used.add("v", pattern(4)); }), Code::usage_argument, words);
  expect_refused(begun([](ArchiveWriter& used) { used.begin("v", 4); }), Code::usage_argument, words);
  expect_refused(begun([](ArchiveWriter& used) { used.add_graph("g", smallest_model()); }), Code::usage_argument,
                 words);
  expect_refused(begun([](ArchiveWriter& used) { used.finish(smallest_model()); }), Code::usage_argument, words);
  expect_refused([](ArchiveWriter& used) { used.write(pattern(4)); }, Code::usage_argument, "no entry was begun");
  expect_refused([](ArchiveWriter& used) { used.end(); }, Code::usage_argument, "no entry was begun");
}

TEST_F(PushedEntry, RefusesTheNamesThatAddRefuses) {
  expect_refused([](ArchiveWriter& used) { used.begin("__Meta", 4); }, Code::archive_name_reserved, "");
  expect_refused([](ArchiveWriter& used) { used.begin("a:b", 4); }, Code::zip_name_character, "");
  const auto twice = [](ArchiveWriter& used) {
    push(used, "w", pattern(4), 4);
    used.begin("W", 4);
  };
  expect_refused(twice, Code::zip_name_folded, "");
  const auto after_graph = [](ArchiveWriter& used) {
    used.add_graph("g", smallest_model());
    used.begin("w", 4);
  };
  expect_refused(after_graph, Code::usage_argument, "after the graph");
}

TEST_F(PushedEntry, EditorThatIsLeftInBetweenTakesItBack) {
  const Blob before = smallest_archive().bytes;
  folder_.write_file("a", before);
  {
    ArchiveEditor editor = ArchiveEditor::open(folder_ / "a", {.output = {.sync = false}});
    editor.begin("new", 1U << 21U);
    editor.write(pattern(1U << 20U));
  }
  EXPECT_EQ(folder_.read_file("a"), before);
}

}  // namespace
}  // namespace onnxar::testing
