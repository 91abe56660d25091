// Keys of tensors: like their names, valid, and different from all names in use.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/keys.h"
#include "archive/opened.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

using Strings = std::vector<std::string>;

Strings keys_for(const Strings& names) {
  KeyMaker keys;
  Strings made;
  for (const std::string& name : names) made.push_back(keys.make(name));
  return made;
}

std::string key_for(const std::string& name) { return keys_for({name}).front(); }

TEST(Key, IdentifiersStayAsTheyAre) {
  for (const std::string name : {"w", "_", "Layer_0", "__a", "_A", "a1"}) EXPECT_EQ(key_for(name), name);
}

TEST(Key, IsAnIdentifierThatIsLikeTheName) {
  const std::string n300(300, 'n');
  const std::pair<std::string, std::string> keys[] = {
      // Other bytes become underscores, byte by byte.
      {"layer.0/attn:weight", "layer_0_attn_weight"},
      {"a b\tc", "a_b_c"},
      {"gr\xc3\xb6\xc3\x9f"
       "e",
       "gr____e"},
      {std::string("a\0b", 3), "a_b"},
      {"\xff", "_"},
      {"../../etc/passwd", "______etc_passwd"},
      // A leading digit gets an underscore.
      {"0", "_0"},
      {"9.weight", "_9_weight"},
      {"", "tensor"},
      // Reserved forms are moved out.
      {"__MODEL_PROTO", "t___MODEL_PROTO"},
      {"__A", "t___A"},
      {"./A", "t___A"},
      {"__a", "__a"},
      // It has at most 200 bytes.
      {n300.substr(0, 200), n300.substr(0, 200)},
      {n300.substr(0, 201), n300.substr(0, 200)},
      {"7" + n300, "_7" + n300.substr(0, 198)},
      {"__A" + n300, "t___A" + n300.substr(0, 195)},
  };
  for (const auto& [name, key] : keys) EXPECT_EQ(key_for(name), key) << escaped(name);
}

TEST(Key, ClashesAreCounted) {
  const std::string n250(250, 'n');
  const std::pair<Strings, Strings> keys[] = {
      {{"a.b", "a/b", "a_b", "a b"}, {"a_b", "a_b_2", "a_b_3", "a_b_4"}},
      {{"Weight", "weight", "WEIGHT"}, {"Weight", "weight_2", "WEIGHT_3"}},
      {{"", "", "tensor"}, {"tensor", "tensor_2", "tensor_3"}},
      {{n250, n250 + n250}, {n250.substr(0, 200), n250.substr(0, 200) + "_2"}},
      // Each stem has a counter of its own, which steps over names that are taken.
      {{"a", "b", "a", "b", "a"}, {"a", "b", "a_2", "b_2", "a_3"}},
      {{"a_2", "a", "a"}, {"a_2", "a", "a_3"}},
      {{"a", "a", "a_2", "a"}, {"a", "a_2", "a_2_2", "a_3"}},
  };
  for (const auto& [names, made] : keys) EXPECT_EQ(keys_for(names), made);
}

TEST(Key, DeviceNamesAreMovedOut) {
  for (const std::string name : {"con", "CON", "Prn", "aux", "NUL", "com1", "COM9", "lpt0", "LPT5"}) {
    EXPECT_EQ(key_for(name), "t_" + name);
  }
  for (const std::string name : {"con_", "conx", "com", "com10", "comx", "lpt", "null"}) EXPECT_EQ(key_for(name), name);
}

TEST(Key, ReservedNamesAreNotReturned) {
  KeyMaker keys;
  keys.reserve("Weight");
  keys.reserve("weight_2");
  EXPECT_EQ(keys.make("weight"), "weight_3");
  KeyMaker moved = std::move(keys);
  EXPECT_EQ(moved.make("WEIGHT"), "WEIGHT_4");
}

TEST(Key, FirstFolderOfAReservedNameIsNotReturned) {
  KeyMaker keys;
  keys.reserve("Extra/weight/a.txt");
  EXPECT_EQ(keys.make("extra"), "extra_2");
  EXPECT_EQ(keys.make("weight"), "weight");
}

TEST(Key, KeepsClearOfTheModelsName) {
  const TempDir folder;
  ArchiveWriter writer = ArchiveWriter::create(folder / "a", {.verify_model = false});
  KeyMaker keys;
  for (const std::string_view name : {"__model_proto", "__Model_Proto", "__MODEL_PROTO"}) {
    writer.add(keys.make(name), Bytes());
  }
  EXPECT_EQ(code_of([&] { writer.finish(Bytes()); }), std::nullopt);
}

TEST(Key, ManyNamesGetDistinctValidKeys) {
  const TempDir folder;
  ArchiveWriter writer = ArchiveWriter::create(folder / "a", {.verify_model = false});
  KeyMaker keys;
  std::set<std::string> made;
  for (int i = 0; i < 3000; ++i) {
    std::string name(static_cast<std::size_t>(i % 5), static_cast<char>(i % 256));
    name += static_cast<char>(i / 12);
    const std::string key = keys.make(name);
    EXPECT_TRUE(is_identifier(key)) << key;
    EXPECT_FALSE(is_reserved_name(key)) << key;
    EXPECT_TRUE(made.insert(key).second) << key;
    writer.add(key, Bytes());
  }
  writer.finish(Bytes());
  EXPECT_EQ(Archive::open(folder / "a").size(), 3001U);
}

TEST(KeysOfAnArchive, DifferFromItsEntriesAndItsFile) {
  const TempDir folder;
  const Built built = built_with({zip_entry("w", pattern(4)), zip_entry("extra/a.txt", pattern(4))});
  const auto path = folder.write_file("weights", built.bytes);
  KeyMaker keys(Archive::open(path));
  EXPECT_EQ(keys.make("w"), "w_2");
  EXPECT_EQ(keys.make("W"), "W_3");
  EXPECT_EQ(keys.make("extra"), "extra_2");
  EXPECT_EQ(keys.make("weights"), "weights_2");
  EXPECT_EQ(keys.make("v"), "v");
  EXPECT_EQ(KeyMaker(opened(built.bytes)).make("weights"), "weights") << "memory has no name";
}

TEST(KeysOfAnArchive, NeedNoFileOfThisMachine) {
  KeyMaker keys(Archive::open(by_ranges(built_with({zip_entry("w", pattern(4))}).bytes)));
  EXPECT_EQ(keys.make("w"), "w_2");
  EXPECT_EQ(keys.make("v"), "v");
}

TEST(KeysOfAnArchive, DifferFromTheFileThatALinkLeadsTo) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir folder;
  folder.write_file("real", built_with({}).bytes);
  make_symlink("real", folder / "link");
  KeyMaker keys(Archive::open(folder / "link"));
  EXPECT_EQ(keys.make("link"), "link_2");
  EXPECT_EQ(keys.make("real"), "real_2");
}

TEST(KeyMaker, AvoidsBothEndsOfReservedName) {
  KeyMaker keys;
  keys.reserve("a/b");
  EXPECT_EQ(keys.make("a"), "a_2");
  EXPECT_EQ(keys.make("b"), "b_2");
  EXPECT_EQ(keys.make("c"), "c");
}

}  // namespace

}  // namespace onnxar::testing
