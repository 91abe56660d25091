// ModelWriter saves models whose messages the caller holds: weights come from sources, and are placed as by `pack`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/model_stream.h"
#include "onnxar/tensors.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/sources.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Makes its bytes when it is read, and counts the reads.
class WatchedSource final : public ByteSource {
 public:
  WatchedSource(std::size_t size, std::uint32_t seed, std::size_t made) : size_(size), seed_(seed), made_(made) {}
  WatchedSource(std::size_t size, std::uint32_t seed) : WatchedSource(size, seed, size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(const ByteSink& sink) const override {
    ++reads;
    sink(pattern(made_, seed_));
  }

  mutable int reads = 0;

 private:
  std::size_t size_;
  std::uint32_t seed_;
  std::size_t made_;
};

class ModelWriterTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> entries() const {
    const Archive archive = Archive::open(path_);
    std::vector<std::string> names;
    for (std::size_t i = 0; i + 1 < archive.size(); ++i) names.emplace_back(archive.entry(i).name);
    return names;
  }

  ConvertReport save(const Message& model, const SaveOptions& options = saved_as(Format::archive),
                     const LoadOptions& load = {}) {
    return writer_.save(model.view(), path_, options, load);
  }

  TempDir folder_;
  std::filesystem::path path_ = folder_ / "a.onnxar";
  ModelWriter writer_;
};

TEST_F(ModelWriterTest, TheArchiveIsTheOneOfTheInlineModel) {
  const auto first = std::make_shared<WatchedSource>(4096, 1);
  const auto second = std::make_shared<WatchedSource>(2048, 2);
  const std::string at_second = writer_.add(second);
  const std::string at_first = writer_.add(first);
  const ConvertReport report = save(model_of({linked_floats("a", 1024, at_first), linked_floats("b", 512, at_second)}));
  EXPECT_EQ(report.tensors_outside, 2U);
  const auto inline_model = folder_.write_file("m.onnx", model_of({floats("a", 1024, 1), floats("b", 512, 2)}).view());
  pack(inline_model, folder_ / "b.onnxar", saved_as(Format::archive));
  EXPECT_EQ(folder_.read_file("a.onnxar"), folder_.read_file("b.onnxar"));
  EXPECT_EQ(first->reads, 1);
  EXPECT_EQ(second->reads, 1);
}

TEST_F(ModelWriterTest, SmallWeightsStayInsideAndUnusedAreDropped) {
  const auto small = std::make_shared<WatchedSource>(512, 1);
  const auto unused = std::make_shared<WatchedSource>(4096, 2);
  static_cast<void>(writer_.add(unused));
  save(model_of({linked_floats("a", 128, writer_.add(small))}));
  EXPECT_THAT(entries(), IsEmpty());
  EXPECT_EQ(unused->reads, 0);
  EXPECT_THAT(folder_.read_file("a.onnxar"), ::testing::SizeIs(::testing::Lt(1024U)));
}

TEST_F(ModelWriterTest, TensorsThatNameOneWeightShareItsEntry) {
  const auto weight = std::make_shared<WatchedSource>(4096, 1);
  const std::string location = writer_.add(weight);
  save(model_of({linked_floats("a", 1024, location), linked_floats("b", 1024, location)}));
  EXPECT_THAT(entries(), ElementsAre("a"));
  EXPECT_EQ(weight->reads, 1);
  const Archive archive = Archive::open(path_);
  const std::vector<StoredTensor> stored = tensors(archive);
  ASSERT_EQ(stored.size(), 2U);
  for (const StoredTensor& tensor : stored) {
    const ByteSpan data = tensor_data(archive, tensor);
    EXPECT_EQ(data.bytes().data(), archive.bytes(archive.entry(0)).data()) << tensor.name;
    EXPECT_EQ(data.size(), 4096U) << tensor.name;
  }
}

TEST_F(ModelWriterTest, WeightsOfEqualBytesHaveAnEntryEach) {
  const std::string first = writer_.add(std::make_shared<WatchedSource>(4096, 1));
  const std::string second = writer_.add(std::make_shared<WatchedSource>(4096, 1));
  save(model_of({linked_floats("a", 1024, first), linked_floats("b", 1024, second)}));
  EXPECT_THAT(entries(), ElementsAre("a", "b")) << "sources are told apart before they are read";
}

TEST_F(ModelWriterTest, CopiesDataInsideAndInFiles) {
  folder_.write_file("w.data", pattern(4096, 3));
  const std::string location = writer_.add(std::make_shared<WatchedSource>(4096, 1));
  save(model_of(
           {linked_floats("made", 1024, location), floats("inside", 1024, 2), linked_floats("file", 1024, "w.data")}),
       saved_as(Format::archive), {.external_data_dir = folder_.path()});
  EXPECT_THAT(entries(), ElementsAre("made", "inside", "file"));
}

/// Options for every form; in the last archive, data of less than `threshold` stays inside the model.
std::vector<SaveOptions> every_form(std::uint64_t threshold) {
  SaveOptions in_files = saved_as(Format::onnx_external);
  in_files.file_per_tensor = true;
  in_files.data_file = {};
  SaveOptions within = saved_as(Format::archive);
  within.threshold = threshold;
  return {saved_as(Format::archive), saved_as(Format::onnx_inline), saved_as(Format::onnx_external), in_files, within};
}

TEST_F(ModelWriterTest, RefusesWeightWithWrongSizeInEveryForm) {
  for (const SaveOptions& options : every_form(1U << 20U)) {
    for (const std::size_t made : {4095U, 4097U}) {
      writer_ = ModelWriter();
      static_cast<void>(writer_.add(std::make_shared<WatchedSource>(4, 1)));
      const std::string location = writer_.add(std::make_shared<WatchedSource>(4096, 1, made));
      expect_error(error_of([&] { save(model_of({linked_floats("a", 1024, location)}), options); }),
                   {.code = Code::io_source_size, .path = path_, .says = {"weight 1 in the order of adding"}});
    }
  }
  EXPECT_THAT(folder_.file_names(), IsEmpty());
}

TEST_F(ModelWriterTest, RefusesWeightOf2To63BytesBeforeSumWraps) {
  for (int i = 0; i < 2; ++i) {
    writer_ = ModelWriter();
    const Error error =
        error_of([&] { static_cast<void>(writer_.add(std::make_shared<AnnouncedSource>(1ULL << 63U))); });
    EXPECT_EQ(error.code(), Code::usage_argument);
    EXPECT_THAT(error.message(), ::testing::HasSubstr("weight 0 in the order of adding"));
  }
}

TEST_F(ModelWriterTest, RefusesTooLargeSumOfSizesInEveryForm) {
  for (const SaveOptions& options : every_form(1ULL << 62U)) {
    writer_ = ModelWriter();
    Messages tensors;
    for (int i = 0; i < 16; ++i) {  // 2^64 bytes: the sum of 64 bits would be 0
      const std::string location = writer_.add(std::make_shared<AnnouncedSource>(1ULL << 60U));
      tensors.push_back(tensor("w" + std::to_string(i), dtype::uint8, {1LL << 60}).external(location, 0, 1ULL << 60U));
    }
    expect_error(error_of([&] { save(model_of(tensors), options); }),
                 {.code = Code::usage_argument, .path = path_, .says = {"tensor \"w1\" (graph.initializer[1])"}});
  }
  EXPECT_THAT(folder_.file_names(), IsEmpty());
}

TEST_F(ModelWriterTest, RefusesUnknownChecksumValue) {
  SaveOptions options = saved_as(Format::archive);
  options.checksum = static_cast<Checksum>(9);
  EXPECT_EQ(error_of([&] { save(model_of({floats("a", 4)}), options); }).code(), Code::usage_argument);
  EXPECT_THAT(folder_.file_names(), IsEmpty());
}

TEST_F(ModelWriterTest, StaysFailedWhenACallHasFailed) {
  const Error refused = error_of([&] { static_cast<void>(writer_.add(nullptr)); });
  EXPECT_EQ(refused.code(), Code::usage_argument);
  const auto expect_failed = [](const Error& error) {
    EXPECT_EQ(error.code(), Code::usage_writer_failed);
    EXPECT_THAT(error.message(), ::testing::HasSubstr("null pointer")) << "the first failure is reported";
  };
  expect_failed(error_of([&] { static_cast<void>(writer_.add(std::make_shared<WatchedSource>(4096, 1))); }));
  expect_failed(error_of([&] { save(model_of({floats("a", 4)})); }));
  EXPECT_THAT(folder_.file_names(), IsEmpty());
}

TEST_F(ModelWriterTest, RequiresTheSizeOfTheShape) {
  const std::string location = writer_.add(std::make_shared<WatchedSource>(4096, 1));
  const Message other_shape = tensor("a", dtype::float32, {7}).external(location);
  EXPECT_EQ(error_of([&] { save(model_of({other_shape})); }).code(), Code::onnx_tensor_length);
}

TEST_F(ModelWriterTest, LocationsOfAnotherWriterAreRefused) {
  ModelWriter other;
  const std::string location = other.add(std::make_shared<WatchedSource>(4096, 1));
  const Error error = error_of([&] { save(model_of({linked_floats("a", 1024, location)})); });
  EXPECT_EQ(error.code(), Code::onnx_external_marker);
}

TEST_F(ModelWriterTest, SavesAgainInEveryForm) {
  const auto source = std::make_shared<WatchedSource>(4096, 1);
  const Message proto = model_of({linked_floats("a", 1024, writer_.add(source))});
  save(proto);
  save(proto, saved_as(Format::onnx_inline, over_existing));
  EXPECT_EQ(source->reads, 2);
  EXPECT_THAT(folder_.read_file("a.onnxar"), ::testing::SizeIs(::testing::Gt(4096U)));
}

TEST_F(ModelWriterTest, AnEditAddsWhatTheArchiveDoesNotHave) {
  const auto old = std::make_shared<WatchedSource>(4096, 1);
  save(model_of({linked_floats("a", 1024, writer_.add(old))}));
  const Blob before = folder_.read_file("a.onnxar");
  const auto equal = std::make_shared<WatchedSource>(4096, 1);
  const std::string at_equal = writer_.add(equal);
  const std::string at_other = writer_.add(std::make_shared<WatchedSource>(2048, 2));
  const Message model =
      model_of({linked_floats("a", 1024, "a"), linked_floats("b", 1024, at_equal), linked_floats("c", 512, at_other)});
  const ReplaceReport report = writer_.replace(path_, model.view(), unsynced_edit());
  EXPECT_THAT(entries(), ElementsAre("a", "c")) << "the data of b is that of an entry";
  EXPECT_EQ(report.entries_added, 1U);
  EXPECT_EQ(report.bytes_added, 2048U);
  EXPECT_TRUE(passed(check(path_, {.data = true, .strict = false, .load = {}})));
  undo(path_, {.sync = false});
  EXPECT_EQ(folder_.read_file("a.onnxar"), before);
}

TEST_F(ModelWriterTest, AnEditWithAWeightOfAnotherSizeChangesNothing) {
  save(model_of({floats("a", 1024)}));
  const Blob before = folder_.read_file("a.onnxar");
  const std::string location = writer_.add(std::make_shared<WatchedSource>(4096, 1, 4095));
  const Message model = model_of({linked_floats("b", 1024, location)});
  EXPECT_EQ(error_of([&] { writer_.replace(path_, model.view(), unsynced_edit()); }).code(), Code::io_source_size);
  EXPECT_EQ(folder_.read_file("a.onnxar"), before);
}

TEST_F(ModelWriterTest, AnEditOfAStateThatIsGoneIsRefused) {
  save(model_of({floats("a", 1024)}));
  const Archive opened = Archive::open(path_);
  ReplaceOptions options = unsynced_edit();
  options.prepared_from = &opened;
  const Message model = model_of({floats("b", 1024)});
  writer_.replace(path_, model.view(), options);
  const Blob before = folder_.read_file("a.onnxar");
  expect_error(error_of([&] { ModelWriter().replace(path_, model_of({floats("c", 1024)}).view(), options); }),
               {.code = Code::io_changed, .path = path_});
  EXPECT_EQ(error_of([&] { replace(path_, options); }).code(), Code::io_changed);
  EXPECT_EQ(folder_.read_file("a.onnxar"), before);
}

TEST_F(ModelWriterTest, AddedFileMayBeBytes) {
  save(model_of({floats("a", 1024)}));
  ReplaceOptions options = unsynced_edit();
  const Blob bytes = pattern(5000, 9);
  options.add = {{.name = "t.json", .source = std::make_shared<SpanSource>(Bytes(bytes))}};
  replace(path_, options);
  EXPECT_THAT(entries(), ElementsAre("a", "t.json"));
  const Archive archive = Archive::open(path_);
  EXPECT_THAT(archive.bytes(*archive.find("t.json")), ::testing::ElementsAreArray(bytes));
}

}  // namespace
}  // namespace onnxar::testing
