// Entries that the model links to, among those that repacking renames or leaves out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "archive/accepted_crcs.h"
#include "archive/repacking.h"
#include "archive/zip_expansion.h"
#include "support/wire_builder.h"
#include "zip/foreign_directory.h"

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
  const auto error = error_of([&] { return repack(input(zip), folder_ / "out", quick()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::archive_name_reserved);
  EXPECT_EQ(error->entry(), "__MACOSX/._w");
}

TEST(AcceptedCrcs, HoldForTheBytesThatWereSummed) {
  ZipBuilder builder = zip_of({plain_entry(zip_entry("a", pattern(100))), plain_entry(zip_entry("b", pattern(50)))});
  builder.entry("a").in_both([](HeaderFields& header) { header.crc = 1U; });
  const Blob zip = builder.build();
  const auto directory = zip::ForeignDirectory::read(zip, {});
  RepackReport report;
  const std::vector<std::string> names = {"a"};
  const AcceptedCrcs accepted(zip, directory, names, report);
  const std::uint32_t crc = bitwise_crc32(pattern(100));
  EXPECT_TRUE(accepted.accepts(directory.entries()[0], crc));
  EXPECT_FALSE(accepted.accepts(directory.entries()[0], crc + 1)) << "the input changed after it was summed";
  EXPECT_FALSE(accepted.accepts(directory.entries()[1], crc));
}

TEST(ZipExpansion, NeedsNoRoomForEntriesThatAreNotUsed) {
  const Blob zip = zip_of({plain_entry(deflated_entry("a", pattern(1000))), plain_entry(zip_entry("b", pattern(500))),
                           plain_entry(deflated_entry("c", pattern(3000)))})
                       .build();
  const auto directory = zip::ForeignDirectory::read(zip, {});
  const ZipExpansion expansion(zip.size(), 8);
  const auto room = [&](std::string_view used) {
    return room_to_inflate(directory, expansion, [&](const zip::ForeignEntry& entry) { return entry.name == used; });
  };
  EXPECT_EQ(room("none"), 0U);
  EXPECT_EQ(room("a"), 1064U);
  EXPECT_EQ(room("b"), 0U);
  EXPECT_EQ(room("c"), 3064U);
}

}  // namespace
}  // namespace onnxar::testing
