// Every kind of source gives the same model through one interface.
#include "convert/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_origin.h"
#include "onnxar/link.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OpenTest : public ::testing::Test {
 protected:
  /// The data of the first tensor whose data is external.
  static Blob data_in(ModelSource& source) {
    Blob data;
    onnx::walk_tensors(source.model(), [&](const onnx::TensorSite& site) {
      if (site.tensor.is_external()) {
        source.payload_of(site).source->read([&data](Bytes b) { data.insert(data.end(), b.begin(), b.end()); });
      }
    });
    return data;
  }
  /// Where that data lies. The result is valid as long as `source`.
  static std::vector<Location> runs_in(ModelSource& source) {
    std::vector<Location> runs;
    onnx::walk_tensors(source.model(), [&](const onnx::TensorSite& site) {
      source.payload_of(site).source->locate([&runs](const Location& run) { runs.push_back(run); });
    });
    return runs;
  }
  [[nodiscard]] static Message linked() { return model_of({linked_floats("w", 300, "w.bin")}); }
  [[nodiscard]] fs::path onnx_file() const {
    folder_.write_file("w.bin", pattern(1200));
    return folder_.write_file("m.onnx", linked().view());
  }
  [[nodiscard]] fs::path archive() const {
    return folder_.write_file("a.onnxar", archive_of(linked(), {zip_entry("w.bin", pattern(1200))}).bytes);
  }

  TempDir folder_;
};

TEST_F(OpenTest, AnArchiveHasItsDataInEntries) {
  const auto source = open_source(archive(), {});
  ASSERT_NE(archive_of(*source), nullptr);
  EXPECT_EQ(files_of(*source), nullptr);
  EXPECT_EQ(data_in(*source), pattern(1200));
  EXPECT_EQ(source->place(7).entry, "__MODEL_PROTO");
  EXPECT_EQ(source->input_size(), fs::file_size(archive()));
}

TEST_F(OpenTest, AFileHasItsDataInFilesBesideIt) {
  const auto source = open_source(onnx_file(), {});
  EXPECT_EQ(archive_of(*source), nullptr);
  ASSERT_NE(files_of(*source), nullptr);
  EXPECT_EQ(source->input_size(), linked().view().size()) << "no data file was needed so far";
  EXPECT_EQ(data_in(*source), pattern(1200));
  EXPECT_EQ(source->input_size(), linked().view().size() + 1200);
  EXPECT_EQ(source->place(7).entry, "");
  EXPECT_EQ(source->place(7).offset, 7U);
}

// The bytes of an archive hold their data in entries.
TEST_F(OpenTest, BytesReadTheirDataFromTheNamedFolder) {
  static_cast<void>(onnx_file());
  const Message model = linked();
  EXPECT_EQ(data_in(*source_of(model.view(), nullptr, {.external_data_dir = folder_.path()})), pattern(1200));
  const auto without = source_of(model.view(), nullptr, {});
  EXPECT_EQ(files_of(*without), nullptr);
  const Error error = error_of([&] { data_in(*without); });
  EXPECT_EQ(error.code(), Code::onnx_external_missing);
  EXPECT_EQ(error.finding().advice.hint, Hint::data_folder_of_bytes);
  const Built built = archive_of(linked(), {zip_entry("w.bin", pattern(1200))});
  const auto archive = source_of(built.bytes, nullptr, {});
  EXPECT_NE(archive_of(*archive), nullptr);
  EXPECT_EQ(data_in(*archive), pattern(1200));
  const std::vector<Location> runs = runs_in(*archive);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].file, nullptr) << "data in memory is of no file";
}

TEST_F(OpenTest, ALinkHasItsDataInTheArchiveBesideIt) {
  link(archive(), folder_ / "link.onnx", {.output = {.sync = false}});
  const auto source = open_source(folder_ / "link.onnx", {});
  auto* const file = dynamic_cast<FileSource*>(source.get());
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->linked_archive(), nullptr) << "nothing was looked up so far";
  EXPECT_EQ(data_in(*source), pattern(1200));
  ASSERT_NE(file->linked_archive(), nullptr);
  EXPECT_EQ(file->linked_archive()->path().filename(), "a.onnxar");
}

TEST_F(OpenTest, TextHasNoPlaces) {
  const auto source =
      source_of(as_bytes("ir_version: 8"), nullptr, {.text_parser = [](Bytes) { return linked().take(); }});
  EXPECT_EQ(source->graph().begin, std::nullopt);
  EXPECT_EQ(source->place(7).offset, std::nullopt);
  EXPECT_EQ(code_of([] { source_of(as_bytes("ir_version: 8"), nullptr, {}); }), Code::usage_no_text_parser);
}

TEST_F(OpenTest, GraphsOfAnArchiveAreSelectedByName) {
  const Message other = model_of({linked_floats("v", 3, "v")});
  const Built built = archive_of(
      linked(), {zip_entry("w.bin", pattern(1200)), zip_entry("v", pattern(12)), zip_entry("d.onnx", other.view())});
  const auto source = source_of(built.bytes, nullptr, {});
  EXPECT_THAT(source->graphs(), ElementsAre("d.onnx"));
  source->select("d.onnx");
  EXPECT_EQ(source->place(0).entry, "d.onnx");
  EXPECT_EQ(data_in(*source), pattern(12));
  source->select({});
  EXPECT_EQ(source->place(0).entry, "__MODEL_PROTO");
  EXPECT_EQ(data_in(*source), pattern(1200));
}

TEST_F(OpenTest, AFileHasNoFurtherGraphs) {
  const auto source = open_source(onnx_file(), {});
  EXPECT_THAT(source->graphs(), IsEmpty());
  EXPECT_EQ(code_of([&] { source->select("d.onnx"); }), Code::usage_argument);
}

TEST_F(OpenTest, ErrorsGetThePlaceInTheInputOnce) {
  const auto source = open_source(archive(), {});
  const Error error = source->with_place(Error(Code::wire_tag, "broken", {"", 3}));
  EXPECT_EQ(error.path(), folder_ / "a.onnxar");
  EXPECT_EQ(error.entry(), "__MODEL_PROTO");
  EXPECT_GT(error.offset(), 3U);
  const Error again = source->with_place(error);
  EXPECT_EQ(again.offset(), error.offset());
}

TEST_F(OpenTest, EmptyInputIsNotAModel) {
  EXPECT_EQ(code_of([&] { open_source(folder_.write_file("e", Blob()), {}); }), Code::onnx_model_invalid);
  EXPECT_EQ(code_of([] { source_of(Bytes(), nullptr, {}); }), Code::onnx_model_invalid);
}

TEST_F(OpenTest, SecondChecksumOfTheSameBytesIsRefusedAtOnce) {
  folder_.write_file("w.bin", pattern(12));
  const auto with_checksum = [](std::string_view name, char digit) {
    return linked_floats(name, 3, "w.bin").external_data("checksum", std::string(40, digit));
  };
  const fs::path path =
      folder_.write_file("m.onnx", model_of({with_checksum("a", '0'), with_checksum("b", '1')}).view());
  const auto source = open_source(path, {});
  std::vector<std::string> refused;
  onnx::walk_tensors(source->model(), [&](const onnx::TensorSite& site) {
    if (code_of([&] { static_cast<void>(source->payload_of(site)); })) refused.emplace_back(site.tensor.name);
  });
  EXPECT_THAT(refused, ElementsAre("b"));
}

// A writer has the file system share the blocks of data whose file it knows.
TEST_F(OpenTest, DataInFilesSaysWhichFileItIsMappedFrom) {
  link(archive(), folder_ / "link.onnx", {.output = {.sync = false}});
  for (const fs::path& path : {onnx_file(), archive(), folder_ / "link.onnx"}) {
    const LoadOptions unverified = {.verify_data = false};
    for (const LoadOptions& load : {LoadOptions(), unverified}) {
      const auto source = open_source(path, load);
      const std::vector<Location> runs = runs_in(*source);
      ASSERT_EQ(runs.size(), 1U) << path;
      ASSERT_NE(runs[0].file, nullptr) << path;
      EXPECT_TRUE(static_cast<const base::FileOrigin*>(runs[0].file)->open(runs[0].bytes)) << path;
    }
  }
}

// Data that is compared with a checksum must be read through its source.
TEST_F(OpenTest, SummedDataIsNotUsedInPlace) {
  folder_.write_file("w.bin", pattern(12));
  const Message model = model_of({linked_floats("a", 3, "w.bin").external_data("checksum", std::string(40, '0'))});
  for (const bool verify : {false, true}) {
    const auto source = open_source(folder_.write_file("m.onnx", model.view()), {.verify_data = verify});
    onnx::walk_tensors(source->model(), [&](const onnx::TensorSite& site) {
      source->payload_of(site).source->locate([&](const Location& run) { EXPECT_EQ(run.verified, verify); });
    });
  }
}

}  // namespace
}  // namespace onnxar::testing
