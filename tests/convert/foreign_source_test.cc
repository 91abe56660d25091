// Models in foreign zip files and folders become archives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "convert/foreign.h"
#include "onnxar/archive.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- PyTorch -------------------------------------------------------------------------------------

const Message& before_pytorch() {
  static const Message model = model_of({floats("conv.weight", 300, 1), floats("2", 400, 2), floats("small", 3, 3)});
  return model;
}
Files pytorch_files() {
  return {{"__MODEL_PROTO", model_of({stand_in("conv.weight", 300), stand_in("2", 400), floats("small", 3, 3)}).take()},
          {"conv.weight", data_of(300, 1)},
          {"2", data_of(400, 2)}};
}

TEST_F(ForeignTest, PyTorchsArchiveIsReadInEveryStorage) {
  for (const Storage storage : {Storage::stored, Storage::deflated, Storage::streamed}) {
    EXPECT_EQ(inlined(zip_of(pytorch_files(), storage).bytes), before_pytorch().view());
    EXPECT_THAT(names_, ElementsAre("conv_weight", "_2", "__MODEL_PROTO"));
    expect_note("PyTorch");
    EXPECT_EQ(report_.remarks.size(), 1U);
  }
}

TEST_F(ForeignTest, PyTorchsFolderIsRead) {
  for (const auto& [name, data] : pytorch_files()) folder_.write_file("export/" + name, data);
  EXPECT_EQ(inlined(folder_ / "export"), before_pytorch().view());
  expect_note("folder");
  folder_.write_file("export/conv.weight", data_of(299, 1));
  expect_error(error_of([&] { pack(folder_ / "export", folder_ / "x", saved_as(Format::archive), foreign()); }),
               {.code = Code::onnx_tensor_length, .path = folder_ / "export/__MODEL_PROTO"});
}

TEST_F(ForeignTest, FolderOfAnotherKindIsNotAModel) {
  folder_.write_file("export/model.onnx", before_pytorch().view());
  EXPECT_EQ(
      error_of([&] { unpack(folder_ / "export", folder_ / "x", saved_as(Format::onnx_inline), foreign()); }).code(),
      Code::io_not_a_file);
}

TEST_F(ForeignTest, FolderIsNotAModelUnlessRequested) {
  for (const auto& [name, data] : pytorch_files()) folder_.write_file("export/" + name, data);
  EXPECT_EQ(error_of([&] { pack(folder_ / "export", folder_ / "x", saved_as(Format::archive)); }).code(),
            Code::io_not_a_file);
}

TEST_F(ForeignTest, TensorsWithoutTheirEntryAreRefused) {
  Files files = pytorch_files();
  files.pop_back();
  expect_error(
      refusal(zip_of(files).bytes),
      {.code = Code::onnx_external_missing, .entry = "__MODEL_PROTO", .says = {"tensor \"2\" (graph.initializer[1])"}});
}

TEST_F(ForeignTest, EntriesOfAnotherSizeThanTheirTensorAreRefused) {
  for (const std::size_t count : {399U, 401U}) {
    Files files = pytorch_files();
    files.back().second = data_of(count, 2);
    expect_error(refusal(zip_of(files).bytes), {.code = Code::onnx_tensor_length, .entry = "__MODEL_PROTO"});
  }
}

TEST_F(ForeignTest, TenBytesThatAreTheStandInsTextAreData) {
  const TensorBuilder ten = tensor("ten", dtype::uint8, {10}).raw_data(blob("__EXTERNAL"));
  const Message before = model_of({ten, floats("w", 300, 1)});
  const Files files = {{"__MODEL_PROTO", model_of({ten, stand_in("w", 300)}).take()}, {"w", data_of(300, 1)}};
  EXPECT_EQ(inlined(zip_of(files).bytes), before.view());
  Files with_entry = files;
  with_entry.emplace_back("ten", blob("0123456789"));
  EXPECT_EQ(inlined(zip_of(with_entry).bytes),
            model_of({tensor("ten", dtype::uint8, {10}).raw_data(blob("0123456789")), floats("w", 300, 1)}).view());
}

TEST_F(ForeignTest, StandInsOfAnArchiveAreData) {
  const Built archive = archive_of(model_of({tensor("ten", dtype::uint8, {10}).raw_data(blob("__EXTERNAL"))}));
  EXPECT_EQ(inlined(archive.bytes), archive.data_of(model_entry));
  EXPECT_THAT(report_.remarks, IsEmpty());
}

// --- tf2onnx, and models with files --------------------------------------------------------------

TEST_F(ForeignTest, Tf2onnxsArchiveIsRead) {
  for (const Storage storage : {Storage::stored, Storage::deflated, Storage::streamed}) {
    EXPECT_EQ(inlined(zip_of(tf2onnx_files(), storage).bytes), before_tf2onnx().view());
    EXPECT_THAT(names_, ElementsAre("conv_kernel", "v", "__MODEL_PROTO"));
    expect_note("tf2onnx");
  }
}

TEST_F(ForeignTest, AZipOfAModelAndItsFilesIsRead) {
  for (const std::string folder : {"", "top/"}) {
    for (const Storage storage : {Storage::stored, Storage::deflated}) {
      EXPECT_EQ(inlined(zip_of(model_and_files(folder), storage).bytes), before_tf2onnx().view());
      EXPECT_THAT(names_, ElementsAre("conv_kernel", "v", "tokenizer.json", "__MODEL_PROTO"));
      expect_note("a zip of a .onnx file");
      EXPECT_EQ(report_.remarks.size(), 1U);
    }
  }
}

/// A deflated entry is zeros until it is inflated, so data of zeros must not look equal to it.
TEST_F(ForeignTest, DeflatedDataOfSeveralZipsIsNotTakenForZeros) {
  const auto zip = [this](const std::string& name, const Blob& data) {
    return folder_.write_file(
        name,
        zip_of({{"m.onnx", model_of({linked_floats("w", 300, "w.bin")}).take()}, {"w.bin", data}}, Storage::deflated)
            .bytes);
  };
  const auto pack_both = [&](const Blob& first, const Blob& second) {
    const std::vector<ModelFile> models = {{zip("a.zip", first), "a"}, {zip("b.zip", second), "b"}};
    return pack(models, folder_ / "out", saved_as(Format::archive, over_existing), foreign());
  };
  EXPECT_EQ(pack_both(data_of(300, 1), zeros(1200)).payloads, 2U);
  const Archive archive = Archive::open(folder_ / "out");
  EXPECT_TRUE(std::ranges::equal(archive.bytes(archive.entry(0)), data_of(300, 1)));
  EXPECT_TRUE(std::ranges::equal(archive.bytes(archive.entry(1)), zeros(1200)));
  EXPECT_EQ(pack_both(data_of(300, 1), data_of(300, 1)).payloads, 1U);
  EXPECT_EQ(pack_both(zeros(1200), data_of(300, 1)).payloads, 2U);
}

/// F36: what macOS' Finder added is left out, unless the model names it.
TEST_F(ForeignTest, ATensorsDataMayBeInTheFindersFolder) {
  const Files files = {{"m.onnx", model_of({linked_floats("a", 300, "__MACOSX/w")}).take()},
                       {"__MACOSX/w", data_of(300, 1)}};
  for (const Storage storage : {Storage::stored, Storage::deflated}) {
    EXPECT_EQ(inlined(zip_of(files, storage).bytes), model_of({floats("a", 300, 1)}).view());
  }
}

TEST_F(ForeignTest, TensorsThatShareASliceShareAnEntry) {
  for (const Storage storage : {Storage::stored, Storage::deflated}) {
    const Files files = {{"m.onnx", model_of({linked_floats("a", 300, "w"), linked_floats("b", 300, "w")}).take()},
                         {"w", data_of(300, 1)}};
    inlined(zip_of(files, storage).bytes);
    EXPECT_THAT(names_, ElementsAre("a", "__MODEL_PROTO"));
  }
}

TEST_F(ForeignTest, AModelWithItsDataInsideIsRead) {
  EXPECT_EQ(inlined(zip_of({{"m.onnx", before_tf2onnx().view()}}, Storage::deflated).bytes), before_tf2onnx().view());
}

TEST_F(ForeignTest, OmitsAndReportsFilesThatCouldBeTensors) {
  Files files = tf2onnx_files();
  files.emplace_back("AUTHOR", blob("text"));
  files.emplace_back("__MACOSX/._v_1", blob("finder"));
  EXPECT_EQ(inlined(zip_of(files).bytes), before_tf2onnx().view());
  EXPECT_THAT(names_, ElementsAre("conv_kernel", "v", "__MODEL_PROTO"));
  EXPECT_THAT(ids_of(report_.remarks), ElementsAre("note zip.foreign", "warning archive.entry.unused"));
  EXPECT_EQ(report_.remarks[1].place.entry, "AUTHOR");
}

TEST_F(ForeignTest, AnArchiveThatAZipToolChangedIsRead) {
  ZipBuilder builder = smallest_builder();
  for (ZipEntry& entry : builder.entries) entry = plain_entry(entry);
  std::swap(builder.entries[0], builder.entries[1]);
  inlined(builder.build());
  EXPECT_THAT(names_, ElementsAre("w", "__MODEL_PROTO"));
  expect_note("a zip with the entries of an archive");
}

TEST_F(ForeignTest, ALocalHeaderThatNoArchiveHasMakesItAPlainZip) {
  // zipalign pads with zeros without an id. So all offsets are those of an archive.
  ZipBuilder builder = smallest_builder();
  builder.entry("w").local.extra = zeros(33);
  const Built built = builder.build_placed();
  ASSERT_NO_THROW(Archive::open(built.bytes, nullptr));
  inlined(built.bytes);
  expect_note("a zip with the entries of an archive");
}

TEST_F(ForeignTest, AnArchiveIsReadAsOne) {
  inlined(smallest_archive().bytes);
  EXPECT_THAT(report_.remarks, IsEmpty());
}

TEST_F(ForeignTest, OtherZipsAreRefusedUnlessAskedFor) {
  const auto hint_for = [this](const Files& files) {
    const Error error = refusal(zip_of(files).bytes, LoadOptions());
    EXPECT_EQ(error.code(), Code::zip_padding_alignment) << error.what();
    return error.advice().hint;
  };
  EXPECT_EQ(hint_for(pytorch_files()), Hint::pack_it);  // `repack` refuses it
  EXPECT_EQ(hint_for(tf2onnx_files()), Hint::repack_plain_zip);
  EXPECT_EQ(hint_for(model_and_files()), Hint::repack_plain_zip);
}

// --- bad input -----------------------------------------------------------------------------------

TEST_F(ForeignTest, LinksLeadToPartsOfEntriesOnly) {
  folder_.write_file("beside", data_of(300, 1));
  const std::pair<Message, Code> links[] = {{linked_floats("a", 300, "beside"), Code::onnx_external_missing},
                                            {linked_floats("a", 300, "w/"), Code::onnx_external_missing},
                                            {linked_floats("a", 300, "W"), Code::onnx_external_missing},
                                            {linked_floats("a", 300, "dir"), Code::onnx_external_missing},
                                            {linked_floats("a", 300, "../w"), Code::onnx_external_bad_location},
                                            {linked_floats("a", 300, "/w"), Code::onnx_external_bad_location},
                                            {linked_floats("a", 300, "dir/../w"), Code::onnx_external_bad_location},
                                            {linked_floats("a", 300, "w", 4), Code::onnx_external_out_of_range}};
  for (const auto& [tensor, code] : links) {
    SCOPED_TRACE(escaped(as_text(tensor.view())));
    const Built built = zip_of({{"m.onnx", model_of({tensor}).take()}, {"w", data_of(300, 1)}, {"dir/", {}}});
    expect_error(refusal(built.bytes), {.code = code, .entry = "m.onnx", .offset = place_in(built.bytes, tensor)});
  }
}

TEST_F(ForeignTest, LinksOfAModelInAFolderStayInIt) {
  const Built built =
      zip_of({{"top/m.onnx", model_of({linked_floats("a", 300, "top/w")}).take()}, {"top/w", data_of(300, 1)}});
  EXPECT_EQ(refusal(built.bytes).code(), Code::onnx_external_missing);
}

TEST_F(ForeignTest, OfADeflatedModelTheEntryIsNamed) {
  const Error error =
      refusal(zip_of({{"m.onnx", model_of({linked_floats("a", 300, "w")}).take()}}, Storage::deflated).bytes);
  EXPECT_EQ(error.code(), Code::onnx_external_missing);
  EXPECT_EQ(error.entry(), "m.onnx");
  EXPECT_EQ(error.offset(), std::nullopt);
}

TEST_F(ForeignTest, DamagedDataIsNeverPublished) {
  for (const Files& files : {pytorch_files(), tf2onnx_files(), model_and_files()}) {
    for (const Storage storage : {Storage::stored, Storage::deflated}) {
      for (const auto& [name, data] : files) {
        Built built = zip_of(files, storage);
        const std::size_t header = storage == Storage::deflated ? 5 : 0;  // of deflate's block
        flip_bit(built.bytes, built.entry(name).data_offset + header + data.size() / 2);
        expect_error(refusal(built.bytes),
                     {.code = Code::zip_data_crc, .entry = name, .offset = built.entry(name).data_offset});
      }
    }
  }
}

TEST_F(ForeignTest, AModelThatCannotBeParsedIsRefusedInItsEntry) {
  const Error plain = refusal(zip_of({{"m.onnx", blob("\x3a\x7f")}}).bytes);
  EXPECT_EQ(kind(plain.code()), Kind::format);
  EXPECT_EQ(plain.entry(), "m.onnx");
  Files files = pytorch_files();
  files[0].second.resize(files[0].second.size() - 3);
  const Error pytorch = refusal(zip_of(files).bytes);
  EXPECT_EQ(id(pytorch.code()).substr(0, 5), "wire.") << pytorch.what();
  EXPECT_EQ(pytorch.entry(), "__MODEL_PROTO");
}

TEST_F(ForeignTest, ReportsFaultsOfTheZipAtTheZip) {
  ZipBuilder builder;
  for (const auto& [name, data] : tf2onnx_files()) builder.entries.push_back(stored_as(Storage::stored, name, data));
  builder.entry("v_1").in_both([](HeaderFields& header) { header.flags = std::uint16_t{1}; });
  const Built built = builder.build_placed();
  expect_error(refusal(built.bytes),
               {.code = Code::zip_entry_encrypted, .entry = "v_1", .offset = built.entry("v_1").central_offset});
}

TEST_F(ForeignTest, AZipWithoutAModelIsRefused) {
  const Built built = zip_of({{"a.txt", blob("x")}, {"b.txt", blob("y")}});
  expect_error(refusal(built.bytes), {.code = Code::archive_model_missing, .offset = built.directory_offset});
}

TEST_F(ForeignTest, ACutZipIsRefusedAtEveryByte) {
  const Files files = {{"m.onnx", model_of({linked_floats("a", 2, "w")}).take()}, {"w", data_of(2, 1)}};
  const Built built = zip_of(files, Storage::deflated);
  for (std::size_t size = 4; size < built.bytes.size(); ++size) {  // shorter files do not begin as a zip
    Blob cut = built.bytes;
    truncate(cut, size);
    const Error error = refusal(cut);
    EXPECT_EQ(kind(error.code()), Kind::format) << size;
  }
}

// One list defines which zips count as foreign. `repack` uses it as well.
TEST_F(ForeignTest, WhatOnlyTheRulesOfAnArchiveForbidIsRead) {
  const auto read = [this](const auto& change) {
    ZipBuilder builder = smallest_builder();
    change(builder);
    inlined(builder.build());
    EXPECT_THAT(names_, ElementsAre("w", "__MODEL_PROTO"));
    expect_note("a zip with the entries of an archive");
  };
  read([](ZipBuilder& b) { b.entry("w").local.more_padding = 32; });
  read([](ZipBuilder& b) { b.entry("w").local.version_needed = std::uint16_t{9}; });
  read([](ZipBuilder& b) { b.entry("w").local.time = std::uint16_t{1}; });
  read([](ZipBuilder& b) { b.entry("w").gap_after = Blob(64); });
  read([](ZipBuilder& b) {
    b.force_zip64 = true;
    b.zip64_end.version_needed = std::uint16_t{9};
  });
}

}  // namespace
}  // namespace onnxar::testing
