// The table of names, with names that were made to fall into one place of it. The reader is compiled into this file, so
// that a test knows its keys.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>

#include <array>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#define OAR_API static
#define OAR_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wunused-function"
namespace onnxar::testing::inner {
#include "onnxar_reader.c"  // NOLINT(bugprone-suspicious-include)
}  // namespace onnxar::testing::inner
#pragma GCC diagnostic pop

#include "support/wire_builder.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using inner::onnxar_reader;

/// Each allocation is at a fixed place, so that the keys of the table are the same in each run.
class Arena {
 public:
  inner::onnxar_reader_options options() {
    next_ = 0;
    inner::onnxar_reader_options options = {};
    options.allocate = [](void* context, std::size_t size) -> void* {
      auto& self = *static_cast<Arena*>(context);
      const std::size_t at = self.next_;
      if (size > self.memory_.size() - at) return nullptr;
      self.next_ += (size + 63) / 64 * 64;
      return &self.memory_[at];
    };
    options.release = [](void* /*context*/, void* /*block*/) {};
    options.allocator_context = this;
    return options;
  }

 private:
  std::vector<unsigned char> memory_ = std::vector<unsigned char>(std::size_t{64} << 20U);
  std::size_t next_ = 0;
};

struct Opened {
  onnxar_reader* archive = nullptr;
  std::string code;
  std::string entry;
};

Opened open_names(Arena& arena, const std::vector<std::string>& names) {
  ZipBuilder builder;
  for (const std::string& name : names) builder.entries.push_back(zip_entry(name, {}));
  builder.entries.push_back(zip_entry(model_entry, model({.graph = graph({})}).view()));
  static std::vector<Blob> kept;
  kept.push_back(builder.build());
  const inner::onnxar_reader_options options = arena.options();
  Opened opened;
  inner::onnxar_reader_error error = {};
  const Blob& bytes = kept.back();
  if (inner::onnxar_reader_open_memory(bytes.data(), bytes.size(), &options, &opened.archive, &error) < 0) {
    opened.code = error.code;
    opened.entry = error.entry;
  }
  return opened;
}

std::string numbered(std::size_t i) { return "n" + std::to_string(1'000'000 + i); }

/// Names that pass many others in a table of this key.
std::vector<std::string> colliding(const onnxar_reader& like, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; names.size() < count; ++i) {
    const std::string name = numbered(i);
    const auto* bytes = reinterpret_cast<const unsigned char*>(name.data());
    const std::uint32_t place = inner::hash_of(&like, bytes, name.size()) * 0x9E3779B1U;
    if (place >> 25U == 0) names.push_back(name);  // one place in 128
  }
  return names;
}

void expect_all_found(const onnxar_reader* archive, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(inner::onnxar_reader_find(archive, names[i].data(), names[i].size()), i);
    std::string other = names[i];
    other.back() = '~';
    EXPECT_EQ(inner::onnxar_reader_find(archive, other.data(), other.size()), OAR_NOT_FOUND);
  }
}

TEST(ReaderNames, AreFoundExactly) {
  Arena arena;
  const std::vector<std::string> names = {
      "a", "b", "ab", "ba", "aa", "Z", "folder/a", "folder/b", std::string(255, 'x')};
  const Opened opened = open_names(arena, names);
  ASSERT_EQ(opened.code, "");
  expect_all_found(opened.archive, names);
  for (const std::string& name : {std::string("A"), std::string("z"), std::string(), std::string("folder"),
                                  std::string(256, 'x'), std::string("a\0", 2)}) {
    EXPECT_EQ(inner::onnxar_reader_find(opened.archive, name.data(), name.size()), OAR_NOT_FOUND) << name;
  }
}

TEST(ReaderNames, ManyInOnePlaceMakeADifferentKey) {
  Arena arena;
  constexpr std::size_t count = 4000;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(numbered(i));
  const Opened usual = open_names(arena, names);
  ASSERT_EQ(usual.code, "");
  const std::uint32_t first_key = usual.archive->hash_key;
  // As long names and as many, so that the table is at the same place.
  const std::vector<std::string> hostile = colliding(*usual.archive, count);
  const Opened opened = open_names(arena, hostile);
  ASSERT_EQ(opened.code, "");
  EXPECT_NE(opened.archive->hash_key, first_key);
  expect_all_found(opened.archive, hostile);
}

TEST(ReaderNames, TheKeyOfUsualNamesIsTheFirst) {
  Arena arena;
  std::set<std::uint32_t> keys;
  for (const char* prefix : {"w", "layers.", "model.decoder.layers.11.self_attn.q_proj.", "a/b/c/"}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < 1000; ++i) names.push_back(prefix + std::to_string(100'000 + i));
    const Opened opened = open_names(arena, names);
    ASSERT_EQ(opened.code, "");
    const auto table = reinterpret_cast<std::uintptr_t>(opened.archive->table);
    const std::uint32_t first = static_cast<std::uint32_t>(table >> 4U) * 0x85EBCA6BU + 0x9E3779B1U;
    EXPECT_EQ(opened.archive->hash_key, (first & 0x3FFFFFFFU) | 0x20000001U) << prefix;
  }
}

TEST(ReaderNames, TheFirstOfSeveralDuplicatesIsReported) {
  struct Case {
    std::vector<std::string> names;
    std::string code, entry;
  };
  const std::vector<Case> cases = {
      {{"a", "b", "A", "b", "a"}, "zip.name.folded", "A"},
      {{"a", "b", "b", "A", "a"}, "zip.name.duplicate", "b"},
      {{"a", "a/b", "a"}, "zip.name.duplicate", "a"},
      {{"a/b/c", "x", "A/B"}, "zip.name.prefix", "a/b/c"},
      {{"a.b", "a/b", "a"}, "zip.name.prefix", "a/b"},
      {{"x", "X/y/z"}, "zip.name.prefix", "X/y/z"},
      {{"a-b", "a/b"}, "", ""},
  };
  for (const Case& one : cases) {
    Arena arena;
    const Opened opened = open_names(arena, one.names);
    EXPECT_EQ(opened.code, one.code) << one.names.back();
    EXPECT_EQ(opened.entry, one.entry) << one.names.back();
  }
}

/// Names of one polynomial hash for every key modulo 2^64, and long ones with many slashes: the costs are linear.
TEST(ReaderNames, ThueMorseAndSlashesAreLinear) {
  Arena arena;
  std::string thue(1, 'a');
  while (thue.size() < 128) {
    std::string flipped = thue;
    for (char& c : flipped) c = c == 'a' ? 'b' : 'a';
    thue += flipped;
  }
  std::string flipped = thue;
  for (char& c : flipped) c = c == 'a' ? 'b' : 'a';
  std::vector<std::string> names = {thue, flipped};
  for (std::size_t i = 0; i < 2000; ++i) {
    std::string name = numbered(i);
    while (name.size() < 1000) name += "/a";
    names.push_back(name);
  }
  const Opened opened = open_names(arena, names);
  ASSERT_EQ(opened.code, "");
  expect_all_found(opened.archive, names);
}

}  // namespace
}  // namespace onnxar::testing
