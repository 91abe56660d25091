// Entries that the model links to, among those that repacking renames or leaves out.
#include <gtest/gtest.h>

#include "archive/repacking.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

/// A model of one tensor, whose data is the entry `location`.
Blob model_linking_to(std::string_view location) {
  const Message linked = tensor("w", dtype::float32, {25}).external(location, 0, 100);
  return model({.graph = graph({.initializers = {linked}})}).take();
}

Blob zip_with(std::string_view model_name, std::string_view location) {
  return zip_of({plain_entry(zip_entry(model_name, model_linking_to(location))),
                 plain_entry(zip_entry("w", pattern(100))), plain_entry(zip_entry("one.txt", pattern(10))),
                 plain_entry(zip_entry("two.txt", pattern(20))), plain_entry(zip_entry("__MACOSX/._w", pattern(100)))})
      .build();
}

TEST_F(RepackTest, SeveralEntriesAreRenamedAfterOneLookAtTheLinks) {
  for (const std::string_view name : {std::string_view("__MODEL_PROTO"), std::string_view("model.onnx")}) {
    RepackOptions options = quick();
    options.rename = {{"one.txt", "first.txt"}, {"two.txt", "second.txt"}};
    const Blob made = repacked(zip_with(name, "w"), options);
    const Archive archive = Archive::open(made, nullptr);
    EXPECT_TRUE(archive.find("first.txt") && archive.find("second.txt"));
    EXPECT_FALSE(archive.find("one.txt") || archive.find("two.txt"));
  }
}

TEST_F(RepackTest, AnEntryThatTheModelLinksToIsNotLeftOut) {
  const Blob zip = zip_with("model.onnx", "__MACOSX/._w");
  const auto error = error_if_any([&] { return repack(input(zip), folder_ / "out", quick()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::archive_name_reserved);
  EXPECT_EQ(error->entry(), "__MACOSX/._w");
}

}  // namespace
}  // namespace onnxar::testing
