// The table of names, with names that were made to fall into one place of it. The reader is compiled into this file, so
// that a test knows its keys.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <map>
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

/// Memory at addresses that an attacker may know.
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

std::uint32_t hash_of(const std::string& name) {
  return inner::hash_of(reinterpret_cast<const unsigned char*>(name.data()), name.size());
}

/// Names that are in few buckets of a table.
std::vector<std::string> in_few_buckets(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; names.size() < count; ++i) {
    const std::string name = numbered(i);
    if (hash_of(name) * 0x9E3779B1U >> 25U == 0) names.push_back(name);  // one bucket in 128
  }
  return names;
}

/// Two blocks that can follow each name of `names`, which share a hash, so that all have one hash again.
std::array<std::string, 2> equal_blocks(const std::string& name) {
  std::map<std::uint32_t, std::string> seen;
  for (std::size_t i = 0;; ++i) {
    const std::string block = std::to_string(1'000'000 + i);
    const auto [found, is_new] = seen.try_emplace(hash_of(name + block), block);
    if (!is_new) return {found->second, block};
  }
}

/// 2^doublings names of one hash and one length.
std::vector<std::string> of_one_hash(std::size_t doublings) {
  std::vector<std::string> names = {"n"};
  while (doublings-- > 0) {
    std::vector<std::string> longer;
    for (const std::string& block : equal_blocks(names[0])) {
      for (const std::string& name : names) longer.push_back(name + block);
    }
    names = longer;
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

TEST(ReaderNames, AreFoundInFewBuckets) {
  Arena arena;
  const std::vector<std::string> names = in_few_buckets(4000);
  const Opened opened = open_names(arena, names);
  ASSERT_EQ(opened.code, "");
  expect_all_found(opened.archive, names);
}

TEST(ReaderNames, AreFoundIfAllShareAHash) {
  Arena arena;
  std::vector<std::string> names = of_one_hash(9);
  ASSERT_EQ(hash_of(names.front()), hash_of(names.back()));
  const Opened opened = open_names(arena, names);
  ASSERT_EQ(opened.code, "");
  expect_all_found(opened.archive, names);
  // Each half of the order holds half of the names: a search is not a walk.
  for (std::size_t i = 1; i < opened.archive->count; ++i) {
    const std::uint32_t* order = opened.archive->names;
    EXPECT_TRUE(inner::compare_entries(opened.archive, order[i - 1], order[i]) < 0 ||
                inner::bucket_of(opened.archive, opened.archive->entries[order[i - 1]].hash) <
                    inner::bucket_of(opened.archive, opened.archive->entries[order[i]].hash));
  }
  names.push_back(names[100]);
  EXPECT_EQ(open_names(arena, names).code, "zip.name.duplicate");
  names.back() = names[7] + "/x";
  const Opened prefixed = open_names(arena, names);
  EXPECT_EQ(prefixed.code, "zip.name.prefix");
  EXPECT_EQ(prefixed.entry, names.back());
}

TEST(ReaderNames, OrderDoesNotDependOnAddresses) {
  Arena first, second;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 1000; ++i) names.push_back(numbered(i));
  const Opened a = open_names(first, names), b = open_names(second, names);
  ASSERT_NE(a.archive->names, b.archive->names);
  EXPECT_TRUE(std::equal(a.archive->names, a.archive->names + a.archive->count, b.archive->names));
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
