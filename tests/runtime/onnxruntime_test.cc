// Models for runtimes: initializers of the main graph are beside the model, all other data is inside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/link.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::IsEmpty;

/// A model with a node that takes these initializers.
Message taking(const Messages& initializers, const Names& names) {
  return model({.graph = graph({.nodes = {node("Op", names, {"y"})}, .initializers = initializers})});
}

/// An archive in memory with this model and the entries `a` and `b` of 300 floats each.
class Sample {
 public:
  explicit Sample(const Message& model)
      : built_(archive_of(model, {zip_entry("a", pattern(1200, 1)), zip_entry("b", pattern(1200, 2))})),
        archive_(Archive::open(built_.bytes, nullptr)),
        made_(make_runtime_model(archive_)) {}

  [[nodiscard]] const Archive& archive() const { return archive_; }
  [[nodiscard]] const RuntimeModel& made() const { return made_; }

 private:
  Built built_;
  Archive archive_;
  RuntimeModel made_;
};

TEST(RuntimeModel, ReturnsMainInitializersByName) {
  const Message half = linked_floats("half", 150, "a", 600), b = linked_floats("b", 300, "b");
  const Message model = taking({half, floats("inline", 300, 3), b}, {"b", "half"});
  const Sample sample(model);
  EXPECT_EQ(sample.made().model, model.view());
  ASSERT_EQ(sample.made().tensors.size(), 2U);
  const RuntimeTensor& first = sample.made().tensors[0];
  EXPECT_EQ(first.info.name, "half");
  EXPECT_EQ(first.info.type, DataType::float32);
  EXPECT_EQ(first.info.dims, std::vector<std::int64_t>{150});
  EXPECT_EQ(first.bytes.data(), sample.archive().resolve("a", 600).data());
  EXPECT_EQ(first.bytes.size(), 600U);
  EXPECT_EQ(sample.made().tensors[1].bytes.data(), sample.archive().resolve("b").data());
}

TEST(RuntimeModel, AllOtherDataIsInTheModel) {
  const auto with = [](const Message& held) {
    const Message inner = graph({.nodes = {constant("c", held)}, .initializers = {held}});
    const Message sparse = sparse_tensor(held, tensor("", dtype::int64, {1}).int64_data({1}), {300});
    return model({.graph = graph({.nodes = {constant("d", held), node("If", {"x"}, {"y"}, {attribute_g("g", inner)})},
                                  .sparse_initializers = {sparse}}),
                  .functions = {function({.nodes = {constant("e", held)}})},
                  .training = {training_info(inner, inner)}});
  };
  const Sample sample(with(linked_floats("a", 300, "a")));
  EXPECT_EQ(sample.made().model, with(floats("a", 300, 1)).view());
  EXPECT_THAT(sample.made().tensors, IsEmpty());
}

TEST(RuntimeModel, EmptyAndNamelessDataIsInTheModel) {
  const Sample empty(model_of({tensor("e", dtype::float32, {0}).external("a", {}, 0)}));
  EXPECT_EQ(empty.made().model, model_of({tensor("e", dtype::float32, {0}).raw_data({})}).view());
  EXPECT_THAT(empty.made().tensors, IsEmpty());
  const Sample nameless(model_of({linked_floats("", 300, "a")}));
  EXPECT_EQ(nameless.made().model, model_of({floats("", 300, 1)}).view());
  EXPECT_THAT(nameless.made().tensors, IsEmpty());
}

TEST(RuntimeModel, InitializersThatNoNodeTakesAreInTheModel) {
  const Message a = linked_floats("a", 300, "a"), inside = floats("a", 300, 1);
  const auto with = [](const Message& initializer, const Message& below, const Messages& initializers) {
    const Message inner = graph({.nodes = {below}, .initializers = initializers});
    return model({.graph = graph(
                      {.nodes = {node("If", {"x"}, {"y"}, {attribute_g("g", inner)})}, .initializers = {initializer}}),
                  .functions = {function({.nodes = {node("Op", {"a"}, {"z"})}})}});
  };
  const Message other = node("Op", {"b"}, {"a_"}), taken = node("Op", {"a"}, {"z"});
  EXPECT_EQ(Sample(with(a, other, {})).made().model, with(inside, other, {}).view());
  const Message initializer = floats("a", 1);  // in the subgraph, which then takes this one
  EXPECT_EQ(Sample(with(a, taken, {initializer})).made().model, with(inside, taken, {initializer}).view());
  EXPECT_EQ(Sample(with(a, taken, {})).made().tensors.size(), 1U);
}

TEST(RuntimeModel, OutlivesTheArchive) {
  const auto bytes = std::make_shared<const Blob>(
      archive_of(taking({linked_floats("a", 300, "a")}, {"a"}), {zip_entry("a", pattern(1200, 1))}).bytes);
  const RuntimeModel made = make_runtime_model(Archive::open(*bytes, bytes));
  EXPECT_EQ(bytes.use_count(), 2) << "one share here, one in the model, none elsewhere";
  EXPECT_EQ(Blob(made.tensors[0].bytes.begin(), made.tensors[0].bytes.end()), pattern(1200, 1));
}

// Such a model is read from a verified copy, and the data is not.
TEST(RuntimeModel, OutlivesAnEditedArchiveAndAGraphOfIt) {
  const Message first = model_of({linked_floats("a", 300, "a")}), graph = taking({linked_floats("b", 300, "b")}, {"b"});
  const Built built = archive_of(first, {zip_entry("a", pattern(1200, 1))});
  const std::vector<ZipEntry> extra = {zip_entry("b", pattern(1200, 2)), zip_entry("g.onnx", graph.view())};
  const auto bytes = std::make_shared<const Blob>(append_edit(built, graph.view(), extra).bytes);
  for (const std::string name : {"", "g"}) {
    const RuntimeModel made = [&] {
      const Archive archive = Archive::open(*bytes, bytes);
      return name.empty() ? make_runtime_model(archive) : make_runtime_model(archive.graph(name));
    }();
    EXPECT_EQ(bytes.use_count(), 2) << "one share here, one in the model, none elsewhere";
    EXPECT_EQ(made.model, graph.view());
    EXPECT_EQ(Blob(made.tensors[0].bytes.begin(), made.tensors[0].bytes.end()), pattern(1200, 2));
  }
}

TEST(RuntimeModel, ReadsRangedInitializersInOneCall) {
  const Message model = taking({linked_floats("half", 150, "a", 600), linked_floats("b", 300, "b"),
                                linked_floats("all", 300, "a"), tensor("e", dtype::float32, {0}).external("a")},
                               {"half", "b", "all", "e"});
  const auto file =
      by_ranges(archive_of(model, {zip_entry("a", pattern(1200, 1)), zip_entry("b", pattern(1200, 2))}).bytes);
  RuntimeModel made;
  {
    const Archive archive = Archive::open(file);
    static_cast<void>(archive.model());
    const std::size_t calls = file->calls;
    made = make_runtime_model(archive);
    EXPECT_LE(file->calls, calls + 1);
  }
  ASSERT_EQ(made.tensors.size(), 3U);
  const Blob a = pattern(1200, 1);
  const auto data = [&](std::size_t i) { return Blob(made.tensors[i].bytes.begin(), made.tensors[i].bytes.end()); };
  EXPECT_EQ(data(0), Blob(a.begin() + 600, a.end()));
  EXPECT_EQ(data(1), pattern(1200, 2));
  EXPECT_EQ(data(2), a);
}

TEST(RuntimeModel, VerifiesWhatItCopies) {
  const Message model = testing::model({.graph = graph({.nodes = {constant("c", linked_floats("a", 300, "a"))}})});
  Built built = archive_of(model, {zip_entry("a", pattern(1200, 1))});
  flip_bit(built.bytes, built.entry("a").data_offset + 5);
  const Archive archive = Archive::open(built.bytes, nullptr);
  EXPECT_EQ(code_of([&] { make_runtime_model(archive); }), Code::zip_data_crc);
}

TEST(RuntimeModel, BrokenLinksAreRefused) {
  const Built built = archive_of(model_of({linked_floats("w", 300, "none")}));
  const Archive archive = Archive::open(built.bytes, nullptr);
  const auto error = error_of([&] { make_runtime_model(archive); });
  expect_error(error, Code::onnx_external_missing, std::string(model_entry), error.offset());
}

TEST(RuntimeModel, ModelsBeyondProtobufAreRefused) {
  // One entry of 300 MiB that tensors name 8 times: the most that may be copied.
  constexpr std::int64_t size = 300LL << 20;
  const TempDir folder;
  Messages nodes;
  for (int i = 0; i < 8; ++i) {
    const auto large = tensor("w", dtype::uint8, {size}).external("w", {}, static_cast<std::uint64_t>(size));
    nodes.push_back(constant("c" + std::to_string(i), large));
  }
  auto writer = ArchiveWriter::create(folder / "x.onnxar", {.output = {.sync = false}});
  writer.add("w", Blob(static_cast<std::size_t>(size)));
  writer.finish(model({.graph = graph({.nodes = nodes})}).view());
  const Archive archive = Archive::open(folder / "x.onnxar");
  const auto error = error_of([&] { make_runtime_model(archive); });
  expect_error(error, Code::onnx_model_too_large, "", {});
  EXPECT_EQ(error.path(), folder / "x.onnxar");
}

}  // namespace
}  // namespace onnxar::testing
