// Models as ONNX Runtime stored them. Here the test writes what it would; tests/interop/readers has the real one.
#include "onnxar/stored_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "onnxar/archive.h"
#include "onnxar/link.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Before it is over, nothing is remembered of a file.
constexpr std::chrono::milliseconds longest_tick(2100);

/// A model from `x` to `y`.
Message with_ends(const Messages& initializers, const Messages& inputs = {value_info("x", dtype::float32, {1})},
                  std::int64_t version = 8) {
  return model(
      {.ir_version = version,
       .graph =
           graph({.initializers = initializers, .inputs = inputs, .outputs = {value_info("y", dtype::float32, {1})}})});
}

class StoredModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_ / "cache");
    write_archive(1);
  }
  void write_archive(std::uint32_t seed) {
    const Built built = archive_of(with_ends({linked_floats("w", 300, "w")}), {zip_entry("w", pattern(1200, seed))});
    folder_.write_file("x.onnxar", built.bytes);
  }
  /// Writes what ONNX Runtime would: a model and the file of its data.
  static void write(const fs::path& output, const Message& optimised, const Blob& data) {
    const auto put = [&](const fs::path& path, const Blob& bytes) { write_file(path, bytes, {.sync = false}); };
    put(output, optimised.view());
    if (!data.empty()) put(output.parent_path() / "data", data);
  }
  [[nodiscard]] StoredModel opened() const { return StoredModel::open(file_, key_); }
  [[nodiscard]] bool is_stored() const { return opened().is_stored(); }
  StoredModel stored(const Message& optimised, const Blob& data) const {
    StoredModel model = opened();
    write(model.prepare(), optimised, data);
    model.store();
    return model;
  }
  StoredModel stored() const { return stored(optimised_, data_); }
  std::optional<Error> refusal(const Message& optimised, const Blob& data) const {
    StoredModel model = opened();
    write(model.prepare(), optimised, data);
    return error_if_any([&] { model.store(); });
  }
  static std::vector<Blob> entries_of(const Blob& bytes) {
    const Archive archive = Archive::open(bytes, nullptr);
    std::vector<Blob> found;
    for (const ArchiveEntry& entry : archive.entries()) found.push_back(copy_of(archive.bytes(entry)));
    return found;
  }
  /// Changes the file, and its time, since a clock may stand still during a test.
  void put(const Blob& bytes) const {
    const auto before = fs::last_write_time(file_);
    write_file(file_, bytes, {.overwrite = true, .sync = false});
    fs::last_write_time(file_, before + std::chrono::seconds(2));
  }

  TempDir folder_;
  fs::path file_ = folder_ / "cache/stored";
  StoredModel::Key key_{folder_ / "x.onnxar", "", "1.23 of today", "level 1"};
  Blob data_ = pattern(1600, 7);
  Message optimised_ = with_ends({linked_floats("w", 300, "data", 400).external_data("prepacked_0", "MatMul|0;400;9")});
};

// --- What is stored --------------------------------------------------------------------------------------------------

TEST_F(StoredModelTest, IsFirstTheArchiveThenWhatWasStored) {
  StoredModel first = opened();
  EXPECT_FALSE(first.is_stored());
  EXPECT_EQ(first.link().model, make_link(key_.archive, {}, LinkForm::unmarked).model);
  const fs::path output = first.prepare();
  EXPECT_EQ(output.parent_path().parent_path(), folder_ / "cache");
  write(output, optimised_, data_);
  EXPECT_FALSE(is_stored());
  first.store();
  EXPECT_TRUE(first.is_stored());
  EXPECT_EQ(first.link().archive, "stored");
  EXPECT_EQ(first.link().folder, fs::canonical(folder_ / "cache"));
  const StoredModel second = opened();
  EXPECT_TRUE(second.is_stored());
  EXPECT_EQ(second.link().model, first.link().model);
  EXPECT_NE(second.link().model, make_link(key_.archive, {}, LinkForm::unmarked).model);
  second.verify();
}

TEST_F(StoredModelTest, DataLiesAlignedAndTheModelNamesItsPlaces) {
  constexpr std::size_t large = 1U << 20U;
  const auto half = static_cast<std::int64_t>(large);
  Blob data = pattern(large + 1700, 3);
  const Message optimised =
      with_ends({linked_floats("w", 300, "data", 84).external_data("prepacked_0", "MatMul+1|0;84;7|1284;16;8"),
                 linked_floats("same", 300, "data", 84),
                 tensor("big", dtype::uint8, {half}).external("data", 1300, large), floats("inline", 3)});
  const StoredModel model = stored(optimised, data);
  const Blob file = read_file(file_);
  const auto place_of = [&](std::size_t begin, std::size_t size) {
    const Bytes part = Bytes(data).subspan(begin, size);
    return static_cast<std::uint64_t>(std::ranges::search(file, part).begin() - file.begin());
  };
  const std::uint64_t w = place_of(84, 1200), first = place_of(0, 84), second = place_of(1284, 16),
                      big = place_of(1300, large);
  EXPECT_EQ(w % 256 + first % 256 + second % 256, 0U);
  EXPECT_EQ(big % 4096, 0U);
  const std::string blobs = "MatMul+1|" + std::to_string(first) + ";84;7|" + std::to_string(second) + ";16;8";
  EXPECT_EQ(model.link().model,
            with_ends({linked_floats("w", 300, "stored", w).external_data("prepacked_0", blobs),
                       linked_floats("same", 300, "stored", w),
                       tensor("big", dtype::uint8, {half}).external("stored", big, large), floats("inline", 3)})
                .view());
  EXPECT_LT(file.size(), data.size() + 20000);
}

TEST_F(StoredModelTest, DataOfBranchesIsMovedToo) {
  const auto with = [](const TensorBuilder& inner) {
    const Message branch = graph({.initializers = {inner}});
    return model({.graph = graph({.nodes = {node("If", {"x"}, {"y"}, {attribute_g("then_branch", branch)})},
                                  .inputs = {value_info("x", dtype::float32, {1})},
                                  .outputs = {value_info("y", dtype::float32, {1})}})});
  };
  const StoredModel model = stored(with(linked_floats("v", 100, "data", 4)), data_);
  const Blob file = read_file(file_);
  const auto found = std::ranges::search(file, Bytes(data_).subspan(4, 400)).begin() - file.begin();
  EXPECT_EQ(found % 256, 0);
  EXPECT_EQ(model.link().model, with(linked_floats("v", 100, "stored", static_cast<std::uint64_t>(found))).view());
}

TEST_F(StoredModelTest, ModelWithoutLargeWeightsHasNoData) {
  const Message optimised = with_ends({floats("w", 3)});
  const StoredModel model = stored(optimised, {});
  EXPECT_EQ(model.link().model, optimised.view());
  EXPECT_TRUE(is_stored());
}

TEST_F(StoredModelTest, NamesDefinedTwiceAreNotStored) {
  const Built built =
      archive_of(with_ends({linked_floats("w", 300, "w"), floats("w", 300)}), {zip_entry("w", pattern(1200, 1))});
  folder_.write_file("x.onnxar", built.bytes);
  StoredModel model = opened();
  EXPECT_EQ(code_of([&] { model.prepare(); }), Code::onnx_graph_duplicate);
  EXPECT_THAT(folder_.file_names(), ElementsAre("cache/", "x.onnxar"));
}

TEST_F(StoredModelTest, NothingElseStays) {
  stored();
  EXPECT_THAT(folder_.file_names(), ElementsAre("cache/", "cache/stored", "cache/stored.lock", "x.onnxar"));
}

// --- What it is for --------------------------------------------------------------------------------------------------

TEST_F(StoredModelTest, EverythingThatItDependsOnIsCompared) {
  stored();
  const StoredModel::Key key = key_;
  const std::vector<std::function<void()>> changes = {[&] { key_.runtime = "1.24 of today"; },
                                                      [&] { key_.settings = "level 2"; }, [&] { key_.settings = ""; },
                                                      [&] { write_archive(2); }};
  for (const auto& change : changes) {
    change();
    EXPECT_FALSE(is_stored());
    key_ = key;
  }
  write_archive(1);
  EXPECT_TRUE(is_stored());
}

TEST_F(StoredModelTest, NoTextPretendsToBeTwo) {
  key_.runtime = "a\nsettings b";
  key_.settings = "c";
  stored();
  key_.runtime = "a";
  key_.settings = "b\nsettings c";
  EXPECT_FALSE(is_stored());
}

TEST_F(StoredModelTest, GraphsDiffer) {
  ZipBuilder builder;
  builder.entries = {zip_entry("w", pattern(1200, 1)),
                     zip_entry("second.onnx", with_ends({linked_floats("v", 300, "w")}).view()),
                     zip_entry(model_entry, with_ends({linked_floats("w", 300, "w")}).view())};
  folder_.write_file("x.onnxar", builder.build_placed().bytes);
  stored();
  key_.graph = "second";
  EXPECT_FALSE(is_stored());
  const StoredModel second = opened();
  EXPECT_EQ(second.link().model, make_link(key_.archive, {.graph = "second"}, LinkForm::unmarked).model);
  key_.graph = "third";
  EXPECT_EQ(code_of([&] { return is_stored(); }), Code::usage_no_such_entry);
}

TEST_F(StoredModelTest, ANewOneReplacesTheOneOfAnotherKey) {
  stored();
  key_.settings = "level 2";
  EXPECT_TRUE(stored(with_ends({floats("w", 2)}), {}).is_stored());
  EXPECT_TRUE(is_stored());
  key_.settings = "level 1";
  EXPECT_FALSE(is_stored());
}

TEST_F(StoredModelTest, DamagedArchiveIsAnError) {
  Blob bytes = folder_.read_file("x.onnxar");
  const Built built = archive_of(with_ends({linked_floats("w", 300, "w")}), {zip_entry("w", pattern(1200, 1))});
  bytes[built.entry("w").data_offset + 100] ^= std::byte{1};
  folder_.write_file("x.onnxar", bytes);
  EXPECT_EQ(code_of([&] { return is_stored(); }), Code::zip_data_crc);
  fs::remove(key_.archive);
  EXPECT_EQ(code_of([&] { return is_stored(); }), Code::io_not_found);
}

// --- Damage ----------------------------------------------------------------------------------------------------------

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

// --- Several processes -----------------------------------------------------------------------------------------------

TEST_F(StoredModelTest, OneAtATimeStores) {
  auto first = std::make_unique<StoredModel>(opened());
  const fs::path output = first->prepare();
  write(output, optimised_, data_);
  EXPECT_EQ(code_of([&] { return opened().prepare(); }), Code::archive_busy);
  first.reset();  // without a result
  EXPECT_FALSE(fs::exists(output));
  fs::create_directory(output.parent_path());  // what a killed process leaves
  folder_.write_file("cache/stored.part/about", "onnxar stored model 2\n");
  write(output, optimised_, data_);
  EXPECT_TRUE(stored().is_stored());
  EXPECT_FALSE(fs::exists(output.parent_path()));
}

TEST_F(StoredModelTest, ArchiveThatChangesIsNotStored) {
  StoredModel model = opened();
  write(model.prepare(), optimised_, data_);
  write_archive(2);
  fs::last_write_time(key_.archive, fs::last_write_time(key_.archive) + std::chrono::seconds(2));
  EXPECT_EQ(code_of([&] { model.store(); }), Code::io_changed);
  EXPECT_FALSE(model.is_stored());
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(StoredModelTest, FileThatIsReplacedWhileASessionIsMadeIsFound) {
  const StoredModel model = stored();
  model.verify();
  put(read_file(file_));
  EXPECT_EQ(code_of([&] { model.verify(); }), Code::io_changed);
  fs::remove(file_);
  EXPECT_EQ(code_of([&] { model.verify(); }), Code::io_changed);
}

TEST_F(StoredModelTest, StoreNeedsPrepare) {
  StoredModel model = opened();
  EXPECT_EQ(code_of([&] { model.store(); }), Code::usage_argument);
  model = stored();
  EXPECT_EQ(code_of([&] { model.store(); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { return model.prepare(); }), Code::usage_argument);
}

TEST_F(StoredModelTest, FailureEndsWhatPrepareBegan) {
  StoredModel model = opened();
  write(model.prepare(), with_ends({}, {}), data_);
  EXPECT_EQ(code_of([&] { model.store(); }), Code::usage_argument);
  EXPECT_FALSE(fs::exists(folder_ / "cache/stored.part"));
  EXPECT_EQ(code_of([&] { return model.prepare(); }), Code::usage_argument) << "the model is refused";
  fs::remove(folder_ / "cache/stored.refused");
  EXPECT_TRUE(stored().is_stored()) << "nothing is locked";
  fs::remove(file_);
  model.prepare();
  write(model.prepare(), optimised_, data_);
  model.store();
  EXPECT_TRUE(model.is_stored());
}

// --- What ONNX Runtime wrote -----------------------------------------------------------------------------------------

TEST_F(StoredModelTest, OtherInputsOrOutputsAreRefused) {
  const Message x = value_info("x", dtype::float32, {1}), w = value_info("w", dtype::float32, {300});
  const auto expect = [&](bool is_same, const Message& before, const Message& after) {
    folder_.write_file("x.onnxar", archive_of(before, {zip_entry("w", pattern(1200, 1))}).bytes);
    const auto error = refusal(after, data_);
    EXPECT_EQ(!error, is_same);
    EXPECT_THAT(error ? error->what() : "", HasSubstr(is_same ? "" : "other inputs or outputs"));
    EXPECT_NE(fs::exists(folder_ / "cache/stored.refused"), is_same);
    fs::remove(file_);
    fs::remove(folder_ / "cache/stored.refused");
  };
  const TensorBuilder before = linked_floats("w", 300, "w"), after = linked_floats("w", 300, "data");
  for (const std::int64_t version : {3, 8}) {
    expect(true, with_ends({before}, {x}, version), with_ends({}, {x}, version));
    expect(true, with_ends({before}, {x, w}, version), with_ends({after}, {x, w}, version));
    // An initializer that became a constant, and is an input still.
    expect(false, with_ends({before}, {x, w}, version), with_ends({}, {x, w}, version));
    expect(false, with_ends({before}, {x}, version), with_ends({after}, {}, version));
    expect(version == 3, with_ends({before}, {x, w}, version), with_ends({after}, {x}, version));
  }
  Message renamed = model({.graph = graph({.inputs = {x}, .outputs = {value_info("z", dtype::float32, {1})}})});
  expect(false, with_ends({before}), renamed);
}

TEST_F(StoredModelTest, DataOutsideOfItsFileIsRefused) {
  const auto at = [](std::string_view location, std::uint64_t offset, std::uint64_t length) {
    return tensor("w", dtype::uint8, {static_cast<std::int64_t>(length)}).external(location, offset, length);
  };
  const std::vector<std::pair<TensorBuilder, Code>> bad = {
      {at("other", 0, 16), Code::onnx_external_missing},
      {at("../data", 0, 16), Code::onnx_external_missing},
      {at("data", 1585, 16), Code::onnx_external_out_of_range},
      {at("data", 0, 1601), Code::onnx_external_out_of_range},
      {at("data", 0, 16).external_data("prepacked_0", "M|1585;16;1"), Code::onnx_external_out_of_range},
      {at("data", 0, 16).external_data("prepacked_0", "M|-1;16;1"), Code::onnx_external_out_of_range},
      {at("data", 0, 1600).external_data("prepacked_0", "M|1;16;1"), Code::onnx_external_out_of_range}};
  for (const auto& [tensor, code] : bad) {
    expect_error(refusal(with_ends({tensor}), data_), {.code = code});
    EXPECT_FALSE(fs::exists(file_));
  }
  EXPECT_EQ(id(refusal(with_ends({at("data", 0, 16)}), {})->code()), "onnx.external_data.out_of_range");
  EXPECT_FALSE(is_stored());
}

TEST_F(StoredModelTest, NothingWrittenIsAnError) {
  StoredModel model = opened();
  model.prepare();
  EXPECT_EQ(code_of([&] { model.store(); }), Code::io_not_found);
}

}  // namespace
}  // namespace onnxar::testing
