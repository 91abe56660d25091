// Models as ONNX Runtime stored them. Here the test writes what it would; tests/interop/readers has the real one.
#include "onnxar/stored_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "onnxar/archive.h"
#include "onnxar/link.h"
#include "runtime/storing.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
