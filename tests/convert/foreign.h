// Builds models as other programs zip them, and compares the archives that they become.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "support/samples.h"

namespace onnxar::testing {

/// A FLOAT tensor as PyTorch wrote it: `raw_data` holds the stand-in text.
inline TensorBuilder stand_in(std::string_view name, std::size_t count) {
  return tensor(name, dtype::float32, {static_cast<std::int64_t>(count)}).raw_data(blob("__EXTERNAL"));
}

/// The data of such a tensor.
inline Blob data_of(std::size_t count, std::uint32_t seed) { return pattern(4 * count, seed); }

enum class Storage : std::uint8_t { stored, deflated, streamed };

inline ZipEntry stored_as(Storage storage, std::string_view name, const Blob& data) {
  switch (storage) {
    case Storage::stored: return plain_entry(zip_entry(name, data));
    case Storage::deflated: return plain_entry(deflated_entry(name, data));
    case Storage::streamed: return plain_entry(streamed_entry(name, data));
  }
  return {};
}

using Files = std::vector<std::pair<std::string, Blob>>;

inline Built zip_of(const Files& files, Storage storage = Storage::stored) {
  ZipBuilder builder;
  for (const auto& [name, data] : files) builder.entries.push_back(stored_as(storage, name, data));
  return builder.build_placed();
}

inline LoadOptions foreign() { return {.foreign_zips = true}; }

class ForeignTest : public ::testing::Test {
 protected:
  /// The model after packing and unpacking it inline, which is the model that the exporter began with.
  Blob inlined(const std::filesystem::path& input, const LoadOptions& load = foreign()) {
    SaveOptions save = saved_as(Format::archive);
    save.output.overwrite = true;
    report_ = pack_or_unpack(input, folder_ / "out", save, load);
    const Archive archive = Archive::open(folder_ / "out");
    names_.clear();
    for (std::size_t i = 0; i < archive.size(); ++i) {
      archive.verify(archive.entry(i));
      names_.emplace_back(archive.entry(i).name);
    }
    save = saved_as(Format::onnx_inline);
    save.output.overwrite = true;
    pack_or_unpack(folder_ / "out", folder_ / "back", save);
    return folder_.read_file("back");
  }
  Blob inlined(const Blob& bytes) { return inlined(folder_.write_file("in", bytes)); }

  Error refusal(const Blob& bytes, const LoadOptions& load = foreign()) {
    const std::filesystem::path input = folder_.write_file("in", bytes);
    const std::vector<std::string> before = folder_.file_names();
    Error error = error_of([&] { pack(input, folder_ / "out", saved_as(Format::archive), load); });
    EXPECT_EQ(folder_.file_names(), before) << "something was left behind";
    EXPECT_EQ(error.path(), input);
    return error;
  }

  void expect_note(std::string_view part) const {
    ASSERT_FALSE(report_.remarks.empty());
    const auto note = std::ranges::find(report_.remarks, Code::zip_foreign, &Finding::code);
    ASSERT_NE(note, report_.remarks.end());
    EXPECT_EQ(note->severity, Severity::note);
    EXPECT_THAT(note->message, ::testing::HasSubstr(std::string(part)));
  }

  TempDir folder_;
  ConvertReport report_;
  std::vector<std::string> names_;  // of the archive
};

inline Files tf2onnx_files() {
  return {{"__MODEL_PROTO.onnx",
           model_of({linked_floats("conv/kernel", 300, "conv_kernel_0"), linked_floats("v", 400, "v_1")}).take()},
          {"conv_kernel_0", data_of(300, 1)},
          {"v_1", data_of(400, 2)}};
}

inline const Message& before_tf2onnx() {
  static const Message model = model_of({floats("conv/kernel", 300, 1), floats("v", 400, 2)});
  return model;
}

/// A model, its data file with both tensors, and other files.
inline Files model_and_files(const std::string& folder = "") {
  Blob data = data_of(300, 1);
  const Blob second = data_of(400, 2);
  data.insert(data.end(), second.begin(), second.end());
  return {{folder + "m.onnx",
           model_of({linked_floats("conv/kernel", 300, "data/w.bin"), linked_floats("v", 400, "./data/w.bin", 1200)})
               .take()},
          {folder + "data/w.bin", data},
          {folder + "tokenizer.json", blob("{}")}};
}

}  // namespace onnxar::testing
