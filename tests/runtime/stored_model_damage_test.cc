// Damaged and foreign files are not used as stored models, and what is remembered of files is checked.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/storing.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

/// Before it is over, nothing is remembered of a file.
constexpr std::chrono::milliseconds longest_tick(2100);

TEST_F(StoredModelTest, EveryChangedByteIsFound) {
  const StoredModel good = stored();
  const Blob bytes = read_file(file_);
  int left = 0;
  for (std::size_t at = 0; at < bytes.size(); at += (at % 512 < 16 ? 1 : 13)) {
    Blob changed = bytes;
    changed[at] ^= std::byte{4};
    put(changed);
    const StoredModel model = opened();
    if (!model.is_stored()) continue;
    ++left;  // the version that is needed to extract an entry, of which readers accept several
    EXPECT_EQ(model.link().model, good.link().model) << at;
    EXPECT_EQ(entries_of(changed), entries_of(bytes)) << at;
  }
  EXPECT_LE(left, 6);  // two places of three entries
  put(bytes);
  EXPECT_TRUE(is_stored());
}

TEST_F(StoredModelTest, HalfOfItIsNotUsedAndReplaced) {
  stored();
  const Blob bytes = read_file(file_);
  for (const std::size_t size : {bytes.size() - 1, bytes.size() / 2, std::size_t{5000}, std::size_t{0}}) {
    put(Blob(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_FALSE(is_stored()) << size;
    EXPECT_TRUE(stored().is_stored()) << size;
    EXPECT_EQ(read_file(file_), bytes);
  }
}

TEST_F(StoredModelTest, FilesOfOthersAreNotReplaced) {
  for (const std::string& text : {std::string("my notes"), std::string(100'000, 'x')}) {
    folder_.write_file("cache/stored", text);
    StoredModel model = opened();
    EXPECT_FALSE(model.is_stored());
    EXPECT_EQ(code_of([&] { return model.prepare(); }), Code::output_exists);
    EXPECT_EQ(folder_.read_text("cache/stored"), text);
  }
  file_ = key_.archive;
  EXPECT_EQ(code_of([&] { return opened().prepare(); }), Code::output_exists);
  for (const fs::path& folder : {folder_ / "cache", folder_ / "cache/", folder_ / "new/"}) {
    file_ = folder;
    EXPECT_EQ(code_of([&] { return opened().prepare(); }), Code::io_not_a_file);
  }
  file_ = "";
  EXPECT_EQ(code_of([&] { return opened().prepare(); }), Code::io_failed);
}

TEST_F(StoredModelTest, NamesThatNoLinkCanHaveAreRefused) {
  const std::vector<std::pair<std::string, Code>> bad = {{"#1", Code::usage_argument},
                                                         {"a..b", Code::usage_argument},
                                                         {"x\xff", Code::usage_argument},
                                                         {"data", Code::usage_own_name},
                                                         {"About", Code::usage_own_name}};
  for (const auto& [name, code] : bad) {
    file_ = folder_ / "cache" / name;
    EXPECT_EQ(code_of([&] { return opened().prepare(); }), code) << name;
  }
}

TEST_F(StoredModelTest, ArchiveThatIsAStoredModelIsNotReplaced) {
  stored();
  key_.archive = file_;
  const Blob bytes = read_file(file_);
  EXPECT_EQ(code_of([&] { return opened().prepare(); }), Code::output_exists);
  EXPECT_EQ(read_file(file_), bytes);
}

TEST_F(StoredModelTest, WithoutItsFolderThereIsOnlyTheArchive) {
  file_ = folder_ / "none/stored";
  EXPECT_FALSE(is_stored());
  EXPECT_EQ(code_of([&] { return opened().prepare(); }), Code::io_not_found);
}

TEST_F(StoredModelTest, FilesAreReadAgainAfterAChangeOnly) {
  stored();
  EXPECT_TRUE(is_stored());
  for (const char* const name : {"cache/stored.digest", "cache/stored.seen"}) {
    EXPECT_FALSE(fs::exists(folder_ / name)) << "the files may still change within one tick";
  }
  std::this_thread::sleep_for(longest_tick);
  EXPECT_TRUE(is_stored());
  if (!fs::exists(folder_ / "cache/stored.seen")) GTEST_SKIP() << "the system does not tell when it was started";
  const std::string digest = folder_.read_text("cache/stored.digest");
  // With another digest, the file is for another archive: if it is believed, it does not fit.
  ASSERT_GT(digest.size(), 64U);
  const std::string state = digest.substr(0, digest.size() - 64), forged = state + std::string(64, '0');
  folder_.write_file("cache/stored.digest", forged);
  EXPECT_FALSE(is_stored());
  fs::last_write_time(key_.archive, fs::last_write_time(key_.archive));
  EXPECT_TRUE(is_stored()) << "the time of change is another one";
  for (const std::string& text : {std::string(), std::string("x"), state, state + "0", digest + "0"}) {
    folder_.write_file("cache/stored.digest", text);
    EXPECT_TRUE(is_stored());
  }
}

TEST_F(StoredModelTest, DamageIsFoundAgainAfterAChangeOnly) {
  stored();
  std::this_thread::sleep_for(longest_tick);
  EXPECT_TRUE(is_stored());
  if (!fs::exists(folder_ / "cache/stored.seen")) GTEST_SKIP() << "the system does not tell when it was started";
  const std::string seen = folder_.read_text("cache/stored.seen");
  Blob bytes = read_file(file_);
  bytes[4096 + 4096 + 10] ^= std::byte{4};
  write_file(file_, bytes, {.overwrite = true, .sync = false});
  EXPECT_FALSE(is_stored());
  EXPECT_EQ(folder_.read_text("cache/stored.seen"), seen);
}

/// Two file systems may be mounted in turn at one path, with files of equal times and numbers.
TEST_F(StoredModelTest, RememberedDigestIsOfTheDirectoryToo) {
  stored();
  std::this_thread::sleep_for(longest_tick);
  EXPECT_TRUE(is_stored());
  if (!fs::exists(folder_ / "cache/stored.digest")) GTEST_SKIP() << "the system does not tell when it was started";
  std::string digest = folder_.read_text("cache/stored.digest");
  const std::size_t directory = digest.size() - 64 - 1 - 64;
  ASSERT_EQ(digest[directory - 1], ' ');
  digest.replace(directory, 64, 64, '1');
  digest.replace(digest.size() - 64, 64, 64, '0');
  folder_.write_file("cache/stored.digest", digest);
  EXPECT_TRUE(is_stored());
}

TEST_F(StoredModelTest, RefusedModelIsNotPreparedAgain) {
  StoredModel first = stored();
  first.refuse("it does not work");
  EXPECT_FALSE(fs::exists(file_));
  StoredModel second = opened();
  EXPECT_FALSE(second.is_stored());
  expect_error(error_if_any([&] { return second.prepare(); }),
               {.code = Code::usage_argument, .says = {"it does not work"}});
  key_.settings = "level 2";
  EXPECT_TRUE(stored().is_stored());
}

}  // namespace
}  // namespace onnxar::testing
