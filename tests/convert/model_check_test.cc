// What `check` finds in tensors and links: each fault and remark, with severity and place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "archive/several_graphs.h"
#include "base/sha1.h"
#include "convert/checking.h"
#include "support/samples.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A finding at one tensor, and the size of the entry or file that the tensor names.
struct Row {
  std::string_view name;
  Message tensor;
  Severity severity;
  Code code;
  std::size_t size = 1024;
};

TensorBuilder w_of(std::int64_t count, std::uint64_t type = dtype::float32) { return tensor("w", type, {count}); }

TEST_F(CheckTest, FaultsOfATensorAreAtItsPlace) {
  const Row rows[] = {
      {"shorter raw data", w_of(3).raw_data(pattern(11)), Severity::error, Code::onnx_tensor_length},
      {"longer raw data", w_of(3).raw_data(pattern(13)), Severity::warning, Code::onnx_tensor_long_raw},
      {"raw data of no elements", w_of(0).raw_data(pattern(4)), Severity::error, Code::onnx_tensor_length},
      {"no data", w_of(3), Severity::warning, Code::onnx_tensor_no_data},
      {"no strings", w_of(3, dtype::string), Severity::warning, Code::onnx_tensor_no_data},
      {"fewer values", w_of(3).float_data({1, 2}), Severity::error, Code::onnx_tensor_length},
      {"more values", w_of(2).float_data({1, 2, 3}), Severity::warning, Code::onnx_tensor_long_typed},
      {"two lists of values", w_of(3).float_data({1, 2, 3}).int32_data({1}), Severity::error,
       Code::onnx_tensor_data_beside},
      {"values and raw data", w_of(3).float_data({1, 2, 3}).raw_data(pattern(12)), Severity::error,
       Code::onnx_tensor_data_beside},
      {"values of another type", w_of(3).int32_data({1, 2, 3}), Severity::error, Code::onnx_tensor_wrong_field},
      {"raw strings", w_of(3, dtype::string).raw_data(pattern(3)), Severity::error, Code::onnx_tensor_wrong_field},
      {"no type", w_of(3, dtype::undefined).raw_data(pattern(3)), Severity::error, Code::onnx_tensor_no_type},
      {"a link to nothing", linked_floats("w", 256, "none"), Severity::error, Code::onnx_external_missing},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_finding(model_of({row.tensor}), row.tensor, row.severity, row.code);
    if (row.severity == Severity::warning) expect_finding_in_archive(row.tensor, {}, row.severity, row.code);
  }
  EXPECT_THAT(checked(model_of({w_of(3, 99).raw_data(pattern(13))})), IsEmpty()) << "the type is unknown";
  EXPECT_THAT(checked(model_of({tensor("none", dtype::float32, {3, 0})})), IsEmpty());
}

TEST_F(CheckTest, SaysWhyLinkIsNotFollowed) {
  const auto findings = checked(model_of({linked_floats("w", 256, "w.bin").data_location(0)}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, Code::onnx_tensor_no_data);
  EXPECT_NE(findings[0].message.find("link to \"w.bin\" counts only if data_location is EXTERNAL"), std::string::npos);
}

TEST_F(CheckTest, FaultsOfALinkToAFileAreAtItsTensor) {
  const Row rows[] = {
      {"raw data beside", linked_floats("w", 256, "w.bin").raw_data(pattern(1024, 9)), Severity::error,
       Code::onnx_external_data_beside},
      {"the same data beside", linked_floats("w", 256, "w.bin").raw_data(pattern(1024)), Severity::warning,
       Code::onnx_external_data_beside},
      {"small data", linked_floats("w", 1, "w.bin"), Severity::warning, Code::onnx_external_small, 4},
      {"an offset of 65", linked_floats("w", 256, "w.bin", 65), Severity::warning, Code::onnx_external_unaligned, 2048},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    folder_.write_file("w.bin", pattern(row.size));
    expect_finding(model_of({row.tensor}), row.tensor, row.severity, row.code);
  }
}

TEST_F(CheckTest, MessagesNameTheTensorAndItsSite) {
  const Message bad = tensor("w", dtype::float32, {3}).raw_data(pattern(11));
  const auto findings = checked(model({.graph = graph({.nodes = {constant("y", bad)}})}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message, HasSubstr("tensor \"w\" (graph.node[0].attr.value)"));
  EXPECT_THAT(findings[0].message, HasSubstr("11 bytes"));
}

TEST_F(CheckTest, ChecksEveryTensor) {
  const Message proto = model_of({linked_floats("a", 256, "none"), linked_floats("b", 256, "w"),
                                  linked_floats("c", 256, "none"), tensor("d", dtype::int8, {2}).raw_data(pattern(1))});
  EXPECT_THAT(
      ids_of(checked(archive_of(proto, {zip_entry("w", pattern(1024))}))),
      ElementsAre("error onnx.external_data.missing", "error onnx.external_data.missing", "error onnx.tensor.length"));
}

TEST_F(CheckTest, ReportsMissingDataFileOnce) {
  const Message proto = model_of({linked_floats("a", 256, "none"), linked_floats("b", 256, "other"),
                                  linked_floats("c", 256, "none"), linked_floats("d", 256, "none")});
  const auto findings = check(folder_.write_file("m.onnx", proto.view()));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].message, HasSubstr("tensor \"a\""));
  EXPECT_THAT(findings[0].message, EndsWith("; 3 tensors have their data in \"none\""));
  EXPECT_THAT(findings[1].message, HasSubstr("tensor \"b\""));
  EXPECT_THAT(findings[1].message, Not(HasSubstr("tensors have their data")));
}

TEST_F(CheckTest, RemarksAboutALinkAreAtItsTensor) {
  const Row rows[] = {
      {"an unknown key", linked_floats("w", 256, "w").external_data("prepacked_0", "x"), Severity::warning,
       Code::onnx_external_unknown_key},
      {"a small slice", linked_floats("w", 255, "w"), Severity::warning, Code::onnx_external_small, 1020},
      {"an offset of 32", linked_floats("w", 256, "w", 32), Severity::warning, Code::onnx_external_unaligned, 2048},
      {"an offset that leaves the entry, which is still used", linked_floats("w", 256, "w", 4), Severity::error,
       Code::onnx_external_out_of_range},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_finding_in_archive(row.tensor, {zip_entry("w", pattern(row.size))}, row.severity, row.code);
  }
}

TEST_F(CheckTest, WarnsOfDataThatIsNotAlignedToElements) {
  const auto message_of = [this](std::uint64_t offset) {
    const auto findings =
        checked(archive_of(model_of({linked_floats("w", 256, "w", offset)}), {zip_entry("w", pattern(2048))}));
    return findings.size() == 1 ? findings[0].message : "";
  };
  EXPECT_THAT(message_of(3), HasSubstr("nor of the size of its elements (4 bytes)"));
  EXPECT_THAT(message_of(62), HasSubstr("nor of the size of its elements (4 bytes)"));
  EXPECT_THAT(message_of(4), HasSubstr("does not begin at a multiple of 64 bytes"));
  EXPECT_THAT(message_of(4), Not(HasSubstr("elements")));
}

// This holds only in archives: elsewhere the name is that of a file.
TEST_F(CheckTest, KeyThatIsNotAnIdentifierIsAWarning) {
  expect_finding_in_archive(linked_floats("w", 256, "w.bin"), {zip_entry("w.bin", pattern(1024))}, Severity::warning,
                            Code::archive_key_not_identifier);
  folder_.write_file("w.bin", pattern(1024));
  EXPECT_THAT(checked(model_of({linked_floats("w", 256, "w.bin")})), IsEmpty()) << "a file name is not a key";
}

TEST_F(CheckTest, SharedDataIsANoteAtTheSecondTensor) {
  const Message second = linked_floats("second", 256, "w");
  const Built archive =
      archive_of(model_of({linked_floats("first", 256, "w"), second}), {zip_entry("w", pattern(1024))});
  const auto findings = checked(archive, strict);
  expect_only(findings, Severity::note, Code::archive_entry_shared, "__MODEL_PROTO", place_in(archive.bytes, second));
  EXPECT_THAT(findings.at(0).message, HasSubstr("tensor \"first\" (graph.initializer[0])"));
}

TEST_F(CheckTest, WarnsOfOverlapAtTheLaterSlice) {
  const Message a = linked_floats("a", 256, "w", 960), b = linked_floats("b", 256, "w"),
                all = linked_floats("all", 1024, "w"), c = linked_floats("c", 256, "w", 1024),
                d = linked_floats("d", 256, "w", 3072);
  const auto archive = [](const Messages& tensors) {
    return archive_of(model_of(tensors), {zip_entry("w", pattern(4096))});
  };
  const std::string overlap = "warning archive.entry.overlapping_links";
  EXPECT_THAT(checked(archive({b, c, d})), IsEmpty());
  EXPECT_THAT(ids_of(checked(archive({b, a}))), ElementsAre(overlap));
  EXPECT_THAT(ids_of(checked(archive({all, c, d}))), ElementsAre(overlap, overlap));
  const auto findings = checked(archive({a, b}));
  expect_only(findings, Severity::warning, Code::archive_entry_overlapping_links, "__MODEL_PROTO",
              place_in(archive({a, b}).bytes, a));
  EXPECT_THAT(findings.at(0).message, HasSubstr("\"b\""));
}

TEST_F(CheckTest, WarnsOfUnusedEntryThatIsNotASideFile) {
  const Built archive = archive_of(
      model_of({linked_floats("w", 256, "w")}),
      {zip_entry("old", pattern(5)), zip_entry("w", pattern(1024)), zip_entry("README.md", blob("read me"))});
  expect_only(checked(archive), Severity::warning, Code::archive_entry_unused, "old",
              archive.entry("old").header_offset);
}

TEST_F(CheckTest, ExternalDataOfAPlainModelIsFollowed) {
  const Message tensor = linked_floats("w", 256, "w.bin");
  const Message proto = model_of({tensor});
  folder_.write_file("w.bin", pattern(1024));
  EXPECT_THAT(checked(proto), IsEmpty());
  folder_.write_file("w.bin", pattern(1023));
  expect_finding(proto, tensor, Severity::error, Code::onnx_external_out_of_range);
  std::filesystem::create_directory(folder_ / "other");
  EXPECT_THAT(ids_of(checked(proto.view(), {.load = {.external_data_dir = folder_ / "other"}})),
              ElementsAre("error onnx.external_data.missing"));
  std::filesystem::create_directory(folder_ / "sub");
  const Message to_folder = linked_floats("w", 256, "sub");
  expect_finding(model_of({to_folder}), to_folder, Severity::error, Code::onnx_external_missing);
}

TEST_F(CheckTest, LinksOutOfTheFolderAreErrors) {
  ONNXAR_NEEDS_SYMLINKS();
  folder_.write_file("secret", pattern(1024));
  folder_.write_file("model/m.onnx", model_of({linked_floats("a", 256, "../secret"), linked_floats("b", 256, "link"),
                                               linked_floats("c", 256, "/etc/passwd")})
                                         .view());
  make_symlink("../secret", folder_ / "model/link");
  EXPECT_THAT(ids_of(check(folder_ / "model/m.onnx")),
              ElementsAre("error onnx.external_data.bad_location", "error onnx.external_data.outside",
                          "error onnx.external_data.bad_location"));
}

TEST_F(GraphsTest, ChecksumsOfAGraphAreComparedAndReported) {
  const auto found_with = [this](const std::string& checksum) {
    const Message graph = model_of({linked_floats("w", graph_weight, "w").external_data("checksum", checksum)});
    const Built built = with_w(model_of({named_weight("w")}), {zip_entry("b.onnx", graph.view())});
    const std::filesystem::path path = folder_.write_file("sums", built.bytes);
    std::vector<std::pair<Severity, std::string>> found;
    for (const Finding& finding : check(path, {.data = true})) {
      if (finding.code == Code::onnx_external_checksum) found.emplace_back(finding.severity, finding.place.entry);
    }
    return found;
  };
  base::Sha1 sum;
  sum.update(pattern(4 * graph_weight, 1));
  EXPECT_THAT(found_with(std::move(sum).hex()), IsEmpty());
  EXPECT_THAT(found_with(std::string(40, 'a')), ElementsAre(std::pair(Severity::error, "b.onnx")));
  EXPECT_THAT(found_with("sha1"), ElementsAre(std::pair(Severity::warning, "b.onnx")));
}

}  // namespace
}  // namespace onnxar::testing
