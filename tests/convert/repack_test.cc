// Making archives of zip files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/repacking.h"
#include "onnxar/convert.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(RepackTest, AZipBecomesTheArchiveOfItsEntries) {
  EXPECT_EQ(repacked(plain_zip_of_three().build()), archive_of_three());
  EXPECT_THAT(remarks(), ElementsAre(HasSubstr("a zip with the entries of an archive")));
}

TEST_F(RepackTest, DeflatedAndStreamedEntriesAreStored) {
  const ZipBuilder builder = zip_file_of({plain_entry(streamed_entry("a", pattern(100, 1))),
                                          plain_entry(deflated_entry(model_entry, blob("model"))),
                                          plain_entry(deflated_entry("b", pattern(2 * mebibyte, 2)))});
  EXPECT_EQ(repacked(builder.build()), archive_of_three());
}

TEST_F(RepackTest, TheOrderOfTheFileIsKept) {
  ZipBuilder builder =
      zip_file_of({plain_entry(zip_entry("a", pattern(100, 1))), plain_entry(zip_entry("b", pattern(2 * mebibyte, 2))),
                   plain_entry(zip_entry(model_entry, blob("model")))});
  builder.directory_order = {{2, 1, 0}};
  EXPECT_EQ(repacked(builder.build()), archive_of_three());
}

TEST_F(RepackTest, DropsHolesCommentsAndFolders) {
  ZipBuilder builder = zip_file_of(
      {plain_entry(zip_entry("dir/", {})), plain_entry(zip_entry("a", pattern(100, 1))),
       plain_entry(zip_entry("dir/sub/", {})), plain_entry(zip_entry("gone", blob("unlisted"))),
       plain_entry(zip_entry("b", pattern(2 * mebibyte, 2))), plain_entry(zip_entry(model_entry, blob("model")))});
  builder.entry("gone").listed = false;
  builder.entry("b").gap_before = Blob(77);
  builder.entry("b").central.comment = "comment";
  builder.prefix = blob("#!/bin/sh\n");
  builder.comment = "made by hand";
  EXPECT_EQ(repacked(builder.build()), archive_of_three());
  EXPECT_EQ(remarks().size(), 1U);
}

TEST_F(RepackTest, ReportsOmittedMetadataOfMacOs) {
  const ZipBuilder builder = zip_file_of(
      {plain_entry(zip_entry("a", pattern(100, 1))), plain_entry(zip_entry("__MACOSX/", {})),
       plain_entry(zip_entry("__MACOSX/._a", blob("finder"))), plain_entry(zip_entry("b", pattern(2 * mebibyte, 2))),
       plain_entry(zip_entry(model_entry, blob("model")))});
  EXPECT_EQ(repacked(builder.build()), archive_of_three());
  EXPECT_THAT(remarks(), ElementsAre(HasSubstr("read as"), HasSubstr("left out: 1 ")));
}

/// Archives of our writer, as a builder that shares nothing with it lays them out.
std::vector<Blob> archives() {
  std::vector<Blob> all = {smallest_archive().bytes, archive_of_three(),
                           zip_file_of({zip_entry(model_entry, blob("alone"))}).build(),
                           zip_file_of({zip_entry("a b.txt", blob("x")), zip_entry("empty", {}),
                                        zip_entry("dir/file", pattern(5000)), zip_entry(model_entry, {})})
                               .build()};
  for (const std::size_t alignment : {128U, 4096U, 32768U}) {
    ZipBuilder builder = smallest_builder(pattern(mebibyte));
    builder.alignment = alignment;
    builder.entries.insert(builder.entries.begin(), zip_entry("small", pattern(10)));
    all.push_back(builder.build());
  }
  return all;
}

TEST_F(RepackTest, AnArchiveWithoutUnusedBytesIsReproduced) {
  for (const Blob& archive : archives()) {
    EXPECT_TRUE(repacked(archive) == archive);
    EXPECT_THAT(remarks(), IsEmpty());
  }
}

TEST_F(RepackTest, RepackingTwiceEqualsOnce) {
  const ZipBuilder zip =
      zip_file_of({plain_entry(deflated_entry("z", pattern(100))), plain_entry(zip_entry("m.onnx", blob("model")))});
  for (const Blob& bytes : {zip.build(), append_edit(smallest_archive(), smallest_model(256, "edited")).bytes}) {
    const Blob once = repacked(bytes);
    EXPECT_TRUE(repacked(once) == once);
    EXPECT_THAT(remarks(), IsEmpty());
  }
}

TEST_F(RepackTest, DropsSupersededStatesOfAnEditedArchive) {
  const Built edited = append_edit(append_edit(smallest_archive(), smallest_model(256, "once")),
                                   smallest_model(256, "twice"), {zip_entry("b", pattern(10))});
  ZipBuilder fresh = smallest_builder();
  fresh.entry(model_entry).data = smallest_model(256, "twice");
  fresh.entries.insert(fresh.entries.begin() + 1, zip_entry("b", pattern(10)));
  EXPECT_EQ(repacked(edited.bytes), fresh.build());
  EXPECT_THAT(remarks(), IsEmpty());  // it is an archive
}

TEST_F(RepackTest, SupersededModelMayContainAnEndRecord) {
  const std::string producer = "PK\5\6" + std::string(18, 'x');
  Built edited = append_edit(append_edit(smallest_archive(), smallest_model(256, producer)), smallest_model());
  const Blob needle = blob("PK\5\6x");
  const auto found = std::ranges::search(edited.bytes, needle);
  const auto at = static_cast<std::size_t>(found.begin() - edited.bytes.begin());
  put_u16(edited.bytes, at + 20, static_cast<std::uint16_t>(edited.bytes.size() - at - 22));
  EXPECT_EQ(repacked(edited.bytes), smallest_archive().bytes);
  EXPECT_THAT(remarks(), IsEmpty());
}

TEST_F(RepackTest, AnAlignmentCanBeAskedFor) {
  RepackOptions options = quick();
  for (const std::uint64_t alignment : {64U, 4096U, 32768U}) {
    options.alignment = alignment;
    ZipBuilder expected = smallest_builder(pattern(mebibyte));
    expected.alignment = alignment;
    for (const std::size_t before : {64U, 8192U}) {
      ZipBuilder builder = smallest_builder(pattern(mebibyte));
      builder.alignment = before;
      EXPECT_TRUE(repacked(builder.build(), options) == expected.build());
    }
  }
}

TEST_F(RepackTest, RecordedAlignmentsAreKeptEntryByEntry) {
  ZipBuilder builder = zip_file_of(
      {zip_entry("page", pattern(10)), zip_entry("few", pattern(10)), zip_entry(model_entry, blob("model"))});
  builder.entry("page").alignment = 4096;
  const Blob expected = builder.build();
  builder.entries.insert(builder.entries.begin() + 1, plain_entry(zip_entry("gone", pattern(33))));
  builder.entry("gone").listed = false;
  EXPECT_EQ(repacked(builder.build()), expected);
}

TEST_F(RepackTest, AnAlignmentThatCannotBeIsRefused) {
  RepackOptions options = quick();
  for (const std::uint64_t alignment : {0U, 1U, 32U, 96U, 65536U}) {
    options.alignment = alignment;
    const std::filesystem::path path = input(smallest_archive().bytes);
    EXPECT_EQ(code_of([&] { return repack(path, folder_ / "out", options); }), Code::usage_argument);
  }
}

// --- which entry is the model --------------------------------------------------------------------

TEST_F(RepackTest, OtherNamesOfTheModelAreTaken) {
  for (const std::string name : {"__MODEL_PROTO.onnx", "model.onnx", "MODEL.ONNX"}) {
    EXPECT_EQ(repacked(plain_zip_of_three(name).build()), archive_of_three()) << name;
    EXPECT_THAT(remarks(), ElementsAre(HasSubstr(name.starts_with("__") ? "tf2onnx" : "a zip of a .onnx file")));
  }
}

/// A model of one tensor, whose data is the entry `location`.
Blob model_linking_to(std::string_view location) {
  const Message linked = tensor("w", dtype::float32, {25}).external(location, 0, 100);
  return model({.graph = graph({.initializers = {linked}})}).take();
}

TEST_F(RepackTest, AModelBesideModelProtoIsAGraph) {
  const ZipBuilder builder =
      zip_file_of({zip_entry("other.onnx", model_of({floats("v", 4)}).take()), zip_entry(model_entry, blob("model"))});
  EXPECT_EQ(repacked(builder.build()), builder.build());
  ZipBuilder unaligned = builder;
  for (ZipEntry& entry : unaligned.entries) entry = plain_entry(entry);
  EXPECT_EQ(repacked(unaligned.build()), builder.build());
}

TEST_F(RepackTest, RefusesNewBrokenGraphUnlessInputIsArchive) {
  const auto expect = [this](const Blob& graph, Code code, const std::string& advice) {
    const ZipEntry stored = zip_entry("g.onnx", graph), model = zip_entry(model_entry, blob("model"));
    EXPECT_NO_THROW(repacked(zip_file_of({stored, model}).build())) << "`check` says what is wrong with it";
    std::filesystem::remove(folder_ / "out");
    for (const ZipEntry& entry : {stored, deflated_entry("g.onnx", graph)}) {
      const Built built = zip_file_of({plain_entry(entry), model}).build_placed();
      const ErrorContext refusal{code, "g.onnx", built.entry("g.onnx").central_offset};
      EXPECT_THAT(expect_refused(built.bytes, refusal), HasSubstr(advice));
      RepackOptions options = quick();
      options.output.dry_run = true;
      expect_refused(built.bytes, refusal, options);
    }
  };
  expect(blob("side"), Code::wire_type, "RepackOptions::rename from g.onnx to \"g.onnx.bin\" makes a side file of it");
  expect(model_linking_to("no_such_entry"), Code::onnx_external_missing, "`pack` makes an archive of it");
}

TEST_F(RepackTest, RefusesStoredBrokenGraphBeforeWriting) {
  const ZipBuilder builder = zip_file_of({plain_entry(zip_entry("g.onnx", blob("side"))),
                                          plain_entry(zip_entry("w", pattern(mebibyte))), zip_entry(model_entry, {})});
  RepackOptions options = quick();
  bool told = false;
  options.progress = [&told](std::uint64_t, std::uint64_t) { told = true; };
  EXPECT_EQ(code_of([&] { repack(input(builder.build()), folder_ / "out", options); }), Code::wire_type);
  EXPECT_FALSE(told);
}

TEST_F(RepackTest, DamagedFileIsNotReportedAsABrokenGraph) {
  for (const ZipEntry& entry : {zip_entry("g.onnx", blob("side")), deflated_entry("g.onnx", blob("side"))}) {
    ZipBuilder builder = zip_file_of({plain_entry(entry), zip_entry(model_entry, {})});
    builder.entry("g.onnx").in_both([](auto& header) { header.crc = 1; });
    RepackOptions options = quick();
    for (const bool dry_run : {false, true}) {
      options.output.dry_run = dry_run;
      EXPECT_EQ(code_of([&] { repack(input(builder.build()), folder_ / "out", options); }), Code::zip_data_crc);
    }
  }
}

// A command with such a name could not be typed as it is printed: spaces, quotes, and the `=` of --rename.
TEST_F(RepackTest, AdviceOnUnusualNamesUsesAPlaceholder) {
  for (const std::string name : {"a b.onnx", "a=b.onnx", "it's.onnx"}) {
    const ZipBuilder builder = zip_file_of({plain_entry(zip_entry(name, blob("side"))), zip_entry(model_entry, {})});
    const auto error = error_if_any([&] { repack(input(builder.build()), folder_ / "out", quick()); });
    ASSERT_TRUE(error);
    EXPECT_THAT(to_string(error->advice()), HasSubstr("from NAME.onnx to \"NAME.onnx.bin\"")) << name;
  }
}

TEST_F(RepackTest, KeepsOtherFileUnderAnotherName) {
  RepackOptions options = quick();
  options.rename = {{"g.onnx", "g.onnx.bin"}};
  const ZipEntry file = plain_entry(zip_entry("g.onnx", blob("side")));
  const Blob made = repacked(zip_file_of({file, zip_entry(model_entry, smallest_model())}).build(), options);
  const Archive archive = Archive::open(made, nullptr);
  EXPECT_TRUE(archive.find("g.onnx.bin"));
}

TEST_F(RepackTest, AZipWithoutAModelIsRefused) {
  const Built built =
      zip_file_of({plain_entry(zip_entry("a", blob("x"))), plain_entry(zip_entry("dir/m.onnx", blob("x")))})
          .build_placed();
  expect_refused(built.bytes, {Code::archive_model_missing, "", built.directory_offset});
}

TEST_F(RepackTest, TwoModelsAreRefused) {
  const auto two = [this](const std::string& first, const std::string& second) {
    const Built built =
        zip_file_of({plain_entry(zip_entry(first, blob("x"))), plain_entry(zip_entry(second, blob("x")))})
            .build_placed();
    EXPECT_THAT(expect_refused(built.bytes, {Code::archive_model_missing, second, built.entry(second).central_offset}),
                HasSubstr(first));
  };
  two("m.onnx", "n.onnx");
  two("__MODEL_PROTO", "__MODEL_PROTO.onnx");
}

TEST_F(RepackTest, AModelInAFolderIsLeftToPack) {
  for (const std::string name : {"top/model.onnx", "top/__MODEL_PROTO", "top/__MODEL_PROTO.onnx"}) {
    const Built built = zip_file_of({plain_entry(zip_entry("top/", {})), plain_entry(zip_entry("top/a", blob("x"))),
                                     plain_entry(zip_entry(name, blob("x")))})
                            .build_placed();
    EXPECT_THAT(expect_refused(built.bytes, {Code::archive_model_missing, name, built.entry(name).central_offset}),
                HasSubstr("`pack` makes an archive of it"));
  }
}

/// A model as PyTorch wrote it: `raw_data` says where the bytes are.
Blob model_of_pytorch(std::size_t before = 0) {
  return model({.producer_name = std::string(before, 'p'),
                .graph = graph({.initializers = {tensor("a", dtype::uint8, {100}).raw_data(blob("__EXTERNAL"))}})})
      .take();
}

TEST_F(RepackTest, APyTorchArchiveIsLeftToPack) {
  for (const bool deflated : {false, true}) {
    for (const std::size_t before : {0U, 262120U, 262130U, 300000U}) {  // about where a piece of inflated data ends
      const Blob proto = model_of_pytorch(before);
      const ZipEntry entry = deflated ? deflated_entry(model_entry, proto) : zip_entry(model_entry, proto);
      const Built built = zip_file_of({plain_entry(entry), plain_entry(zip_entry("a", pattern(100)))}).build_placed();
      EXPECT_THAT(expect_refused(built.bytes, {Code::archive_model_missing, std::string(model_entry),
                                               built.entry(model_entry).central_offset}),
                  HasSubstr("`pack` makes an archive of it"));
    }
  }
}

TEST_F(RepackTest, AnArchivesModelMayHoldAnything) {
  const ZipBuilder builder = zip_file_of({zip_entry("a", pattern(100)), zip_entry(model_entry, model_of_pytorch())});
  EXPECT_EQ(repacked(builder.build()), builder.build());
}

TEST_F(RepackTest, RefusesGraphNameOfModelUnlessInputIsArchive) {
  const Blob named = model({.graph = graph({}), .metadata = {string_entry("onnxar.model.name", "g")}}).take();
  ZipBuilder builder =
      zip_file_of({zip_entry("g.onnx", model_of({floats("v", 4)}).take()), zip_entry(model_entry, named)});
  EXPECT_EQ(repacked(builder.build()), builder.build()) << "`check` says what is wrong with it";
  std::filesystem::remove(folder_ / "out");
  for (ZipEntry& entry : builder.entries) entry = plain_entry(entry);
  const Built foreign = builder.build_placed();
  expect_refused(foreign.bytes,
                 {Code::archive_graph_name, std::string(model_entry), foreign.entry(model_entry).central_offset});
  builder.entries[0].name = "other.onnx";
  EXPECT_NO_THROW(repacked(builder.build()));
  builder.entries[1].data.push_back(std::byte{0xff});
  EXPECT_NO_THROW(repacked(builder.build())) << "a model that cannot be read";
}

TEST_F(RepackTest, NamesThatTheFormatReservesAreRefused) {
  for (const std::string name : {"__OTHER", "__MODEL_PROTO2", "__model_proto", "__MODEL_PROTO/x"}) {
    const Built built =
        zip_file_of({plain_entry(zip_entry(name, blob("x"))), plain_entry(zip_entry("m.onnx", blob("x")))})
            .build_placed();
    expect_refused(built.bytes, {Code::archive_name_reserved, name, built.entry(name).central_offset});
  }
}

// Entries that the model links to, among those that repacking renames or leaves out.

Blob zip_with(std::string_view model_name, std::string_view location) {
  return zip_file_of({plain_entry(zip_entry(model_name, model_linking_to(location))),
                      plain_entry(zip_entry("w", pattern(100))), plain_entry(zip_entry("one.txt", pattern(10))),
                      plain_entry(zip_entry("two.txt", pattern(20))),
                      plain_entry(zip_entry("__MACOSX/._w", pattern(100)))})
      .build();
}

TEST_F(RepackTest, RenamesSeveralEntriesWithOneReadOfTheLinks) {
  for (const std::string_view name : {std::string_view("__MODEL_PROTO"), std::string_view("model.onnx")}) {
    RepackOptions options = quick();
    options.rename = {{"one.txt", "first.txt"}, {"two.txt", "second.txt"}};
    const Blob made = repacked(zip_with(name, "w"), options);
    const Archive archive = Archive::open(made, nullptr);
    EXPECT_TRUE(archive.find("first.txt") && archive.find("second.txt"));
    EXPECT_FALSE(archive.find("one.txt") || archive.find("two.txt"));
  }
}

TEST_F(RepackTest, AnEntryThatTheModelLinksToIsNotLeftOut) {
  const Blob zip = zip_with("model.onnx", "__MACOSX/._w");
  expect_error(error_if_any([&] { return repack(input(zip), folder_ / "out", quick()); }),
               {.code = Code::archive_name_reserved, .entry = "__MACOSX/._w"});
}

}  // namespace

}  // namespace onnxar::testing
