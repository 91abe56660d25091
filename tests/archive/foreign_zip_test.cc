// Tests which entry is the model of a foreign zip, and who wrote it.
#include "archive/foreign_zip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "archive/allocations.h"
#include "support/refusal.h"
#include "support/samples.h"
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

TEST(StandIns, AreSearchedInTheMemoryOfAFewPieces) {
  const auto allocations = [](std::size_t pieces) {
    const Blob model = zeros(pieces << 16U);
    const std::size_t before = allocations_so_far();
    EXPECT_FALSE(has_stand_in(model, std::size_t{1} << 16U));
    return allocations_so_far() - before;
  };
  EXPECT_EQ(allocations(20), allocations(3));
}

TEST(StandIns, AreNotFoundInNothing) { EXPECT_FALSE(has_stand_in({}, 1)); }

}  // namespace

}  // namespace onnxar::testing
