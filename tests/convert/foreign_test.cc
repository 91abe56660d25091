// Models in zip files and folders of other makers become archives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "convert/samples.h"
#include "onnxar/archive.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A FLOAT tensor as PyTorch wrote it: `raw_data` says that the data is elsewhere.
TensorBuilder stand_in(std::string_view name, std::size_t count) {
  return tensor(name, dtype::float32, {static_cast<std::int64_t>(count)}).raw_data(blob("__EXTERNAL"));
}

/// The data of such a tensor.
Blob data_of(std::size_t count, std::uint32_t seed) { return pattern(4 * count, seed); }

enum class Storage : std::uint8_t { stored, deflated, streamed };

ZipEntry stored_as(Storage storage, std::string_view name, const Blob& data) {
  switch (storage) {
    case Storage::stored: return plain_entry(zip_entry(name, data));
    case Storage::deflated: return plain_entry(deflated_entry(name, data));
    case Storage::streamed: return plain_entry(streamed_entry(name, data));
  }
  return {};
}

using Files = std::vector<std::pair<std::string, Blob>>;

Built zip_of(const Files& files, Storage storage = Storage::stored) {
  ZipBuilder builder;
  for (const auto& [name, data] : files) builder.entries.push_back(stored_as(storage, name, data));
  return builder.build_placed();
}

LoadOptions foreign() {
  LoadOptions options;
  options.foreign_zips = true;
  return options;
}

class ForeignTest : public ::testing::Test {
 protected:
  /// What the archive that becomes of this is, inline again: what the exporter began with.
  Blob inlined(const fs::path& input, const LoadOptions& load = foreign()) {
    SaveOptions save = saved_as(Format::archive);
    save.replace = true;
    report_ = convert(input, folder_ / "out", save, load);
    const Archive archive = Archive::open(folder_ / "out");
    names_.clear();
    for (std::size_t i = 0; i < archive.size(); ++i) {
      archive.verify(archive.entry(i));
      names_.emplace_back(archive.entry(i).name);
    }
    save = saved_as(Format::onnx_inline);
    save.replace = true;
    convert(folder_ / "out", folder_ / "back", save);
    return folder_.read_file("back");
  }
  Blob inlined(const Blob& bytes) { return inlined(folder_.write_file("in", bytes)); }

  Error refusal(const Blob& bytes, const LoadOptions& load = foreign()) {
    const fs::path input = folder_.write_file("in", bytes);
    const std::vector<std::string> before = folder_.file_names();
    Error error = error_of([&] { convert(input, folder_ / "out", saved_as(Format::archive), load); });
    EXPECT_EQ(folder_.file_names(), before) << "something was left behind";
    EXPECT_EQ(error.path(), input);
    return error;
  }

  void expect_note(std::string_view part) const {
    ASSERT_FALSE(report_.remarks.empty());
    const auto note = std::ranges::find(report_.remarks, Code::zip_foreign, &Finding::code);
    ASSERT_NE(note, report_.remarks.end());
    EXPECT_EQ(note->severity, Severity::note);
    EXPECT_THAT(note->message, HasSubstr(std::string(part)));
  }

  TempDir folder_;
  ConvertReport report_;
  std::vector<std::string> names_;  // of the archive
};

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

TEST_F(ForeignTest, PyTorchsArchiveIsReadHoweverItIsStored) {
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
  const Error error =
      error_of([&] { convert(folder_ / "export", folder_ / "x", saved_as(Format::archive), foreign()); });
  EXPECT_EQ(error.code(), Code::onnx_tensor_length);
  EXPECT_EQ(error.path(), folder_ / "export/__MODEL_PROTO");
}

TEST_F(ForeignTest, AFolderOfAnotherKindIsNone) {
  folder_.write_file("export/model.onnx", before_pytorch().view());
  EXPECT_EQ(error_of([&] { convert(folder_ / "export", folder_ / "x", saved_as(Format::archive), foreign()); }).code(),
            Code::io_not_a_file);
}

TEST_F(ForeignTest, AFolderIsNoModelUnlessAskedFor) {
  for (const auto& [name, data] : pytorch_files()) folder_.write_file("export/" + name, data);
  EXPECT_EQ(error_of([&] { convert(folder_ / "export", folder_ / "x", saved_as(Format::archive)); }).code(),
            Code::io_not_a_file);
}

TEST_F(ForeignTest, TensorsWithoutTheirEntryAreRefused) {
  Files files = pytorch_files();
  files.pop_back();
  const Error error = refusal(zip_of(files).bytes);
  EXPECT_EQ(error.code(), Code::onnx_external_missing);
  EXPECT_EQ(error.entry(), "__MODEL_PROTO");
  EXPECT_THAT(error.message(), HasSubstr("tensor \"2\" (graph.initializer[1])"));
}

TEST_F(ForeignTest, EntriesOfAnotherSizeThanTheirTensorAreRefused) {
  for (const std::size_t count : {399U, 401U}) {
    Files files = pytorch_files();
    files.back().second = data_of(count, 2);
    const Error error = refusal(zip_of(files).bytes);
    EXPECT_EQ(error.code(), Code::onnx_tensor_length);
    EXPECT_EQ(error.entry(), "__MODEL_PROTO");
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

Files tf2onnx_files() {
  return {{"__MODEL_PROTO.onnx",
           model_of({linked_floats("conv/kernel", 300, "conv_kernel_0"), linked_floats("v", 400, "v_1")}).take()},
          {"conv_kernel_0", data_of(300, 1)},
          {"v_1", data_of(400, 2)}};
}
const Message& before_tf2onnx() {
  static const Message model = model_of({floats("conv/kernel", 300, 1), floats("v", 400, 2)});
  return model;
}

TEST_F(ForeignTest, Tf2onnxsArchiveIsRead) {
  for (const Storage storage : {Storage::stored, Storage::deflated, Storage::streamed}) {
    EXPECT_EQ(inlined(zip_of(tf2onnx_files(), storage).bytes), before_tf2onnx().view());
    EXPECT_THAT(names_, ElementsAre("conv_kernel", "v", "__MODEL_PROTO"));
    expect_note("tf2onnx");
  }
}

/// A model, its data file with both tensors, and other files.
Files model_and_files(const std::string& folder = "") {
  Blob data = data_of(300, 1);
  const Blob second = data_of(400, 2);
  data.insert(data.end(), second.begin(), second.end());
  return {{folder + "m.onnx",
           model_of({linked_floats("conv/kernel", 300, "data/w.bin"), linked_floats("v", 400, "./data/w.bin", 1200)})
               .take()},
          {folder + "data/w.bin", data},
          {folder + "tokenizer.json", blob("{}")}};
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

TEST_F(ForeignTest, FilesThatCouldBeTakenForTensorsAreLeftOutAndSaid) {
  Files files = tf2onnx_files();
  files.emplace_back("LICENSE", blob("text"));
  files.emplace_back("__MACOSX/._v_1", blob("finder"));
  EXPECT_EQ(inlined(zip_of(files).bytes), before_tf2onnx().view());
  EXPECT_THAT(names_, ElementsAre("conv_kernel", "v", "__MODEL_PROTO"));
  EXPECT_THAT(ids_of(report_.remarks), ElementsAre("note zip.foreign", "warning archive.entry.unused"));
  EXPECT_EQ(report_.remarks[1].place.entry, "LICENSE");
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
  // As zipalign pads: zeros without an id, so that all offsets are an archive's.
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
  for (const Files& files : {pytorch_files(), tf2onnx_files(), model_and_files()}) {
    const Error error = refusal(zip_of(files).bytes, LoadOptions());
    EXPECT_EQ(error.code(), Code::zip_entry_attributes) << error.what();
    EXPECT_THAT(error.message(), HasSubstr("onnxar repack"));
  }
}

// --- bad input -----------------------------------------------------------------------------------

TEST_F(ForeignTest, LinksLeadToEntriesOnly) {
  folder_.write_file("beside", data_of(300, 1));
  const std::vector<std::pair<std::string, Code>> locations = {{"beside", Code::onnx_external_missing},
                                                               {"w/", Code::onnx_external_missing},
                                                               {"W", Code::onnx_external_missing},
                                                               {"dir", Code::onnx_external_missing},
                                                               {"../w", Code::onnx_external_bad_location},
                                                               {"/w", Code::onnx_external_bad_location},
                                                               {"dir/../w", Code::onnx_external_bad_location}};
  for (const auto& [location, code] : locations) {
    const Message tensor = linked_floats("a", 300, location);
    const Built built = zip_of({{"m.onnx", model_of({tensor}).take()}, {"w", data_of(300, 1)}, {"dir/", {}}});
    const Error error = refusal(built.bytes);
    EXPECT_EQ(error.code(), code) << location;
    EXPECT_EQ(error.entry(), "m.onnx");
    EXPECT_EQ(error.offset(), place_in(built.bytes, tensor));
  }
}

TEST_F(ForeignTest, LinksOfAModelInAFolderStayInIt) {
  const Built built =
      zip_of({{"top/m.onnx", model_of({linked_floats("a", 300, "top/w")}).take()}, {"top/w", data_of(300, 1)}});
  EXPECT_EQ(refusal(built.bytes).code(), Code::onnx_external_missing);
}

TEST_F(ForeignTest, SlicesThatLeaveTheirEntryAreRefused) {
  const Message tensor = linked_floats("a", 300, "w", 4);
  const Built built = zip_of({{"m.onnx", model_of({tensor}).take()}, {"w", data_of(300, 1)}});
  const Error error = refusal(built.bytes);
  EXPECT_EQ(error.code(), Code::onnx_external_out_of_range);
  EXPECT_EQ(error.offset(), place_in(built.bytes, tensor));
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
        const Error error = refusal(built.bytes);
        EXPECT_EQ(error.code(), Code::zip_data_crc) << error.what();
        EXPECT_EQ(error.entry(), name);
        EXPECT_EQ(error.offset(), built.entry(name).data_offset);
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

TEST_F(ForeignTest, WhatIsWrongWithTheZipIsSaidOfTheZip) {
  ZipBuilder builder;
  for (const auto& [name, data] : tf2onnx_files()) builder.entries.push_back(stored_as(Storage::stored, name, data));
  builder.entry("v_1").in_both([](HeaderFields& header) { header.flags = std::uint16_t{1}; });
  const Built built = builder.build_placed();
  const Error error = refusal(built.bytes);
  EXPECT_EQ(error.code(), Code::zip_entry_encrypted);
  EXPECT_EQ(error.entry(), "v_1");
  EXPECT_EQ(error.offset(), built.entry("v_1").central_offset);
}

TEST_F(ForeignTest, AZipWithoutAModelIsRefused) {
  const Built built = zip_of({{"a.txt", blob("x")}, {"b.txt", blob("y")}});
  const Error error = refusal(built.bytes);
  EXPECT_EQ(error.code(), Code::archive_model_missing);
  EXPECT_EQ(error.offset(), built.directory_offset);
}

TEST_F(ForeignTest, ACutZipIsRefusedAtEveryByte) {
  const Files files = {{"m.onnx", model_of({linked_floats("a", 2, "w")}).take()}, {"w", data_of(2, 1)}};
  const Built built = zip_of(files, Storage::deflated);
  for (std::size_t size = 4; size < built.bytes.size(); ++size) {  // below, it does not begin as a zip
    Blob cut = built.bytes;
    truncate(cut, size);
    const Error error = refusal(cut);
    EXPECT_EQ(kind(error.code()), Kind::format) << size;
  }
}

TEST_F(ForeignTest, DeflatedEntriesThatNoTensorNamesAreNotInflated) {
  Files files = model_and_files();
  files.emplace_back("junk", data_of(1000, 9));  // could be a tensor's key: it is left out
  Built built = zip_of(files, Storage::deflated);
  flip_bit(built.bytes, built.entry("junk").data_offset + 500);
  EXPECT_EQ(inlined(built.bytes), before_tf2onnx().view());
  EXPECT_THAT(names_, ElementsAre("conv_kernel", "v", "tokenizer.json", "__MODEL_PROTO"));
}

TEST_F(ForeignTest, ADryRunInflatesTheModelAlone) {
  Built built = zip_of(model_and_files(), Storage::deflated);
  flip_bit(built.bytes, built.entry("data/w.bin").data_offset + 500);
  flip_bit(built.bytes, built.entry("tokenizer.json").data_offset + 6);
  SaveOptions save = saved_as(Format::archive);
  save.dry_run = true;
  EXPECT_EQ(convert(folder_.write_file("in", built.bytes), folder_ / "out", save, foreign()).payloads, 2U);
  EXPECT_EQ(refusal(built.bytes).code(), Code::zip_data_crc);
}

TEST_F(ForeignTest, EntriesThatInflateToTooMuchAreRefusedUnlessThatIsAllowed) {
  const auto said = [](const std::string& name, std::uint64_t size) {
    ZipBuilder builder;
    for (const auto& [file, data] : model_and_files()) {
      builder.entries.push_back(stored_as(Storage::deflated, file, data));
    }
    builder.entries.push_back(stored_as(Storage::deflated, "junk", data_of(1000, 9)));
    builder.entry(name).in_both([=](HeaderFields& header) { header.usize = size; });
    return builder.build_placed();
  };
  for (const std::string name : {"m.onnx", "data/w.bin"}) {
    const Built built = said(name, 100'000);
    const Error error = refusal(built.bytes);
    EXPECT_EQ(error.code(), Code::zip_limit_expansion) << error.what();
    EXPECT_EQ(error.entry(), name);
    EXPECT_THAT(error.message(), HasSubstr("--max-expansion"));
    LoadOptions load = foreign();
    load.max_expansion = 1000;
    EXPECT_EQ(refusal(built.bytes, load).code(), Code::zip_data_inflate);
  }
  EXPECT_EQ(inlined(said("junk", 100'000).bytes), before_tf2onnx().view()) << "what is not used does not count";
}

// One list says what is read of other makers' zips, and `repack` goes by it, too.
TEST_F(ForeignTest, WhatOnlyTheRulesOfAnArchiveForbidIsRead) {
  const auto read = [this](const auto& change) {
    ZipBuilder builder = smallest_builder();
    change(builder);
    inlined(builder.build());
    EXPECT_THAT(names_, ElementsAre("w", "__MODEL_PROTO"));
    expect_note("a zip with the entries of an archive");
  };
  read([](ZipBuilder& b) { b.entry("w").local.more_padding = 64; });
  read([](ZipBuilder& b) { b.entry("w").local.time = std::uint16_t{1}; });
  read([](ZipBuilder& b) { b.entry("w").gap_after = Blob(64); });
  read([](ZipBuilder& b) {
    b.force_zip64 = true;
    b.zip64_end.version_needed = std::uint16_t{20};
  });
}

// --- where deflated entries go -------------------------------------------------------------------

TEST_F(ForeignTest, NothingIsLeftWhereEntriesWereInflated) {
  const TempDir room;
  LoadOptions load = foreign();
  load.temporary_dir = room.path();
  const fs::path input = folder_.write_file("in", zip_of(tf2onnx_files(), Storage::deflated).bytes);
  EXPECT_EQ(inlined(input, load), before_tf2onnx().view());
  EXPECT_THAT(room.file_names(), IsEmpty());
}

TEST_F(ForeignTest, AFolderToInflateToThatIsMissingIsSaid) {
  LoadOptions load = foreign();
  load.temporary_dir = folder_ / "none";
  const fs::path input = folder_.write_file("in", zip_of(tf2onnx_files(), Storage::deflated).bytes);
  const Error error = error_of([&] { convert(input, folder_ / "out", saved_as(Format::archive), load); });
  EXPECT_EQ(error.code(), Code::io_not_found);
  EXPECT_EQ(error.path(), folder_ / "none");
}

}  // namespace
}  // namespace onnxar::testing
