// A model that goes into an archive keeps its links to entries. Its links to ranges of the file become links to
// entries.
#include "convert/target_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "convert/open.h"
#include "onnxar/link.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;

class TargetSourceTest : public ::testing::Test {
 protected:
  TargetSourceTest()
      : target_(Archive::open(folder_.write_file(
            "t.onnxar", archive_of(model_of({linked_floats("w", 300, "w")}), {zip_entry("w", pattern(1200))}).bytes))) {
  }

  /// The payload of the model's only tensor.
  [[nodiscard]] Payload payload_of(const TensorBuilder& tensor, FileLinks file_links = FileLinks::refused) const {
    const auto path = folder_.write_file("m.onnx", model_of({tensor}).view());
    const auto source = open_source_for(target_, path, file_links, {});
    std::optional<Payload> payload;
    onnx::walk_tensors(source->model(), [&](const onnx::TensorSite& site) { payload = source->payload_of(site); });
    return payload.value();
  }
  [[nodiscard]] std::uint64_t data_offset() const { return target_.locate(target_.entry(0)).offset; }

  TempDir folder_;
  Archive target_;
};

TEST_F(TargetSourceTest, ALinkToAnEntryIsKeptWithItsLength) {
  const Payload payload = payload_of(tensor("x", dtype::float32, {2}).external("w", 8, {}));
  ASSERT_TRUE(payload.kept_link);
  EXPECT_EQ(payload.kept_link->location, "w");
  EXPECT_EQ(payload.kept_link->offset, 8U);
  EXPECT_EQ(payload.kept_link->length, 8U);
  EXPECT_EQ(payload.kept_link->checksum, "");
}

TEST_F(TargetSourceTest, AChecksumIsKeptIfItIsOfTheWholeEntry) {
  const std::string sum(40, 'A');
  const auto kept = [&](const TensorBuilder& tensor) {
    const auto path = folder_.write_file("m.onnx", model_of({tensor}).view());
    const auto source = open_source_for(target_, path, FileLinks::refused, {.verify_data = false});
    std::string checksum;
    onnx::walk_tensors(source->model(),
                       [&](const auto& site) { checksum = source->payload_of(site).kept_link->checksum; });
    return checksum;
  };
  EXPECT_EQ(kept(linked_floats("x", 300, "w").external_data("checksum", sum)), std::string(40, 'a'));
  EXPECT_EQ(kept(linked_floats("x", 299, "w").external_data("checksum", sum)), "");
  EXPECT_EQ(kept(linked_floats("x", 300, "t.onnxar", data_offset()).external_data("checksum", sum)), "")
      << "it is of the file";
}

TEST_F(TargetSourceTest, ARangeOfTheFileBecomesALinkToTheEntry) {
  const Payload payload = payload_of(linked_floats("x", 2, "t.onnxar", data_offset() + 16));
  ASSERT_TRUE(payload.kept_link);
  EXPECT_EQ(payload.kept_link->location, "w");
  EXPECT_EQ(payload.kept_link->offset, 16U);
  EXPECT_EQ(payload.bytes().data(), target_.bytes(target_.entry(0)).data() + 16);
}

TEST_F(TargetSourceTest, DataFilesAreTakenOnlyIfTheyAreAllowed) {
  folder_.write_file("f.bin", pattern(8, 3));
  const Payload payload = payload_of(linked_floats("x", 2, "f.bin"), FileLinks::allowed);
  EXPECT_FALSE(payload.kept_link);
  EXPECT_TRUE(std::ranges::equal(payload.bytes(), pattern(8, 3)));
  const Error error = error_of([&] { static_cast<void>(payload_of(linked_floats("x", 2, "f.bin"))); });
  EXPECT_EQ(error.code(), Code::onnx_external_missing);
  EXPECT_EQ(error.finding().advice.hint, Hint::data_beside);
}

TEST_F(TargetSourceTest, TheOldModelIsNotData) {
  EXPECT_EQ(code_of([&] { static_cast<void>(payload_of(linked_floats("x", 2, "__MODEL_PROTO"))); }),
            Code::onnx_external_missing);
}

TEST_F(TargetSourceTest, AnArchiveBringsItsOwnEntries) {
  const auto path = folder_.write_file(
      "o.onnxar", archive_of(model_of({linked_floats("w", 2, "w")}), {zip_entry("w", pattern(8, 5))}).bytes);
  const auto source = open_source_for(target_, path, FileLinks::refused, {});
  onnx::walk_tensors(source->model(), [&](const onnx::TensorSite& site) {
    const Payload payload = source->payload_of(site);
    EXPECT_FALSE(payload.kept_link);
    EXPECT_TRUE(std::ranges::equal(payload.bytes(), pattern(8, 5)));
  });
}

TEST_F(TargetSourceTest, LinkToOldStateIsOneFaultForAllTensors) {
  const Link link = make_link(folder_ / "t.onnxar");
  const Archive other = Archive::open(folder_.write_file(
      "x/t.onnxar", archive_of(model_of({linked_floats("w", 300, "w")}), {zip_entry("w", pattern(1200, 7))}).bytes));
  const auto source = open_source_for(other, folder_.write_file("l.onnx", link.model), FileLinks::refused, {});
  for (int i = 0; i < 2; ++i) {
    onnx::walk_tensors(source->model(), [&](const onnx::TensorSite& site) {
      const Error error = error_of([&] { static_cast<void>(source->payload_of(site)); });
      EXPECT_EQ(error.code(), Code::onnx_link_stale);
      EXPECT_THAT(error.message(), ::testing::Not(HasSubstr("tensor \"w\"")));
    });
  }
}

// To ONNX's own readers, a location is a file beside the model.
TEST_F(TargetSourceTest, RefusesLocationWithTwoMeanings) {
  const auto refused = [this](const TensorBuilder& tensor, FileLinks links) {
    expect_error(
        error_of([&] { static_cast<void>(payload_of(tensor, links)); }),
        {.code = Code::usage_argument, .says = {"a file beside the model, but also leads to the entry \"w\""}});
  };
  folder_.write_file("w", pattern(1200, 9));
  for (const FileLinks links : {FileLinks::allowed, FileLinks::refused}) {
    refused(linked_floats("w", 300, "w"), links);
    refused(linked_floats("w", 2, "w", 8), links);
  }
  folder_.write_file("w", pattern(100));
  refused(linked_floats("w", 300, "w"), FileLinks::allowed);  // too short to be the data
  folder_.write_file("models/t.onnxar", pattern(5000, 9));
  const auto path =
      folder_.write_file("models/m.onnx", model_of({linked_floats("w", 2, "t.onnxar", data_offset())}).view());
  const auto source = open_source_for(target_, path, FileLinks::refused, {});
  onnx::walk_tensors(source->model(), [&](const onnx::TensorSite& site) {
    EXPECT_EQ(code_of([&] { return source->payload_of(site); }), Code::usage_argument)
        << "another archive of that name";
  });
}

TEST_F(TargetSourceTest, TakesEntryIfTheFileHasItsBytes) {
  folder_.write_file("w", pattern(1200));
  for (const FileLinks links : {FileLinks::allowed, FileLinks::refused}) {
    EXPECT_TRUE(payload_of(linked_floats("w", 300, "w"), links).kept_link);
  }
  std::filesystem::remove(folder_ / "w");
  std::filesystem::create_directory(folder_ / "w");
  EXPECT_TRUE(payload_of(linked_floats("w", 300, "w"), FileLinks::allowed).kept_link) << "a folder has no data";
}

class TargetWithSideFile : public TargetSourceTest {
 protected:
  /// A target with a weight of any name, a side file and, after these, other entries.
  void write_target(const std::vector<ZipEntry>& more = {}) {
    std::vector<ZipEntry> entries = {zip_entry("w.0", pattern(1200)), zip_entry("tok.bin", pattern(1200, 3))};
    entries.insert(entries.end(), more.begin(), more.end());
    target_ = Archive::open(
        folder_.write_file("t.onnxar", archive_of(model_of({linked_floats("w", 300, "w.0")}), entries).bytes));
  }
};

TEST_F(TargetWithSideFile, RefusesLinkToSideFile) {
  write_target();
  const std::uint64_t offset = target_.locate(target_.entry(1)).offset;
  for (const TensorBuilder& tensor : {linked_floats("x", 300, "tok.bin"), linked_floats("x", 2, "t.onnxar", offset)}) {
    expect_error(error_of([&] { static_cast<void>(payload_of(tensor)); }),
                 {.code = Code::onnx_external_missing, .says = {"\"tok.bin\", which is not a weight entry"}});
  }
  EXPECT_TRUE(payload_of(linked_floats("x", 300, "w.0")).kept_link);
}

TEST_F(TargetWithSideFile, RefusesFileWithNameOfSideFile) {
  write_target();
  folder_.write_file("tok.bin", pattern(1200, 3));
  for (const FileLinks links : {FileLinks::allowed, FileLinks::refused}) {
    expect_error(error_of([&] { static_cast<void>(payload_of(linked_floats("x", 300, "tok.bin"), links)); }),
                 {.code = Code::usage_argument, .says = {"which is not a weight"}});
  }
}

// The edit may be there to replace the graph.
TEST_F(TargetWithSideFile, UnreadableGraphMayNameAnyEntry) {
  write_target({zip_entry("g.onnx", blob("\xff"))});
  EXPECT_TRUE(payload_of(linked_floats("x", 300, "tok.bin")).kept_link);
  EXPECT_EQ(code_of([&] { static_cast<void>(payload_of(linked_floats("x", 0, "g.onnx"))); }),
            Code::onnx_external_missing);
}

}  // namespace
}  // namespace onnxar::testing
