// The model of a foreign zip, who wrote it, and its entries.
#include "archive/foreign_zip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "archive/opened.h"
#include "archive/opened_input.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

/// A tensor as PyTorch wrote it: `raw_data` holds the stand-in text.
TensorBuilder stand_in_for(std::string_view name, std::int64_t count) {
  return tensor(name, dtype::float32, {count}).raw_data(blob("__EXTERNAL"));
}

Blob model_with_stand_in() {
  return model_of({floats("small", 3), stand_in_for("w", 300), floats("after", 30)}).take();
}

Blob foreign_zip_of(const std::vector<std::string>& names, const Blob& model) {
  ZipBuilder builder;
  for (const std::string& name : names) builder.entries.push_back(plain_entry(zip_entry(name, model)));
  return builder.build();
}

/// Name, folder and dialect of the model.
struct Found {
  std::string name, folder;
  Dialect dialect;
  bool operator==(const Found&) const = default;
};

Found found_in(const std::vector<std::string>& names, const Blob& model = {}) {
  const Blob bytes = foreign_zip_of(names, model);
  const auto directory = zip::ForeignDirectory::read(bytes, {});
  ZipExpansion expansion(bytes.size(), 8);
  const ForeignModel found = find_foreign_model(bytes, directory, expansion);
  return {std::string(directory.entries()[found.index].name), found.folder, found.dialect};
}

std::optional<Code> code_of_zip(const std::vector<std::string>& names) {
  return code_of([&] { return found_in(names).name; });
}

TEST(ForeignModel, FixedNamesComeBeforeOtherModels) {
  EXPECT_EQ(found_in({"a.onnx", "__MODEL_PROTO"}), (Found{"__MODEL_PROTO", "", Dialect::archive}));
  EXPECT_EQ(found_in({"w", "__MODEL_PROTO"}, model_with_stand_in()), (Found{"__MODEL_PROTO", "", Dialect::pytorch}));
  EXPECT_EQ(found_in({"__MODEL_PROTO.onnx", "a.onnx"}), (Found{"__MODEL_PROTO.onnx", "", Dialect::tf2onnx}));
  EXPECT_EQ(found_in({"data.bin", "a.ONNX"}), (Found{"a.ONNX", "", Dialect::files}));
}

TEST(ForeignModel, MayBeInTheFolderThatHoldsAllFiles) {
  EXPECT_EQ(found_in({"m/", "m/w", "m/a.onnx", "__MACOSX/m/b.onnx"}), (Found{"m/a.onnx", "m/", Dialect::files}));
  EXPECT_EQ(found_in({"other/", "m/a.onnx", "m/w"}), (Found{"m/a.onnx", "m/", Dialect::files}));
  EXPECT_EQ(found_in({"8letters/a.onnx", "__MACOSX/b.onnx"}), (Found{"8letters/a.onnx", "8letters/", Dialect::files}))
      << "both folders have names of 9 bytes";
  EXPECT_EQ(code_of_zip({"m/a.onnx", "readme.txt"}), Code::archive_model_missing);
  EXPECT_EQ(code_of_zip({"m/n/a.onnx"}), Code::archive_model_missing);
}

TEST(ForeignModel, IsTheOnlyOne) {
  EXPECT_EQ(code_of_zip({"a.onnx", "b.onnx"}), Code::archive_model_missing);
  EXPECT_EQ(code_of_zip({"__MODEL_PROTO", "__MODEL_PROTO.onnx"}), Code::archive_model_missing);
  EXPECT_EQ(code_of_zip({"readme.txt", ".onnx"}), Code::archive_model_missing);
}

// The search for stand-ins in a model that comes in pieces.

/// Gives its bytes in pieces of one size, after an empty piece.
class InPieces final : public ByteSource {
 public:
  InPieces(Bytes bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override {
    sink({});
    for (std::size_t at = 0; at < bytes_.size(); at += piece_) {
      sink(bytes_.subspan(at, std::min(piece_, bytes_.size() - at)));
    }
  }

 private:
  Bytes bytes_;
  std::size_t piece_;
};

bool has_stand_in(const Blob& model, std::size_t piece) { return may_have_stand_ins(InPieces(model, piece)); }

TEST(StandIns, AreFoundWhereverPiecesEnd) {
  const Blob model = model_with_stand_in();
  for (std::size_t piece = 1; piece <= model.size(); ++piece) EXPECT_TRUE(has_stand_in(model, piece)) << piece;
}

TEST(StandIns, AreFoundAnywhereInALongPiece) {
  for (std::size_t before = 65'520; before <= 65'540; ++before) {
    Blob model = zeros(before);
    for (const std::byte byte : blob("\x4a\x0a__EXTERNAL")) model.push_back(byte);
    EXPECT_TRUE(has_stand_in(model, model.size())) << before;
  }
}

TEST(StandIns, AreNotFoundWhereTheTextIsInAnotherField) {
  const Blob model = model_of({floats("__EXTERNAL", 3), linked_floats("w", 4, "__EXTERNAL")}).take();
  for (std::size_t piece = 1; piece <= model.size(); ++piece) EXPECT_FALSE(has_stand_in(model, piece)) << piece;
}

TEST(StandIns, AreNotFoundWhereTheDataIsLongerThanTheText) {
  const Blob model = model_of({tensor("w", dtype::uint8, {11}).raw_data(blob("__EXTERNAL2"))}).take();
  EXPECT_FALSE(has_stand_in(model, model.size()));
}

TEST(StandIns, AreNotFoundInNothing) { EXPECT_FALSE(has_stand_in({}, 1)); }

// The temporary file for entries that are too large for memory.

Spool::Fill filled_with(const Blob& bytes) {
  return [&bytes](const ByteSink& sink) {
    sink(Bytes(bytes).first(bytes.size() / 2));
    sink(Bytes(bytes).subspan(bytes.size() / 2));
  };
}

TEST(Spool, EntriesHaveDisjointRangesAtMultiplesOf64) {
  const TempDir folder;
  Spool spool(folder.path(), 1000);
  const Bytes first = spool.place_of(0, 100);
  const Bytes second = spool.place_of(500, 65);
  EXPECT_EQ(first.size(), 100U);
  EXPECT_EQ(second.data(), first.data() + 128);
  EXPECT_EQ(spool.place_of(0, 100).data(), first.data());
  EXPECT_TRUE(visible_names(folder).empty());  // the file has no name
}

TEST(Spool, EachEntryIsFilledOnceInItsRange) {
  const TempDir folder;
  Spool spool(folder.path(), 1000);
  const Blob data = pattern(300);
  const Bytes place = spool.place_of(7, data.size());
  int calls = 0;
  for (int i = 0; i < 2; ++i) {
    const Bytes bytes = spool.bytes(7, [&](const ByteSink& sink) {
      ++calls;
      filled_with(data)(sink);
    });
    EXPECT_EQ(bytes.data(), place.data());
    EXPECT_EQ(copy_of(bytes), data);
  }
  EXPECT_EQ(calls, 1);
}

TEST(Spool, AnEntryWhoseFillingFailedIsFilledAgain) {
  const TempDir folder;
  Spool spool(folder.path(), 1000);
  const Blob data = pattern(300);
  static_cast<void>(spool.place_of(7, data.size()));
  EXPECT_THROW(static_cast<void>(spool.bytes(7,
                                             [](const ByteSink& sink) {
                                               sink(pattern(10, 5));
                                               throw std::runtime_error("no paper");
                                             })),
               std::runtime_error);
  EXPECT_EQ(copy_of(spool.bytes(7, filled_with(data))), data);
}

// How many bytes a foreign zip may expand to.

zip::ForeignEntry entry_of_size(std::uint64_t size) {
  zip::ForeignEntry entry;
  entry.name = "w";
  entry.size = size;
  entry.central_offset = 70;
  return entry;
}

TEST(ZipExpansion, EntriesAreCountedUpToTheLimit) {
  ZipExpansion expansion(100, 8);
  EXPECT_EQ(expansion.most(), 800U);
  expansion.add(entry_of_size(500));
  expansion.add(entry_of_size(300));
  expansion.add(entry_of_size(0));
  EXPECT_EQ(refusal_of([&] { expansion.add(entry_of_size(1)); }), (ErrorContext{Code::zip_limit_expansion, "w", 70}));
}

TEST(ZipExpansion, TheHintNamesTheLeastLimitThatSuffices) {
  const ZipExpansion expansion(100, 8);
  expansion.check(800);
  const auto hint_of = [&](std::uint64_t bytes) {
    const auto error = error_if_any([&] { expansion.check(bytes); });
    return error ? error->advice().value : "";
  };
  EXPECT_EQ(hint_of(801), "9");
  EXPECT_EQ(hint_of(900), "9");
  EXPECT_EQ(hint_of(901), "10");
}

// Entries of a foreign zip that are read in place, and inflated when they are first read.

/// A zip of a model, a stored and a deflated entry, and one that states a large size, in a folder that is removed at
/// the end.
class UnpackedZipTest : public ::testing::Test {
 protected:
  UnpackedZip unpacked(std::string_view name = "a.zip") {
    ZipEntry large = deflated_entry("large", zeros(3000));
    large.in_both([](HeaderFields& header) { header.usize = 1'000'000; });  // more than it has
    ZipBuilder builder;
    builder.entries = {plain_entry(large), plain_entry(zip_entry("stored", pattern(3000))),
                       plain_entry(deflated_entry("deflated", pattern(3000, 2))),
                       plain_entry(zip_entry(model_entry, smallest_model()))};
    built_ = builder.build_placed();
    const auto path = folder_.write_file(name, built_.bytes);
    return {OpenedInput(path).file(), path, folder_.path(), 8};
  }

  static std::size_t index_of(const UnpackedZip& zip, std::string_view name) { return *zip.directory().find(name); }

  TempDir folder_;
  Built built_;
};

// The file has no name; stored entries are views of the zip.
TEST_F(UnpackedZipTest, OnlyDeflatedEntriesAreCopiedToAFile) {
  UnpackedZip zip = unpacked();
  EXPECT_EQ(zip.entry(zip.find_model().index).name, model_entry);
  const std::size_t stored = index_of(zip, "stored");
  const std::size_t deflated = index_of(zip, "deflated");
  EXPECT_EQ(copy_of(zip.bytes(stored)), pattern(3000));
  zip.verify(stored);
  const Bytes place = zip.place_of(deflated);
  EXPECT_EQ(place.size(), 3000U);
  EXPECT_EQ(zip.bytes(deflated).data(), place.data());
  EXPECT_EQ(copy_of(place), pattern(3000, 2));
  EXPECT_EQ(visible_names(folder_), std::vector<std::string>{"a.zip"});
}

// Entries of macOS's Finder are among them, although no model uses them.
TEST_F(UnpackedZipTest, ReservesSpaceForAllDeflatedEntries) {
  ZipBuilder builder = smallest_builder();
  builder.entries.insert(builder.entries.begin(), {plain_entry(deflated_entry("x", zeros(5000))),
                                                   plain_entry(deflated_entry("__MACOSX/y", zeros(30'000)))});
  const auto path = folder_.write_file("a.zip", Bytes(builder.build()));
  UnpackedZip zip(OpenedInput(path).file(), path, folder_.path(), 1000);
  EXPECT_EQ(copy_of(zip.bytes(index_of(zip, "x"))), zeros(5000));
  EXPECT_EQ(copy_of(zip.bytes(index_of(zip, "__MACOSX/y"))), zeros(30'000));
}

TEST_F(UnpackedZipTest, SourcesReturnTheSameBytes) {
  const auto zip = std::make_shared<UnpackedZip>(unpacked());
  EXPECT_EQ(all_of(*UnpackedZip::source(zip, index_of(*zip, "stored"), 1)), pattern(3000));
  EXPECT_EQ(all_of(*UnpackedZip::source(zip, index_of(*zip, "deflated"), 1)), pattern(3000, 2));
  const Blob whole = pattern(3000, 2);
  const auto other = std::make_shared<UnpackedZip>(unpacked("b.zip"));  // of which nothing was inflated yet
  const Bytes place = other->place_of(index_of(*other, "deflated"));
  EXPECT_EQ(all_of(*UnpackedZip::inflated_source(other, index_of(*other, "deflated"), place.subspan(10, 5))),
            copy_of(Bytes(whole).subspan(10, 5)));
}

TEST_F(UnpackedZipTest, SourcesKeepTheZip) {
  auto zip = std::make_shared<UnpackedZip>(unpacked());
  const std::size_t deflated = index_of(*zip, "deflated");
  const auto stored = UnpackedZip::source(zip, index_of(*zip, "stored"), 1);
  const auto spooled = UnpackedZip::inflated_source(zip, deflated, zip->place_of(deflated));
  zip.reset();
  EXPECT_EQ(all_of(*stored), pattern(3000));
  EXPECT_EQ(all_of(*spooled), pattern(3000, 2));
}

TEST_F(UnpackedZipTest, EntriesThatAreUsedCountOnceTowardsTheLimit) {
  UnpackedZip zip = unpacked();
  for (int i = 0; i < 100; ++i) static_cast<void>(zip.bytes(index_of(zip, "stored")));
  EXPECT_EQ(refusal_of([&] { return zip.place_of(index_of(zip, "large")); }),
            (ErrorContext{Code::zip_limit_expansion, "large", built_.entry("large").central_offset}));
}

TEST_F(UnpackedZipTest, TheModelCountsWhenItIsFound) {
  const auto path = folder_.write_file("a.zip", smallest_archive().bytes);
  UnpackedZip zip(OpenedInput(path).file(), path, folder_.path(), 0);
  EXPECT_EQ(zip.directory().entries().size(), 2U);
  EXPECT_EQ(code_of([&] { return zip.find_model().index; }), Code::zip_limit_expansion);
}

TEST_F(UnpackedZipTest, SourcesCountTowardsTheLimit) {
  const auto zip = std::make_shared<UnpackedZip>(unpacked());
  EXPECT_EQ(code_of([&] { return UnpackedZip::source(zip, index_of(*zip, "large"), 1)->size(); }),
            Code::zip_limit_expansion);
}

TEST_F(UnpackedZipTest, OnlyStoredEntriesAreVerifiedInPlace) {
  const auto zip = std::make_shared<UnpackedZip>(unpacked());
  EXPECT_NO_THROW(zip->verify(index_of(*zip, "deflated"))) << "it is verified when it is inflated";
  std::size_t places = 0;
  const std::size_t stored = index_of(*zip, "stored");
  UnpackedZip::source(zip, stored, 1)->locate([&](const Location& location) {
    ++places;
    EXPECT_EQ(location.bytes.data(), zip->bytes(stored).data());
  });
  EXPECT_EQ(places, 1U);
}

// Errors of the sink pass unchanged.
TEST_F(UnpackedZipTest, SourcesNameThePathOfDamagedData) {
  static_cast<void>(unpacked());
  ZipBuilder builder;
  builder.entries = {plain_entry(zip_entry("stored", pattern(3000))), plain_entry(deflated_entry("crc", zeros(3000))),
                     plain_entry(deflated_entry("form", zeros(3000))),
                     plain_entry(zip_entry(model_entry, smallest_model()))};
  builder.entry("crc").in_both([](HeaderFields& header) { header.crc = 1U; });
  Built built = builder.build_placed();
  flip_bit(built.bytes, built.entry("stored").data_offset);
  flip_bit(built.bytes, built.entry("form").data_offset + 1);  // the size of the stored block
  const auto path = folder_.write_file("b.zip", built.bytes);
  const auto zip = std::make_shared<UnpackedZip>(OpenedInput(path).file(), path, folder_.path(), 8);
  const auto error_from = [&](std::string_view name, const ByteSink& sink) {
    const auto source = UnpackedZip::source(zip, index_of(*zip, name), 1);
    const auto error = error_if_any([&] { source->read(sink); });
    return error ? std::pair(error->code(), error->path()) : std::pair(Code::usage_argument, std::filesystem::path());
  };
  const auto ignore = [](Bytes) {};
  EXPECT_EQ(error_from("stored", ignore), std::pair(Code::zip_data_crc, path));
  EXPECT_EQ(error_from("crc", ignore), std::pair(Code::zip_data_crc, path));
  EXPECT_EQ(error_from("form", ignore), std::pair(Code::zip_data_inflate, path));
  const auto failing = [](Bytes) { throw Error(Code::io_disk_full, "full", {}, "/elsewhere"); };
  EXPECT_EQ(error_from("crc", failing), std::pair(Code::io_disk_full, std::filesystem::path("/elsewhere")));
  const auto without_path = [](Bytes) { throw Error(Code::io_disk_full, "full"); };
  EXPECT_EQ(error_from("crc", without_path), std::pair(Code::io_disk_full, std::filesystem::path()));
}

TEST_F(UnpackedZipTest, DamagedDataIsRefusedWhereItIsRead) {
  UnpackedZip whole = unpacked();
  Blob bytes = built_.bytes;
  flip_bit(bytes, built_.entry("stored").data_offset);
  const auto path = folder_.write_file("b.zip", bytes);
  UnpackedZip zip(OpenedInput(path).file(), path, folder_.path(), 8);
  const std::size_t stored = index_of(zip, "stored");
  static_cast<void>(zip.bytes(stored));
  expect_error(error_if_any([&] { zip.verify(stored); }),
               {.code = Code::zip_data_crc, .offset = built_.entry("stored").data_offset, .path = path});
}

}  // namespace

}  // namespace onnxar::testing
