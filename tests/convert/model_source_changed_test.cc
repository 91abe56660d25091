// A model that changes while it is read is reported as changed, and not as damaged.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ios>
#include <string>

#include "convert/open.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/listing.h"
#include "onnxar/tensors.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

/// An archive whose model an edit appended.
class ChangedModelTest : public ::testing::Test {
 protected:
  ChangedModelTest() {
    path_ = folder_.write_file("a.onnxar", archive_of(model_of({}), {zip_entry("w", pattern(2048))}).bytes);
    edit(model_of({floats("x", 20'000)}).view());
  }

  void edit(Bytes model) const {
    EditOptions options = {.output = {.sync = false}};
    options.verify_model = false;  // the bytes may be a part of a model
    ArchiveEditor::open(path_, options).commit(model);
  }
  /// Afterwards the place of the old model holds bytes that are not a model.
  void undo_and_edit() const {
    undo(path_, {.sync = false, .dry_run = false});
    edit(Blob(90'000));
  }

  /// The state that a reader sees while an edit overwrites a model: header and directory are already complete.
  void write_into_model(char byte) const {
    const Archive archive = Archive::open(path_);
    const Bytes model = archive.model();
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(model.data() - archive.file().data());
    file << std::string(model.size(), byte);
  }

  TempDir folder_;
  fs::path path_;
};

TEST_F(ChangedModelTest, ReadingTheReplacedModelReportsAChange) {
  const Archive archive = Archive::open(path_);
  write_into_model('\0');
  EXPECT_EQ(code_of([&] { return ls(archive); }), Code::io_changed);
  EXPECT_EQ(code_of([&] { return side_files(archive); }), Code::io_changed);
  EXPECT_EQ(code_of([&] { return tensors(archive); }), Code::io_changed);
}

TEST_F(ChangedModelTest, MappedModelReportsAChange) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const auto source = source_of(Archive::open(path_), {.verify_data = false});
  const Error error(Code::wire_tag, "no protobuf field has the tag 0", {"", 0});
  EXPECT_EQ(source->with_place(error).code(), Code::wire_tag);
  undo_and_edit();
  EXPECT_EQ(source->with_place(error).code(), Code::io_changed);
}

TEST_F(ChangedModelTest, VerifiedCopyReportsDamageInSpiteOfChanges) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const auto source = source_of(Archive::open(path_), {});
  undo_and_edit();
  EXPECT_EQ(source->with_place(Error(Code::wire_tag, "", {"", 0})).code(), Code::wire_tag);
}

TEST_F(ChangedModelTest, RefusesListingOfTwoStates) {
  const Archive archive = Archive::open(path_);
  const Blob before = folder_.read_file("a.onnxar");
  write_into_model('\0');
  static_cast<void>(folder_.write_file("a.onnxar", before));
  EXPECT_EQ(code_of([&] { return ls(archive); }), Code::io_changed);
}

TEST_F(ChangedModelTest, RenamedAndGrownFilesAreListedAsOpened) {
  const Archive archive = Archive::open(path_);
  edit(model_of({}).view());
  EXPECT_EQ(ls(archive).model.size, model_of({floats("x", 20'000)}).view().size());
  replace_file(folder_.write_file("other", "something else"), path_);
  EXPECT_EQ(ls(archive).model.size, model_of({floats("x", 20'000)}).view().size());
}

TEST_F(ChangedModelTest, CheckFindsNoFaultInAFileThatIsBeingWritten) {
  const fs::path text = folder_.write_file("model.txt", "ir_version: 8");
  CheckOptions options;
  options.load.text_parser = [&](Bytes) -> std::vector<std::byte> {
    static_cast<void>(folder_.write_file("model.txt", "ir_version: 8 graph {}"));
    throw Error(Code::onnx_text_syntax, "a brace is missing");
  };
  EXPECT_EQ(code_of([&] { return check(text, options); }), Code::io_changed);
}

}  // namespace
}  // namespace onnxar::testing
