// Finding names, and names that clash.
#include "zip/name_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/colliding_texts.h"
#include "onnxar/bytes.h"
#include "support/guarded_buffer.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

/// Names in an index; inserting one says which earlier name it equals under folding.
class Index {
  [[nodiscard]] auto name_of() const {
    return [this](std::uint32_t i) { return std::string_view(names_.at(i)); };
  }

 public:
  explicit Index(std::size_t room) : index_(room) {}
  explicit Index(const std::vector<std::string>& names) : index_(names.size()) {
    for (const std::string& name : names) EXPECT_EQ(insert(name), "") << name;
  }

  std::string insert(const std::string& name) {
    names_.push_back(name);
    const auto clash = index_.insert(static_cast<std::uint32_t>(names_.size() - 1), name_of());
    if (!clash) return "";
    names_.pop_back();
    return names_.at(*clash);
  }

  [[nodiscard]] bool has(std::string_view name) const {
    const auto found = index_.find(name, name_of());
    EXPECT_TRUE(!found || names_.at(*found) == name);
    return found.has_value();
  }

  [[nodiscard]] std::string folder_of(std::string_view name) const {
    const auto found = index_.find_folder_of(name, name_of());
    return found ? names_.at(*found) : "";
  }

 private:
  zip::NameIndex index_;
  std::vector<std::string> names_;
};

TEST(NameIndex, EmptyIndexFindsNothing) {
  const Index none(0);
  EXPECT_FALSE(none.has(""));
  EXPECT_FALSE(none.has("w"));
  EXPECT_EQ(none.folder_of("a/b"), "");
  const zip::NameIndex unset;
  EXPECT_FALSE(unset.find("w", [](std::uint32_t) { return std::string_view(); }));
}

TEST(NameIndex, FindsExactNamesOnly) {
  const Index index({"Weight", "bias", "a/B"});
  EXPECT_TRUE(index.has("Weight"));
  EXPECT_TRUE(index.has("bias"));
  EXPECT_TRUE(index.has("a/B"));
  for (const std::string_view other : {"weight", "WEIGHT", "Bias", "a/b", "a", "B", "", "bia", "biass"}) {
    EXPECT_FALSE(index.has(other)) << other;
  }
}

TEST(NameIndex, InsertingAnEqualNameNamesTheFirst) {
  Index index(4);
  EXPECT_EQ(index.insert("Weight"), "");
  EXPECT_EQ(index.insert("Weight"), "Weight");
  EXPECT_EQ(index.insert("wEIGHT"), "Weight");
  EXPECT_EQ(index.insert("weigh"), "");
  EXPECT_TRUE(index.has("Weight"));
  EXPECT_FALSE(index.has("wEIGHT"));
}

TEST(NameIndex, FoldingStopsAtTheLettersOfAscii) {
  Index index(16);
  for (const char* const name : {"@", "`", "[", "{", "\xc3\x84", "\xc3\xa4", "\xe1", "\xc1", "0", "P"}) {
    EXPECT_EQ(index.insert(name), "") << name;
  }
  EXPECT_EQ(index.insert("p"), "P");
}

// Names are hashed eight bytes at a time: a clash has to show at every place of a word, and of the last, shorter one.
TEST(NameIndex, FoldingWorksAtEveryPlaceOfLongNames) {
  for (std::size_t length = 1; length <= 40; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      for (const char letter : {'a', 'm', 'z'}) {
        std::string small(length, '_');
        small[place] = letter;
        std::string capital = small;
        capital[place] = static_cast<char>(letter - 32);
        Index index({small});
        ASSERT_EQ(index.insert(capital), small) << length << ' ' << place;
        ASSERT_FALSE(index.has(capital));
      }
    }
  }
}

TEST(NameIndex, FindsTheFolderThatIsAName) {
  const Index index({"a", "b/C", "x/y/z"});
  EXPECT_EQ(index.folder_of("a/b"), "a");
  EXPECT_EQ(index.folder_of("A/b/c"), "a");
  EXPECT_EQ(index.folder_of("b/c/d"), "b/C");
  EXPECT_EQ(index.folder_of("x/y/z/0"), "x/y/z");
  for (const std::string_view other : {"a", "ab/c", "b/c", "b/cd/e", "x/y", "x/yz/0", "b", ""}) {
    EXPECT_EQ(index.folder_of(other), "") << other;
  }
}

TEST(NameIndex, EveryPrefixOfAPathIsFoundAsItsFolder) {
  const std::string path = "one/Two/three/a_part_of_more_than_eight/5/six/seven";
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const Index index({path.substr(0, slash)});
    EXPECT_EQ(index.folder_of(path), path.substr(0, slash));
  }
  for (std::size_t length = 1; length < path.size(); ++length) {
    if (path[length] == '/') continue;
    EXPECT_EQ(Index({path.substr(0, length)}).folder_of(path), "") << length;
  }
}

TEST(NameIndex, FoldersOfAnyLengthAreFound) {
  for (std::size_t length = 1; length < 40; ++length) {
    const std::string folder(length, 'n');
    EXPECT_EQ(Index({folder}).folder_of(folder + "/x"), folder);
    EXPECT_EQ(Index({folder}).folder_of(folder + "/another_part/x"), folder);
  }
}

// Folders that many names share are told apart by their hashes, not by comparing them.
TEST(NameIndex, LookingForFoldersReadsNamesOnlyWhereTheyMatch) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) {
    std::string name = std::to_string(i);
    for (int folder = 0; folder < 500; ++folder) name += "/a";
    names.push_back(name);
  }
  std::size_t looked_at = 0;
  const auto name_of = [&](std::uint32_t i) {
    ++looked_at;
    return std::string_view(names[i]);
  };
  zip::NameIndex index(names.size());
  for (std::uint32_t i = 0; i < names.size(); ++i) EXPECT_FALSE(index.insert(i, name_of));
  looked_at = 0;
  for (const std::string& name : names) EXPECT_FALSE(index.find_folder_of(name, name_of));
  EXPECT_LE(looked_at, 10U);
}

// The table finds each at its first place or near it: with one hash for all, 2000 names would be compared for each.
TEST(NameIndex, NamesMadeToCollideUnderAFixedSeedDoNot) {
  const CollidingTexts colliding(12);
  const std::vector<std::string>& names = colliding.texts();
  std::size_t looked_at = 0;
  const auto name_of = [&](std::uint32_t i) {
    ++looked_at;
    return std::string_view(names[i]);
  };
  zip::NameIndex index(names.size());
  for (std::uint32_t i = 0; i < names.size(); ++i) ASSERT_FALSE(index.insert(i, name_of));
  EXPECT_LE(looked_at, 2 * names.size());
}

TEST(NameIndex, HoldsManyNamesAndGrowsWhereNoRoomIsLeft) {
  constexpr std::size_t many = 100000;
  for (const std::size_t room : {std::size_t{0}, many}) {
    Index index(room);
    for (std::size_t i = 0; i < many; ++i) ASSERT_EQ(index.insert("layer_" + std::to_string(i) + "_weight"), "");
    for (std::size_t i = 0; i < many; ++i) {
      ASSERT_TRUE(index.has("layer_" + std::to_string(i) + "_weight"));
      ASSERT_FALSE(index.has("layer_" + std::to_string(i) + "_bias"));
    }
    EXPECT_EQ(index.insert("LAYER_777_weight"), "layer_777_weight");
  }
}

TEST(NameIndex, AllPrefixesOfANameAreNamesOfTheirOwn) {
  const std::string longest(1024, 'x');
  std::vector<std::string> names;
  for (std::size_t length = 0; length <= longest.size(); ++length) names.push_back(longest.substr(0, length));
  const Index index(names);
  for (const std::string& name : names) EXPECT_TRUE(index.has(name));
  EXPECT_FALSE(index.has(longest + "x"));
}

TEST(NameIndex, ReadsNotOneByteBeyondAName) {
  const Index index({"weight"});
  for (std::size_t length = 0; length <= 20; ++length) {
    const GuardedBuffer name = GuardedBuffer::ending_at_guard(Blob(length, std::byte{'a'}));
    EXPECT_FALSE(index.has(as_text(name.bytes())));
  }
}

}  // namespace
}  // namespace onnxar::testing
