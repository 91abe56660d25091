// Sessions that start from a model that ONNX Runtime stored. session_test.cc compares what they compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "interop/readers/cached.h"
#include "interop/readers/running.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/onnxruntime.h"
#include "support/mappings.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::int64_t side = 512;  // of a weight of 1 MiB, which ONNX Runtime prepacks

/// Two products: one weight of 1 MiB, and one of 300 numbers less, which ONNX Runtime does not align.
Message products(std::uint32_t seed) {
  const auto weight = [](std::string_view name, std::int64_t rows, std::int64_t columns, std::uint32_t from) {
    return tensor(name, dtype::float32, {rows, columns}).raw_data(numbers({rows, columns}, from).bytes);
  };
  return model({.graph = graph({.nodes = {node("MatMul", {"x", "v"}, {"a"}), node("Relu", {"a"}, {"b"}),
                                          node("MatMul", {"b", "w"}, {"c"}), node("MatMul", {"c", "u"}, {"y"})},
                                .initializers = {weight("v", side, 97, seed), weight("w", 97, side, seed + 1),
                                                 weight("u", side, side, seed + 2)},
                                .inputs = {value_info("x", dtype::float32, {1, side})},
                                .outputs = {value_info("y", dtype::float32, {1, side})}})});
}

class CacheTest : public ::testing::Test {
 protected:
  CacheTest() {
    fs::create_directory(folder_ / "cache");
    write_archive(1);
  }
  void write_archive(std::uint32_t seed) {
    const fs::path model = folder_.write_file("m.onnx", products(seed).view());
    pack(model, archive_, {.output = {.overwrite = true, .sync = false}});
    Ort::Session plain(env(), model.c_str(), plain_options());
    expected_ = run(plain, input_);
  }
  /// Starts a session with the cache, compares what it computes, and returns why it does without the cache.
  std::string start(const Ort::SessionOptions& options = plain_options()) {
    std::string why = "not set";
    Ort::Session session =
        ort::session_from_cache(env(), archive_, options, {.file = file_, .settings = settings_, .why = &why});
    EXPECT_EQ(run(session, input_), expected_);
    EXPECT_FALSE(fs::exists(fs::path(file_) += ".part"));
    if (why.empty()) {
      EXPECT_GT(mappings_of(file_), 0U);
      EXPECT_EQ(mappings_of(archive_), 0U);
    }
    return why;
  }

  TempDir folder_;
  fs::path archive_ = folder_ / "m.onnxar", file_ = folder_ / "cache/stored";
  std::string settings_ = "one thread";
  Tensors input_ = {{"x", numbers({1, side}, 9)}}, expected_;
};

TEST_F(CacheTest, FirstStartStoresTheModelAndLaterOnesMapIt) {
  EXPECT_EQ(start(), "");
  const auto time = fs::last_write_time(file_);
  const Blob bytes = read_file(file_);
  EXPECT_EQ(start(), "");
  EXPECT_EQ(fs::last_write_time(file_), time);
  EXPECT_EQ(read_file(file_), bytes);
  const Archive stored = Archive::open(file_);
  EXPECT_THAT(std::string(as_text(stored.model())), HasSubstr("prepacked_0"));
}

TEST_F(CacheTest, OtherArchivesAndSettingsReplaceIt) {
  EXPECT_EQ(start(), "");
  const Blob first = read_file(file_);
  settings_ = "all optimisations off";
  Ort::SessionOptions options = plain_options();
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  EXPECT_EQ(start(options), "");
  EXPECT_NE(read_file(file_), first);
  write_archive(20);
  EXPECT_EQ(start(options), "");
  EXPECT_EQ(start(options), "");
}

TEST_F(CacheTest, DamageIsFoundAndRepaired) {
  EXPECT_EQ(start(), "");
  const Blob good = read_file(file_);
  for (const std::size_t at : {good.size() / 2, good.size() / 3, good.size() - 300, good.size() - 3}) {
    Blob bad = good;
    bad[at] ^= std::byte{1};
    folder_.write_file("cache/stored", bad);
    EXPECT_EQ(start(), "");
    EXPECT_EQ(read_file(file_), good) << at;
  }
  folder_.write_file("cache/stored", Bytes(good).first(good.size() / 2));
  EXPECT_EQ(start(), "");
  EXPECT_EQ(read_file(file_), good);
}

TEST_F(CacheTest, GraphsAreStoredToo) {
  const fs::path family = folder_ / "family.onnxar";
  folder_.write_file("other.onnx", products(30).view());
  pack(std::vector<ModelFile>{{folder_ / "m.onnx", "one"}, {folder_ / "other.onnx", "two"}}, family,
       {.output = {.sync = false}});
  Ort::Session plain(env(), (folder_ / "other.onnx").c_str(), plain_options());
  const Tensors expected = run(plain, input_);
  for (int i = 0; i < 2; ++i) {
    std::string why = "not set";
    Ort::Session session =
        ort::session_from_cache(env(), family, plain_options(), {.file = file_, .graph = "two", .why = &why});
    EXPECT_EQ(why, "");
    EXPECT_EQ(run(session, input_), expected);
  }
}

// --- Without the cache -----------------------------------------------------------------------------------------------

TEST_F(CacheTest, FoldersThatCannotBeUsed) {
  file_ = folder_ / "none/stored";
  EXPECT_THAT(start(), HasSubstr("no such file or folder"));
  file_ = folder_ / "m.onnx";
  EXPECT_THAT(start(), HasSubstr("not a file of a stored model"));
  file_ = folder_ / "cache/stored";
  fs::permissions(folder_ / "cache", fs::perms::group_write, fs::perm_options::add);
  EXPECT_THAT(start(), HasSubstr("chmod go-w"));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(CacheTest, FullDisk) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{100'000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const std::string why = start();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(why, "");
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_EQ(start(), "");
}

TEST_F(CacheTest, WhatOnnxRuntimeRefusesIsTheSameErrorAsWithout) {
  pack(folder_.write_file("bad.onnx", model({.graph = graph({.nodes = {node("NoSuchOperator", {"x"}, {"y"})},
                                                             .inputs = {value_info("x", dtype::float32, {1})},
                                                             .outputs = {value_info("y", dtype::float32, {1})}})})
                                          .view()),
       archive_, {.output = {.overwrite = true, .sync = false}});
  EXPECT_THROW(start(), Ort::Exception);
  fs::remove(archive_);
  EXPECT_EQ(code_of([&] { return start(); }), Code::io_not_found);
}

TEST_F(CacheTest, ModelToWhichOnnxRuntimeAddsInputsIsNotStored) {
  // IR version 3, where initializers are inputs: ONNX Runtime shares equal ones, and the others stay inputs.
  const auto shape = [](std::string_view name) {
    return tensor(name, dtype::int64, {1}).raw_data(little_endian_bytes<std::int64_t>({300}));
  };
  const auto filled = [](std::string_view from, std::string_view to) {
    const Message half = tensor("half", dtype::float32, {1}).raw_data(numbers({1}, 1).bytes);
    return node("ConstantOfShape", {std::string(from)}, {std::string(to)}, {attribute_t("value", half)});
  };
  const auto sum = [](const Names& of, std::string_view to) { return node("Add", of, {std::string(to)}); };
  const auto end = [](std::string_view name) { return value_info(name, dtype::float32, {300}); };
  const auto length = [](std::string_view name) { return value_info(name, dtype::int64, {1}); };
  const fs::path path = folder_.write_file(
      "old.onnx",
      model({.ir_version = 3,
             .graph = graph({.nodes = {filled("p", "a"), filled("q", "b"), sum({"x", "a"}, "c"), sum({"c", "b"}, "y")},
                             .initializers = {shape("p"), shape("q")},
                             .inputs = {end("x"), length("p"), length("q")},
                             .outputs = {end("y")}}),
             .opsets = {opset("", 9)}})
          .view());
  pack(path, archive_, {.output = {.overwrite = true, .sync = false}});
  input_ = {{"x", numbers({300}, 9)}};
  Ort::Session plain(env(), path.c_str(), plain_options());
  expected_ = run(plain, input_);
  EXPECT_THAT(start(), HasSubstr("other inputs or outputs"));
  EXPECT_FALSE(fs::exists(file_));
}

// --- Several at once -------------------------------------------------------------------------------------------------

TEST_F(CacheTest, SessionsThatStartAtOnceComputeTheSame) {
  std::vector<std::string> whys(4);
  std::vector<Tensors> results(whys.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < whys.size(); ++i) {
      threads.emplace_back([&, i] {
        Ort::Session session = ort::session_from_cache(env(), archive_, plain_options(),
                                                       {.file = file_, .settings = settings_, .why = &whys[i]});
        results[i] = run(session, input_);
      });
    }
  }
  EXPECT_THAT(whys, ::testing::Contains(""));
  EXPECT_THAT(results, ::testing::Each(expected_));
  EXPECT_EQ(start(), "");
}

/// Of another process, which the next test starts.
TEST_F(CacheTest, StartsForAnotherProcess) {
  const char* const folder = std::getenv("ONNXAR_TEST_CACHE");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) GTEST_SKIP() << "ProcessesThatStartAtOnceComputeTheSame starts it";
  archive_ = fs::path(folder) / "m.onnxar";
  file_ = fs::path(folder) / "cache/stored";
  Ort::Session session =
      ort::session_from_cache(env(), archive_, plain_options(), {.file = file_, .settings = settings_});
  EXPECT_EQ(run(session, input_), expected_);
}

TEST_F(CacheTest, ProcessesThatStartAtOnceComputeTheSame) {
  const std::string program = fs::read_symlink("/proc/self/exe");
  const std::string one = "ONNXAR_TEST_CACHE='" + folder_.path().string() + "' GTEST_OUTPUT= '" + program +
                          "' --gtest_brief=1 --gtest_filter=CacheTest.StartsForAnotherProcess > /dev/null";
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  EXPECT_EQ(std::system((one + " & first=$!; " + one + " && wait $first").c_str()), 0);
  EXPECT_EQ(start(), "");
}

// --- C ---------------------------------------------------------------------------------------------------------------

TEST_F(CacheTest, ProgramsInCUseItToo) {
  const auto* x = reinterpret_cast<const float*>(input_.at("x").bytes.data());
  std::vector<float> y(side);
  const auto start_in_c = [&] {
    const int cached = run_cached(archive_.c_str(), file_.c_str(), x, y.data(), y.size());
    EXPECT_EQ(floats_of({1, side}, y), expected_.at("y"));
    return cached;
  };
  EXPECT_EQ(start_in_c(), 1);
  const auto time = fs::last_write_time(file_);
  EXPECT_EQ(start_in_c(), 1);
  EXPECT_EQ(fs::last_write_time(file_), time);
  file_ = folder_ / "none/stored";
  EXPECT_EQ(start_in_c(), 0);
}

}  // namespace
}  // namespace onnxar::testing
