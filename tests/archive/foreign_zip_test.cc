// The model of a foreign zip, and who wrote it.
#include "archive/foreign_zip.h"

#include <gtest/gtest.h>

#include "support/refusal.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

Blob foreign_zip_of(const std::vector<std::string>& names) {
  ZipBuilder builder;
  for (const std::string& name : names) builder.entries.push_back(plain_entry(zip_entry(name, {})));
  return builder.build();
}

/// Name, folder and dialect of the model.
struct Found {
  std::string name, folder;
  Dialect dialect;
  bool operator==(const Found&) const = default;
};

Found found_in(const std::vector<std::string>& names, bool stand_ins = false) {
  const Blob bytes = foreign_zip_of(names);
  const auto directory = zip::ForeignDirectory::read(bytes, {});
  ZipExpansion expansion(bytes.size(), 8);
  const ForeignModel model =
      find_foreign_model(bytes, directory, expansion, [=](const ByteSource&) { return stand_ins; });
  return {std::string(directory.entries()[model.index].name), model.folder, model.dialect};
}

std::optional<Code> code_of_zip(const std::vector<std::string>& names) {
  return code_of([&] { return found_in(names).name; });
}

TEST(ForeignModel, FixedNamesComeBeforeOtherModels) {
  EXPECT_EQ(found_in({"a.onnx", "__MODEL_PROTO"}), (Found{"__MODEL_PROTO", "", Dialect::archive}));
  EXPECT_EQ(found_in({"w", "__MODEL_PROTO"}, true), (Found{"__MODEL_PROTO", "", Dialect::pytorch}));
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

}  // namespace
}  // namespace onnxar::testing
