// `finish` and `commit` prove the model before they publish the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::IsEmpty;

/// Gives the bytes in two pieces, so that they are never contiguous.
class TwoPieces final : public ByteSource {
 public:
  explicit TwoPieces(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override {
    sink(bytes_.first(bytes_.size() / 2));
    sink(bytes_.subspan(bytes_.size() / 2));
  }

 private:
  Bytes bytes_;
};

template <typename Action>
std::optional<Error> thrown_by(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

Message linking_to(const std::string& location, std::uint64_t offset = 0) {
  return model_of({linked_floats("w", 4, location, offset)});
}

class WrittenModel : public ::testing::Test {
 protected:
  /// The code with which a writer that has an entry `k` of 32 bytes refuses the model.
  std::optional<Error> refused(Bytes model, bool verify = true) {
    const WriterOptions options = {.output = {.overwrite = true, .sync = false}, .verify_model = verify};
    const auto error = thrown_by([&] {
      ArchiveWriter writer = ArchiveWriter::create(folder_ / "a", options);
      writer.add("k", pattern(32));
      writer.finish(TwoPieces(model));
    });
    if (error) {
      EXPECT_THAT(folder_.file_names(), IsEmpty()) << "a file was published";
      EXPECT_EQ(error->path(), folder_ / "a");
      EXPECT_EQ(error->entry(), model_entry_name);
    }
    return error;
  }
  std::optional<Code> code(Bytes model) {
    const auto error = refused(model);
    return error ? std::optional(error->code()) : std::nullopt;
  }

  TempDir folder_;
};

TEST_F(WrittenModel, OfWhichEveryLinkNamesAnEntryIsPublished) {
  const Message model = model_of({linked_floats("all", 8, "k"), linked_floats("part", 4, "k", 16), floats("in", 3)});
  EXPECT_FALSE(refused(model.view()));
  EXPECT_EQ(Archive::open(folder_ / "a").size(), 2U);
}

TEST_F(WrittenModel, ThatIsNotAModelProtoIsRefused) {
  EXPECT_EQ(code(as_bytes("this is not a model")).has_value(), true);
  EXPECT_EQ(code(Bytes()), Code::onnx_model_invalid);
  const Message cut = linking_to("k");
  EXPECT_EQ(code(Bytes(cut.view()).first(cut.view().size() - 1)), Code::wire_truncated);
}

TEST_F(WrittenModel, WithMissingLocationIsRefusedNamingTheTensor) {
  const Message model = linking_to("weights.bin");
  expect_error(refused(model.view()), {.code = Code::onnx_external_missing,
                                       .hint = Hint::add_entry_first,
                                       .says = {"tensor \"w\" (graph.initializer[0])", "\"weights.bin\""}});
}

TEST_F(WrittenModel, WithALinkToNoPartOfAnEntryIsRefused) {
  EXPECT_EQ(code(linking_to("#onnxar:1234:0").view()), Code::onnx_external_marker);
  EXPECT_EQ(code(linking_to("*/_ORT_MEM_ADDR_/*", 4096).view()), Code::onnx_external_marker);
  expect_error(refused(linking_to("k", 17).view()), {.code = Code::onnx_external_out_of_range, .hint = Hint::none});
  EXPECT_EQ(code(linking_to("k", ~std::uint64_t{0}).view()), Code::onnx_external_out_of_range);
  const Message five = tensor("w", dtype::float32, {5}).external("k", {}, 16);
  EXPECT_EQ(code(model_of({five}).view()), Code::onnx_tensor_length);
}

TEST_F(WrittenModel, IsNotCheckedIfTheCallerSaysSo) {
  EXPECT_FALSE(refused(as_bytes("this is not a model"), false));
  EXPECT_EQ(Archive::open(folder_ / "a").size(), 2U);
}

TEST(CommittedModel, MayLinkToEntriesThatWereThereAndThatWereAdded) {
  const TempDir folder;
  const auto path = folder.write_file("a", archive_of(linking_to("old"), {zip_entry("old", pattern(16))}).bytes);
  {
    ArchiveEditor editor = ArchiveEditor::open(path, {.output = {.sync = false}});
    editor.add("new", pattern(16));
    editor.commit(model_of({linked_floats("a", 4, "old"), linked_floats("b", 4, "new")}).view());
  }
  EXPECT_EQ(Archive::open(path).size(), 3U);
}

TEST(CommittedModel, WithMissingLocationLeavesArchiveUnchanged) {
  const TempDir folder;
  const Built before = archive_of(linking_to("old"), {zip_entry("old", pattern(16))});
  const auto path = folder.write_file("a", before.bytes);
  const auto error_of_commit = [&](bool verify) {
    return thrown_by([&] {
      ArchiveEditor editor = ArchiveEditor::open(path, {.output = {.sync = false}, .verify_model = verify});
      editor.commit(linking_to("none").view());
    });
  };
  expect_error(error_of_commit(true), {.code = Code::onnx_external_missing});
  EXPECT_EQ(folder.read_file("a"), before.bytes);
  EXPECT_FALSE(error_of_commit(false));
}

}  // namespace
}  // namespace onnxar::testing
