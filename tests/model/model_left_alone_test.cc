// Models whose external data is not loaded: their links do not change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "onnxar/archive.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LeftAloneTest : public ::testing::Test {
 protected:
  LeftAloneTest() {
    options_.load_external_data = false;
    path_ = folder_.write_file("m", model_.view());
  }

  [[nodiscard]] Code code_of_saving(const fs::path& output, Format format) const {
    const SaveOptions options = saved_as(format, over_existing);
    const Error error = error_of([&] { Model::load(path_, options_).save(output, options); });
    EXPECT_EQ(error.path(), output);
    return error.code();
  }

  TempDir folder_;
  LoadOptions options_;
  Message model_ = model_of({linked_floats("far", 300, "w.bin", 64), floats("near", 300, 1)});
  fs::path path_;
};

TEST_F(LeftAloneTest, NothingIsOpenedAndPayloadSaysSo) {
  Model model = Model::load(path_, options_);  // w.bin does not exist
  EXPECT_EQ(copied(model.payload(initializer(model, 1))), pattern(1200, 1));
  EXPECT_EQ(initializer(model, 0).external_data(0).value(), "w.bin");
  expect_error(error_of([&] { static_cast<void>(model.payload(initializer(model, 0))); }),
               {.code = Code::usage_not_loaded, .says = {"\"far\"", "\"w.bin\""}});
}

TEST_F(LeftAloneTest, AnInlineModelInTheSameFolderKeepsTheLinks) {
  const Model model = Model::load(path_, options_);
  model.save(folder_ / "again", saved_as(Format::onnx_inline));
  EXPECT_EQ(folder_.read_file("again"), model_.view());
  folder_.write_file("w.bin", pattern(64 + 1200));
  const Model whole = Model::load(folder_ / "again");
  const Blob file = pattern(64 + 1200);
  EXPECT_EQ(copied(whole.payload(initializer(whole, 0))), Blob(file.begin() + 64, file.end()));
}

TEST_F(LeftAloneTest, WhatWouldBreakTheLinksIsRefused) {
  folder_.write_file("w.bin", pattern(64 + 1200));
  const TempDir elsewhere;
  EXPECT_EQ(code_of_saving(elsewhere / "out", Format::onnx_inline), Code::usage_not_loaded);
  EXPECT_EQ(code_of_saving(folder_ / "out", Format::archive), Code::usage_not_loaded);
  EXPECT_EQ(code_of_saving(folder_ / "out", Format::onnx_external), Code::usage_not_loaded);
  EXPECT_EQ(code_of_saving(folder_ / "w.bin", Format::onnx_inline), Code::usage_not_loaded) << "the output is the data";
  EXPECT_EQ(folder_.read_file("w.bin"), pattern(64 + 1200));
  EXPECT_THAT(folder_.file_names(), ElementsAre("m", "w.bin"));
  EXPECT_THAT(elsewhere.file_names(), IsEmpty());
}

TEST_F(LeftAloneTest, TensorWithNewDataIsSaved) {
  Model model = Model::load(path_, options_);
  model.set_payload(initializer(model, 0), ByteSpan::own(pattern(1200, 9)));
  model.save(folder_ / "out", saved_as(Format::archive));
  const Archive archive = Archive::open(folder_ / "out");
  EXPECT_EQ(archive.resolve("far").size(), 1200U);
}

TEST_F(LeftAloneTest, DataOfBytesAndArchivesIsNotLoaded) {
  EXPECT_NO_THROW(static_cast<void>(Model::load(model_.view(), options_)));
  const Blob archive = archive_of(model_of({linked_floats("w", 300, "k")}), {zip_entry("k", pattern(1200))}).bytes;
  const Model model = Model::load(archive, options_);
  EXPECT_EQ(error_of([&] { static_cast<void>(model.payload(initializer(model, 0))); }).code(), Code::usage_not_loaded);
  EXPECT_EQ(error_of([&] { model.save(folder_ / "out", saved_as(Format::onnx_inline)); }).code(),
            Code::usage_not_loaded);
}

TEST_F(LeftAloneTest, ALinkThatIsWrongByItselfIsStillRefused) {
  for (const char* location : {"", "#onnxar:1:0", "*/_ORT_MEM_ADDR_/*"}) {
    EXPECT_THROW(static_cast<void>(Model::load(model_of({linked_floats("w", 1, location)}).view(), options_)), Error);
  }
  const Message wrong_length = tensor("w", dtype::float32, {2}).external("w.bin", {}, 4);
  EXPECT_EQ(error_of([&] { static_cast<void>(Model::load(model_of({wrong_length}).view(), options_)); }).code(),
            Code::onnx_tensor_length);
}

}  // namespace
}  // namespace onnxar::testing
