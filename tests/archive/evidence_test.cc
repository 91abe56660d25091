// Readers of a file that changes under them: they say so, and a broken archive is still called that.
#include "archive/evidence.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "base/mapped_file.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

/// An archive whose model an edit appended; it has more than a piece of a copy (1 MiB).
class ChangedTest : public ::testing::Test {
 protected:
  ChangedTest() {
    ZipBuilder builder;
    builder.entries = {zip_entry("w", pattern(2048)), zip_entry(model_entry, pattern(10))};
    path_ = folder_.write_file("a.onnxar", builder.build_placed().bytes);
    edit(1);
  }

  void edit(std::uint32_t seed) const {
    const EditOptions options = {.output = {.sync = false}, .verify_model = false};  // its bytes do not matter here
    ArchiveEditor::open(path_, options).commit(pattern(3 * mebibyte, seed));
  }
  /// Another model of the same size, in the place of the old one.
  void undo_and_edit(std::uint32_t seed) const {
    undo(path_, {.sync = false, .dry_run = false});
    edit(seed);
  }
  void overwrite(std::uint64_t offset) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset)).put('!');
  }
  static ArchiveEntry model_of(const Archive& archive) { return archive.entry(archive.size() - 1); }
  static std::vector<std::byte> copied(const Archive& archive, const std::function<void()>& meanwhile = [] {}) {
    std::vector<std::byte> copy;
    archive.copy(model_of(archive), [&](Bytes piece) {
      copy.insert(copy.end(), piece.begin(), piece.end());
      meanwhile();
    });
    return copy;
  }

  TempDir folder_;
  fs::path path_;
};

TEST_F(ChangedTest, ReportsInPlaceReplacementAsChanged) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const Archive archive = Archive::open(path_);
  undo_and_edit(2);
  EXPECT_EQ(code_of([&] { return copied(archive); }), Code::io_changed);
  EXPECT_EQ(code_of([&] { archive.verify(model_of(archive)); }), Code::io_changed);
}

TEST_F(ChangedTest, CopyOfTwoStatesIsReportedAsChanged) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const Archive archive = Archive::open(path_);
  bool changed = false;
  const auto meanwhile = [&] {
    if (!std::exchange(changed, true)) undo_and_edit(2);
  };
  EXPECT_EQ(code_of([&] { return copied(archive, meanwhile); }), Code::io_changed);
}

TEST_F(ChangedTest, CopiedBytesAreSummedAsTheyWereCopied) {
  const Archive archive = Archive::open(path_);
  const std::uint64_t first = archive.locate(model_of(archive)).offset;
  EXPECT_EQ(copied(archive, [&] { overwrite(first); }), pattern(std::size_t{3} << 20U, 1));
}

TEST_F(ChangedTest, AnEditThatOnlyAppendsDisturbsNoReader) {
  const Archive archive = Archive::open(path_);
  EXPECT_EQ(copied(archive,
                   [this, done = false]() mutable {
                     if (!std::exchange(done, true)) edit(2);
                   }),
            pattern(std::size_t{3} << 20U, 1));
}

TEST_F(ChangedTest, DamageThatWasThereBeforeIsDamage) {
  overwrite(fs::file_size(path_) - 1'000'000);
  const Archive archive = Archive::open(path_);
  EXPECT_EQ(code_of([&] { return copied(archive); }), Code::zip_data_crc);
  EXPECT_EQ(code_of([this] { edit(2); }), Code::zip_data_crc);
}

TEST_F(ChangedTest, ReportsReplacedFileAsChanged) {
  const Archive archive = Archive::open(path_);
  overwrite(archive.locate(model_of(archive)).offset + 5);
  replace_file(folder_.write_file("other", "something else"), path_);
  EXPECT_EQ(code_of([&] { return copied(archive); }), Code::io_changed);
}

// It does not report the archive as torn.
TEST_F(ChangedTest, RepackReportsArchiveBeingEditedAsBusy) {
  const auto repacked = [this] {
    return repack(path_, folder_ / "other.onnxar", {.output = {.overwrite = true, .sync = false}});
  };
  ArchiveEditor editor = ArchiveEditor::open(path_, {.output = {.sync = false}});
  editor.add("v", Bytes(pattern(std::size_t{8} << 20U)));  // more than stays in buffers
  EXPECT_EQ(code_of(repacked), Code::archive_busy);
  EXPECT_EQ(code_of([this] { return check_alignment(path_, 64); }), Code::archive_busy);
}

TEST_F(ChangedTest, BytesInMemoryCannotHaveChanged) {
  std::vector<std::byte> bytes = folder_.read_file("a.onnxar");
  const Archive archive = Archive::open(Bytes(bytes), nullptr);
  bytes[archive.locate(model_of(archive)).offset] ^= std::byte{1};
  EXPECT_EQ(code_of([&] { return copied(archive); }), Code::zip_data_crc);
}

/// The advice on an error with this code in the zip file `bytes` of any program.
Advice advice_on_zip(Code code, const Blob& bytes, const std::optional<OpenOptions>& uncut = {}) {
  const TempDir folder;
  const auto path = folder.write_file("file", bytes);
  const auto mapping = base::MappedFile::open(path);
  return Evidence{.path = &path, .zip = &mapping, .uncut = uncut}(Error(code, "wrong")).advice();
}

Blob zip_of_entry(std::string_view name) { return ZipBuilder{.entries = {zip_entry(name, blob("x"))}}.build(); }

TEST(Evidence, NamesKindOfZipWithoutModel) {
  const Advice advice = advice_on_zip(Code::archive_model_missing, zip_of_entry("[Content_Types].xml"));
  EXPECT_EQ(advice.hint, Hint::kind_other);
  EXPECT_EQ(advice.value, "a document of Office");
}

TEST(Evidence, NamesKindOfFileThatMayBeCutShort) {
  const Blob page = blob("<html>");
  EXPECT_EQ(advice_on_zip(Code::zip_end_missing, page, OpenOptions()).hint, Hint::kind_other);
  EXPECT_EQ(advice_on_zip(Code::zip_end_missing, page).hint, Hint::none);
}

TEST(Evidence, GivesNoAdviceOnZipThatEachVerbRefuses) {
  for (const auto& uncut : {std::optional<OpenOptions>(), std::optional(OpenOptions())}) {
    EXPECT_EQ(advice_on_zip(Code::zip_extra_malformed, zip_of_entry("a.npy"), uncut).hint, Hint::none);
  }
}

TEST(Evidence, LooksForEarlierStatesOnlyAfterFaultsOfEdits) {
  const Blob bytes = smallest_archive().bytes;
  const Evidence evidence{.file = ArchiveFile(bytes), .uncut = OpenOptions()};
  EXPECT_EQ(evidence(Error(Code::zip_end_not_last, "wrong")).advice().hint, Hint::recover_cuts);
  const Evidence without{.file = ArchiveFile(bytes)};
  EXPECT_EQ(without(Error(Code::zip_end_not_last, "wrong")).advice().hint, Hint::none);
  EXPECT_EQ(evidence(Error(Code::zip_entry_order, "wrong")).advice().hint, Hint::repack_plain_zip);
}

TEST(Evidence, GivesNoAdviceByKindOnDamagedData) {
  const Blob bytes = zip_of_entry("a.npy");
  const Evidence evidence{.file = ArchiveFile(bytes)};
  EXPECT_EQ(evidence(Error(Code::zip_data_crc, "wrong")).advice().hint, Hint::none);
  EXPECT_EQ(evidence(Error(Code::archive_model_missing, "wrong")).advice().hint, Hint::kind_weights);
}

TEST(Evidence, AdvisesToMakeFileWithoutEndAnew) {
  const Blob unknown = pattern(100);
  const Evidence evidence{.file = ArchiveFile(unknown)};
  EXPECT_EQ(evidence(Error(Code::zip_end_missing, "wrong")).advice().hint, Hint::make_anew);
  EXPECT_EQ(evidence(Error(Code::zip_zip64_locator, "wrong")).advice().hint, Hint::none);
}

TEST(Evidence, AdvisesOnGraphByItsName) {
  const auto advice = [](Code code, const std::string& entry, std::string_view graph = "g.onnx") {
    return Evidence{.graph_by_name = graph, .of_links = Hint::pack_own_data}(Error(code, "wrong", {entry, 0})).advice();
  };
  EXPECT_EQ(advice(Code::wire_tag, "g.onnx").hint, Hint::repack_side_file);
  EXPECT_EQ(advice(Code::wire_tag, "g.onnx").value, "g.onnx");
  EXPECT_EQ(advice(Code::wire_tag, "my g.onnx", "my g.onnx").value, "NAME.onnx");
  EXPECT_EQ(advice(Code::onnx_external_missing, "g.onnx").hint, Hint::pack_own_data);
  EXPECT_EQ(advice(Code::archive_graph_link_marker, "g.onnx").hint, Hint::pack_own_data);
  EXPECT_EQ(advice(Code::zip_data_crc, "g.onnx").hint, Hint::none);
  EXPECT_EQ(advice(Code::io_failed, "g.onnx").hint, Hint::none);
  EXPECT_EQ(advice(Code::wire_tag, "other").hint, Hint::none);
}

TEST(Evidence, NamesGraphOnlyInErrorsOfTheArchive) {
  const Built built = smallest_archive();
  const Archive archive = Archive::open(built.bytes, nullptr);
  const Evidence evidence{.archive = &archive, .graph = archive.model_entry()};
  const Error fault = evidence(Error(Code::wire_tag, "wrong", {"", 1}));
  EXPECT_EQ(fault.entry(), model_entry);
  EXPECT_EQ(fault.offset(), built.entry(model_entry).data_offset + 1);
  EXPECT_EQ(evidence(Error(Code::io_disk_full, "full", {}, "/elsewhere")).entry(), "");
}

}  // namespace
}  // namespace onnxar::testing
