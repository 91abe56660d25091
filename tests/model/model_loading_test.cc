// The owners of a loaded model's bytes: each row of the table in model.h, with address and lifetime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "onnxar/archive.h"
#include "support/mappings.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t count = 2048;  // floats of each tensor: more than a page

enum class Form : std::uint8_t { archive, inside, external };

/// A model with the tensors `a` and `b`, in each form.
class Sample {
 public:
  explicit Sample(Form form) : form_(form) {
    const auto linked = [](std::string_view at, std::uint64_t offset) {
      return linked_floats(at, count, "w.bin", offset);
    };
    switch (form) {
      case Form::archive:
        bytes_ = archive_of(model_of({linked_floats("a", count, "a"), linked_floats("b", count, "b")}),
                            {zip_entry("a", data(0)), zip_entry("b", data(1))})
                     .bytes;
        break;
      case Form::inside: bytes_ = model_of({floats("a", count, 0), floats("b", count, 1)}).take(); break;
      case Form::external: bytes_ = model_of({linked("a", 0), linked("b", 4 * count)}).take();
    }
  }

  static Blob data(std::uint32_t index) { return pattern(4 * count, index); }

  [[nodiscard]] const Blob& bytes() const { return bytes_; }
  /// Writes it into a folder.
  [[nodiscard]] fs::path write(const TempDir& folder) const {
    Blob both = data(0);
    const Blob second = data(1);
    both.insert(both.end(), second.begin(), second.end());
    if (form_ == Form::external) folder.write_file("w.bin", both);
    return folder.write_file("model", bytes_);
  }
  /// The file that payloads lie in.
  [[nodiscard]] fs::path data_file(const TempDir& folder) const {
    return fs::canonical(folder / (form_ == Form::external ? "w.bin" : "model"));
  }

 private:
  Form form_;
  Blob bytes_;
};

void remove_all(const TempDir& folder) {
  for (const std::string& name : folder.file_names()) fs::remove(folder / name);
}

/// Takes spans in every possible way, and reads them after the model and the original span are gone.
void expect_spans_outlive(std::optional<Model> model) {
  ByteSpan first = model->payload(initializer(*model, 0));
  ByteSpan second = model->payload(initializer(*model, 1));
  std::optional<ByteSpan> copy = first;
  ByteSpan moved = std::move(second);
  model.reset();
  EXPECT_EQ(copied(first), Sample::data(0));
  EXPECT_EQ(copied(moved), Sample::data(1));
  first = ByteSpan();
  EXPECT_EQ(copied(*copy), Sample::data(0)) << "a copy has a share of its own";
  moved = std::move(*copy);
  copy.reset();
  EXPECT_EQ(copied(moved), Sample::data(0)) << "a share goes with a move";
}

void expect_right_bytes(const Model& model) {
  for (const int i : {0, 1}) {
    EXPECT_EQ(copied(model.payload(initializer(model, i))), Sample::data(static_cast<std::uint32_t>(i)));
    EXPECT_EQ(copied(model.span(initializer(model, i))), Sample::data(static_cast<std::uint32_t>(i)));
  }
}

ByteSpan passed_on(ByteSpan span) { return span; }

void expect_owned(const Model& model) {
  for (const int i : {0, 1}) {
    const ByteSpan& span = model.span(initializer(model, i));
    EXPECT_TRUE(span.owned());
    EXPECT_EQ(span.owner(), nullptr);
    const ByteSpan copy = passed_on(span);
    EXPECT_TRUE(copy.owned());
    EXPECT_NE(copy.bytes().data(), span.bytes().data()) << "copying an owned span copies its bytes";
    EXPECT_EQ(model.payload(initializer(model, i)).size(), span.size());
    const ByteSpan share = model.payload(initializer(model, i));
    EXPECT_EQ(share.bytes().data(), span.bytes().data()) << "a payload is a share, never a copy";
  }
}

enum class Owner : std::uint8_t { none, shared };

void expect_borrowed(const Model& model, Owner owner) {
  for (const int i : {0, 1}) {
    const ByteSpan& span = model.span(initializer(model, i));
    EXPECT_FALSE(span.owned());
    EXPECT_EQ(span.owner() != nullptr, owner == Owner::shared);
    const ByteSpan copy = passed_on(span);
    EXPECT_EQ(copy.bytes().data(), span.bytes().data());
    const ByteSpan share = model.payload(initializer(model, i));
    EXPECT_EQ(share.bytes().data(), span.bytes().data());
    EXPECT_EQ(share.owner(), span.owner());
  }
}

class LoadingTest : public ::testing::TestWithParam<Form> {
 protected:
  Sample sample_{GetParam()};
  TempDir folder_;
};
INSTANTIATE_TEST_SUITE_P(
    Every, LoadingTest, ::testing::Values(Form::archive, Form::inside, Form::external), [](const auto& form) {
      return std::string(form.param == Form::archive ? "archive" : form.param == Form::inside ? "inline" : "external");
    });

TEST_P(LoadingTest, PayloadsOfAFileLieInItsMappingAndShareIt) {
  for (const LoadOptions& options : {LoadOptions(), with_no_copy(true)}) {
    std::optional<Model> model = Model::load(sample_.write(folder_), options);
    expect_right_bytes(*model);
    expect_borrowed(*model, Owner::shared);
    const fs::path file = sample_.data_file(folder_);
    for (const int i : {0, 1}) {
      EXPECT_EQ(mapped_file_at(model->span(initializer(*model, i)).bytes().data()), file);
    }
    EXPECT_EQ(mappings_of(file), 1U);
    remove_all(folder_);
    expect_spans_outlive(std::exchange(model, std::nullopt));
  }
}

TEST_P(LoadingTest, TheMappingGoesWithTheLastSpan) {
  std::optional<Model> model = Model::load(sample_.write(folder_));
  const fs::path file = sample_.data_file(folder_);
  ByteSpan span = model->payload(initializer(*model, 0));
  model.reset();
  EXPECT_EQ(mappings_of(file), 1U);
  span = ByteSpan();
  EXPECT_EQ(mappings_of(file), 0U);
}

TEST_P(LoadingTest, PayloadsOfAFileAreOwnedOnRequest) {
  std::optional<Model> model = Model::load(sample_.write(folder_), with_no_copy(false));
  const fs::path file = sample_.data_file(folder_);
  EXPECT_EQ(mappings_of(file), 0U) << "the file is let go";
  remove_all(folder_);
  expect_right_bytes(*model);
  expect_owned(*model);
  expect_spans_outlive(std::exchange(model, std::nullopt));
}

TEST_P(LoadingTest, EveryNumberOfThreadsCopiesTheSame) {
  for (const std::size_t threads : {1U, 2U, 8U}) {
    LoadOptions options = with_no_copy(false);
    options.threads = threads;
    const Model model = Model::load(sample_.write(folder_), options);
    expect_right_bytes(model);
    expect_owned(model);
  }
}

TEST_P(LoadingTest, PayloadsArePrefetchedAsAskedFor) {
  for (const Prefetch prefetch : {Prefetch::none, Prefetch::will_need, Prefetch::populate}) {
    for (const bool no_copy : {true, false}) {
      LoadOptions options = with_no_copy(no_copy);
      options.prefetch = prefetch;
      expect_right_bytes(Model::load(sample_.write(folder_), options));
    }
  }
}

// --- bytes in memory ------------------------------------------------------------------------------------------------

/// The forms that need no folder.
class LoadingBytesTest : public LoadingTest {};
INSTANTIATE_TEST_SUITE_P(Every, LoadingBytesTest, ::testing::Values(Form::archive, Form::inside),
                         [](const auto& form) { return form.param == Form::archive ? "archive" : "inline"; });

TEST_P(LoadingBytesTest, CopiesBytesWithoutAnOwnerByDefault) {
  for (const LoadOptions& options : {LoadOptions(), with_no_copy(false)}) {
    std::optional<Model> model;
    {
      const Blob bytes = sample_.bytes();
      model = Model::load(bytes, options);
      EXPECT_FALSE(lies_in(model->span(initializer(*model, 0)).bytes(), bytes));
    }
    expect_right_bytes(*model);
    expect_owned(*model);
    expect_spans_outlive(std::exchange(model, std::nullopt));
  }
}

TEST_P(LoadingBytesTest, BytesThatTheCallerKeepsAreBorrowed) {
  const Blob bytes = sample_.bytes();
  std::optional<Model> model = Model::load(bytes, with_no_copy(true));
  expect_right_bytes(*model);
  expect_borrowed(*model, Owner::none);
  for (const int i : {0, 1}) EXPECT_TRUE(lies_in(model->span(initializer(*model, i)).bytes(), bytes));
  expect_spans_outlive(std::exchange(model, std::nullopt));  // the caller's bytes are still there
}

TEST_P(LoadingBytesTest, BytesWithAnOwnerAreBorrowedAndShared) {
  for (const LoadOptions& options : {LoadOptions(), with_no_copy(true)}) {
    auto bytes = std::make_shared<const Blob>(sample_.bytes());
    const std::weak_ptr<const Blob> watched = bytes;
    std::optional<Model> model = Model::load(*bytes, bytes, options);
    expect_right_bytes(*model);
    expect_borrowed(*model, Owner::shared);
    for (const int i : {0, 1}) EXPECT_TRUE(lies_in(model->span(initializer(*model, i)).bytes(), *bytes));
    bytes.reset();
    EXPECT_FALSE(watched.expired());
    expect_spans_outlive(std::exchange(model, std::nullopt));
    EXPECT_TRUE(watched.expired()) << "nobody else holds a share";
  }
}

TEST_P(LoadingBytesTest, BytesWithAnOwnerAreLetGoIfTheModelHasCopies) {
  auto bytes = std::make_shared<const Blob>(sample_.bytes());
  const std::weak_ptr<const Blob> watched = bytes;
  const Bytes view = *bytes;
  const Model model = Model::load(view, std::exchange(bytes, nullptr), with_no_copy(false));
  EXPECT_TRUE(watched.expired());
  expect_right_bytes(model);
  expect_owned(model);
}

TEST_P(LoadingBytesTest, AModelOfBytesIsSavedWhenTheyAreGone) {
  const Model model = Model::load(Blob(sample_.bytes()));  // gone at the semicolon
  for (const Format format : {Format::archive, Format::onnx_external, Format::onnx_inline}) {
    model.save(folder_ / "out", saved_as(format, over_existing));
    expect_right_bytes(Model::load(folder_ / "out"));
  }
}

TEST(LoadingBytes, NeverBorrowsFromATemporary) {
  const Blob bytes = model_of({floats("w", 300)}).view();
  EXPECT_EQ(code_of([&] { Model::load(Blob(bytes), with_no_copy(true)); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { Model::load(Blob(bytes), with_no_copy(false)); }), std::nullopt);
  EXPECT_EQ(code_of([&] { Model::load(bytes, with_no_copy(true)); }), std::nullopt) << "the caller keeps them";
}

TEST(LoadingBytes, ExternalDataLiesInTheFolderThatIsNamed) {
  const TempDir folder;
  const Sample sample(Form::external);
  static_cast<void>(sample.write(folder));
  LoadOptions options = with_no_copy(true);
  options.external_data_dir = folder.path();
  std::optional<Model> model = Model::load(sample.bytes(), options);
  expect_borrowed(*model, Owner::shared);
  EXPECT_EQ(mappings_of(sample.data_file(folder)), 1U);
  expect_spans_outlive(std::exchange(model, std::nullopt));
  options.no_copy = std::nullopt;
  const Model copies = Model::load(sample.bytes(), options);
  expect_owned(copies);
  EXPECT_EQ(mappings_of(sample.data_file(folder)), 0U);
}

TEST(LoadingBytes, ExternalDataWithoutAFolderIsAnError) {
  const Message first = linked_floats("first", 4, "w.bin");
  const Message model = model_of({first});
  const Error error = error_of([&] { static_cast<void>(Model::load(model.view())); });
  expect_error(error, Code::onnx_external_missing, "", place_in(model.view(), first));
  EXPECT_THAT(error.what(), HasSubstr("tensor \"first\" (graph.initializer[0])"));
  EXPECT_EQ(error.advice().hint, Hint::data_folder_of_bytes);
  EXPECT_TRUE(error.path().empty());
}

TEST(LoadingBytes, FaultsAreLocatedInTheBytesOfAnArchive) {
  const Message tensor = linked_floats("w", 4, "nothing");
  const Built archive = archive_of(model_of({tensor}));
  const Error error = error_of([&] { static_cast<void>(Model::load(archive.bytes)); });
  expect_error(error, Code::onnx_external_missing, "__MODEL_PROTO", place_in(archive.bytes, tensor));
  Built broken = archive_of(model_of({linked_floats("w", 4, "k")}), {zip_entry("k", pattern(16))});
  broken.bytes.at(broken.entry("k").header_offset) ^= std::byte{1};
  const Error local = error_of([&] { static_cast<void>(Model::load(broken.bytes)); });
  expect_error(local, Code::zip_local_header, "k", broken.entry("k").header_offset);
}

TEST(LoadingBytes, WhatIsNotAModelIsRefused) {
  expect_error(error_of([] { static_cast<void>(Model::load(Bytes())); }), Code::onnx_model_invalid, "", 0);
  const Blob archive = smallest_archive().bytes;
  const Error cut = error_of([&] { static_cast<void>(Model::load(Bytes(archive).first(archive.size() - 1))); });
  EXPECT_EQ(id(cut.code()), "zip.end.missing");
}

TEST(LoadingBytes, SideFilesAreKeptWhenTheBytesAreGone) {
  const TempDir folder;
  const Model model =
      Model::load(archive_of(model_of({floats("w", 1)}), {zip_entry("notes.txt", blob("hello"))}).bytes);
  model.save(folder / "out", saved_as(Format::archive));
  const Archive archive = Archive::open(folder / "out");
  EXPECT_EQ(as_text(archive.resolve("notes.txt")), "hello");
}

}  // namespace
}  // namespace onnxar::testing
