// Tensors may share bytes, so a small input may describe a huge output. The limit keeps outputs in proportion to
// inputs.
#include "convert/expansion.h"

#include <gmock/gmock.h>

#include <string>

#include "convert/load.h"
#include "onnxar/convert.h"
#include "onnxar/link.h"
#include "onnxar/model_stream.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::size_t floats_in_all = 100'000;

class ExpansionTest : public ::testing::Test {
 protected:
  /// A model whose tensors each are the whole data file.
  [[nodiscard]] std::filesystem::path sharing(std::size_t tensors) const {
    Messages list;
    for (std::size_t i = 0; i < tensors; ++i) {
      list.push_back(linked_floats("t" + std::to_string(i), floats_in_all, "w.bin"));
    }
    return written(list, 4 * floats_in_all);
  }
  /// A model whose tensors each are the data file except a few bytes at its end or front.
  [[nodiscard]] std::filesystem::path overlapping(std::size_t tensors) const {
    Messages list;
    for (std::size_t i = 0; i < tensors; ++i) {
      list.push_back(linked_floats("t" + std::to_string(i), floats_in_all, "w.bin", 4 * i));
    }
    return written(list, 4 * (floats_in_all + tensors));
  }
  [[nodiscard]] std::filesystem::path written(const Messages& tensors, std::size_t data) const {
    folder_.write_file("w.bin", pattern(data));
    return folder_.write_file("m", model_of(tensors).view());
  }
  [[nodiscard]] std::filesystem::path archive_of_shared(std::size_t tensors) const {
    pack(sharing(tensors), folder_ / "m.onnxar", saved_as(Format::archive));
    return folder_ / "m.onnxar";
  }

  void expect_too_much(const std::filesystem::path& input, Format format) const {
    SaveOptions save = saved_as(format);
    if (format == Format::onnx_external) save.data_file = "new.bin";
    const Error error = expect_refused(folder_, input, save, Code::onnx_model_expansion, "", std::nullopt);
    EXPECT_THAT(error.what(), HasSubstr("more than 8 times the input of "));
    EXPECT_EQ(error.advice().hint, Hint::max_expansion);
    save.output = dry_output;
    expect_refused(folder_, input, save, Code::onnx_model_expansion, "", std::nullopt);
  }

  TempDir folder_;
};

TEST_F(ExpansionTest, CopiesSharedBytesAtMostEightTimes) {
  EXPECT_NO_THROW(unpack(sharing(8), folder_ / "eight", saved_as(Format::onnx_inline)));
  expect_too_much(sharing(9), Format::onnx_inline);
}

TEST_F(ExpansionTest, WritesSharedBytesAsOneEntry) {
  const ConvertReport report = pack(sharing(1000), folder_ / "out", saved_as(Format::archive));
  EXPECT_EQ(report.payload_bytes, 4 * floats_in_all);
}

TEST_F(ExpansionTest, SlicesThatOverlapAreRefusedInEveryForm) {
  for (const Format format : {Format::archive, Format::onnx_external, Format::onnx_inline}) {
    expect_too_much(overlapping(20), format);
  }
}

TEST_F(ExpansionTest, TheOrderOfOverlappingSlicesDoesNotMatter) {
  // Places are sorted. The next higher place must not be taken for the one that is looked up.
  Messages backwards;
  for (std::size_t i = 20; i > 0; --i) {
    backwards.push_back(linked_floats("t" + std::to_string(i), floats_in_all, "w.bin", 4 * i));
  }
  expect_too_much(written(backwards, 4 * (floats_in_all + 20)), Format::archive);
}

TEST_F(ExpansionTest, TheOptionAllowsMore) {
  LoadOptions load = {.max_expansion = 20};
  const ConvertReport report = pack(overlapping(20), folder_ / "out", saved_as(Format::archive), load);
  EXPECT_EQ(report.payload_bytes, std::size_t{20} * 4 * floats_in_all);
  load.max_expansion = 1;
  std::filesystem::remove(folder_ / "out");
  expect_refused(folder_, sharing(2), saved_as(Format::onnx_inline), Code::onnx_model_expansion, "", std::nullopt,
                 load);
}

TEST_F(ExpansionTest, ComputesNoChecksumOfWhatIsRefused) {
  SaveOptions save = saved_as(Format::archive);
  save.checksum = Checksum::sha1;
  expect_refused(folder_, overlapping(20), save, Code::onnx_model_expansion, "", std::nullopt);
}

TEST_F(ExpansionTest, ComparesSharedArchiveWithItsOwnSize) {
  const auto archive = archive_of_shared(20);
  EXPECT_NO_THROW(pack(archive, folder_ / "again", saved_as(Format::archive)));
  expect_too_much(archive, Format::onnx_inline);
}

TEST_F(ExpansionTest, ExtractRefusesPatternThatExpandsTooMuch) {
  const auto archive = archive_of_shared(20);
  const ExtractOptions options = {.output = {.sync = false}};
  const auto before = folder_.file_names();
  const Error error = error_of([&] { extract(archive, "t*", folder_ / "x/", options); });
  EXPECT_EQ(id(error.code()), "onnx.model.expansion") << error.what();
  EXPECT_EQ(folder_.file_names(), before);
  EXPECT_THAT(extract(archive, "t[1-7]", folder_ / "x/", options), SizeIs(7));
}

TEST_F(ExpansionTest, CountsSmallElementsWithTheSizeInNumpy) {
  Messages list;
  for (int i = 0; i < 8; ++i) {
    list.push_back(tensor("t" + std::to_string(i), dtype::int4, {200'000}).external("w.bin", {}, 100'000));
  }
  const auto path = written(list, 100'000);
  ExtractOptions options = {.output = {.sync = false}};
  EXPECT_EQ(id(error_of([&] { extract(path, "*", folder_ / "x/", options); }).code()), "onnx.model.expansion");
  options.raw = true;  // eight times the packed bytes
  EXPECT_THAT(extract(path, "*", folder_ / "x/", options), SizeIs(8));
}

TEST_F(ExpansionTest, ARuntimeModelDoesNotTakeInSharedBytesTooOften) {
  Messages nodes;
  for (int i = 0; i < 20; ++i) {
    const std::string name = std::to_string(i);
    nodes.push_back(constant("c" + name, linked_floats(name, floats_in_all, "w")));
  }
  const Built archive =
      archive_of(model({.graph = graph({.nodes = nodes})}), {zip_entry("w", pattern(4 * floats_in_all))});
  const Archive open = Archive::open(archive.bytes, nullptr);
  EXPECT_EQ(id(error_of([&] { static_cast<void>(make_runtime_model(open)); }).code()), "onnx.model.expansion");
}

// By ranges no bytes are in memory when the limit is proved.
TEST_F(ExpansionTest, LimitIsTheSameForAnArchiveInRanges) {
  const auto with_slices = [](std::size_t tensors) {
    Messages nodes, list;
    for (std::size_t i = 0; i < tensors; ++i) {
      list.push_back(linked_floats("t" + std::to_string(i), floats_in_all, "w", 4 * i));
      nodes.push_back(constant("c" + std::to_string(i), list.back()));
    }
    return archive_of(model({.graph = graph({.nodes = nodes, .initializers = list})}),
                      {zip_entry("w", pattern(4 * (floats_in_all + tensors)))})
        .bytes;
  };
  const auto refused = [&](const Blob& bytes, const auto& action) {
    LoadOptions load;
    load.open_ranges = [&bytes](const std::filesystem::path&) { return by_ranges(bytes); };
    const auto path = folder_.write_file("slices.onnxar", bytes);
    return std::pair(code_of([&] { action(path, LoadOptions()); }), code_of([&] { action(path, load); }));
  };
  const auto packed = [&](const auto& path, const LoadOptions& load) {
    pack(path, folder_ / "out", saved_as(Format::archive, dry_output), load);
  };
  const auto unpacked = [&](const auto& path, const LoadOptions& load) {
    unpack(path, folder_ / "out", saved_as(Format::onnx_inline, dry_output), load);
  };
  const auto opened = [](const auto& path, const LoadOptions& load) {
    return load.open_ranges ? Archive::open(load.open_ranges(path)) : Archive::open(path);
  };
  const auto read = [&](const auto& path, const LoadOptions& load) { ModelReader(opened(path, load)); };
  const auto made = [&](const auto& path, const LoadOptions& load) {
    static_cast<void>(make_runtime_model(opened(path, load)));
  };
  const auto both = [](std::optional<Code> code) { return std::pair(code, code); };
  const Blob few = with_slices(4), many = with_slices(20);
  const auto expect = [&](const auto& action) {
    EXPECT_EQ(refused(few, action), both(std::nullopt));
    EXPECT_EQ(refused(many, action), both(Code::onnx_model_expansion));
  };
  expect(packed);
  expect(unpacked);
  expect(read);
  expect(made);
}

TEST_F(ExpansionTest, InflatedDataThatTensorsShareCounts) {
  const auto zip_with = [this](std::size_t tensors) {
    Messages list;
    for (std::size_t i = 0; i < tensors; ++i)
      list.push_back(linked_floats("t" + std::to_string(i), floats_in_all, "w", 4 * i));
    ZipBuilder builder;
    builder.entries = {plain_entry(zip_entry("m.onnx", model_of(list).view())),
                       plain_entry(deflated_entry("w", pattern(4 * (floats_in_all + tensors))))};
    return folder_.write_file("m.zip", builder.build());
  };
  const LoadOptions load = {.foreign_zips = true};
  EXPECT_NO_THROW(pack(zip_with(4), folder_ / "four", saved_as(Format::archive), load));
  expect_refused(folder_, zip_with(20), saved_as(Format::archive), Code::onnx_model_expansion, "", std::nullopt, load);
}

TEST_F(ExpansionTest, ExtractRefusesTooManyEmptyTensors) {
  Messages list;
  for (int i = 0; i < 1000; ++i) list.push_back(tensor("", dtype::float32, {0}));
  const auto path = folder_.write_file("m.onnx", model_of(list).view());
  for (const bool raw : {false, true}) {
    const ExtractOptions options = {.raw = raw, .output = {.sync = false}};
    const Error error = error_of([&] { extract(path, "*", folder_ / "x/", options); });
    EXPECT_EQ(id(error.code()), "onnx.model.expansion") << error.what();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
  }
}

// Runtimes follow no link in an attribute of such a node, so a link takes the data in.
TEST_F(ExpansionTest, ALinkDoesNotTakeInSharedBytesTooOften) {
  const auto linked_nodes = [this](int count) {
    Messages nodes;
    for (int i = 0; i < count; ++i) {
      const std::string name = std::to_string(i);
      nodes.push_back(node("Custom", {}, {"o" + name}, {attribute_t("v", linked_floats(name, floats_in_all, "w"))}));
    }
    const Built built =
        archive_of(model({.graph = graph({.nodes = nodes})}), {zip_entry("w", pattern(4 * floats_in_all))});
    return folder_.write_file("linked.onnxar", built.bytes);
  };
  EXPECT_GT(make_link(linked_nodes(8)).model.size(), std::size_t{8} * 4 * floats_in_all);
  const auto archive = linked_nodes(20);
  expect_error(error_of([&] { static_cast<void>(make_link(archive)); }),
               {.code = Code::onnx_model_expansion, .path = archive});
}

TEST(DistinctBytes, EachByteIsCountedOnce) {
  const Blob blob = pattern(100);
  const Bytes bytes(blob);
  EXPECT_EQ(distinct_bytes({}), 0U);
  EXPECT_EQ(distinct_bytes({bytes.subspan(10, 20), bytes.subspan(10, 20), bytes.subspan(15, 30), bytes.subspan(0, 5)}),
            40U);
  EXPECT_EQ(distinct_bytes({bytes, bytes.subspan(50, 10), Bytes()}), 100U);
}

TEST(Expansion, NumbersThatWouldWrapAreRefused) {
  Expansion expansion(1U << 20U, ~0ULL);
  expansion.add(~0ULL);
  EXPECT_EQ(error_of([&] { expansion.add(1); }).code(), Code::onnx_model_expansion);
}

}  // namespace
}  // namespace onnxar::testing
