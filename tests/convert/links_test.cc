// K4 to K8: the marker says which archive, in which state, a link was made from.
#include "convert/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

class LinkMarkerTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::optional<Code> code_of_opening(const LinkMarker& marker, Bytes file) const {
    return code_of([&] { return marker.open(file, nullptr, "x", nullptr).size(); });
  }
  /// A model with these pairs as its metadata.
  static Blob with(const Messages& pairs) { return model({.metadata = pairs}).view(); }
  static Messages complete() {
    return {string_entry("onnxar.link.archive", "x.onnxar"), string_entry("onnxar.link.size", "4096"),
            string_entry("onnxar.link.model_crc32", "1"), string_entry("onnxar.link.directory_crc32", "2")};
  }
  static std::optional<Code> code_of_reading(const Messages& pairs) {
    return code_of([&] { return LinkMarker::read(with(pairs)).has_value(); });
  }

  Built built_ = archive_of(model_of({linked_floats("w", 25, "w")}), {zip_entry("w", pattern(100, 1))});
  Archive archive_ = Archive::open(built_.bytes, nullptr);
};

TEST_F(LinkMarkerTest, IsReadAsItWasWritten) {
  for (const std::uint64_t offset : {0U, 128U}) {
    const LinkMarker written = LinkMarker::of(archive_, offset, "x.onnxar");
    const std::string fields = written.fields();
    const auto read = LinkMarker::read(as_bytes(fields));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->archive, "x.onnxar");
    EXPECT_EQ(read->offset, offset);
    EXPECT_EQ(read->size, built_.bytes.size());
    EXPECT_EQ(read->model_crc32, written.model_crc32);
    EXPECT_EQ(read->directory_crc32, written.directory_crc32);
  }
}

TEST_F(LinkMarkerTest, OpensTheStateThatItIsOf) {
  const LinkMarker marker = LinkMarker::of(archive_, 0, "x.onnxar");
  EXPECT_EQ(code_of_opening(marker, built_.bytes), std::nullopt);
  const Blob edited = append_edit(built_, model_of({linked_floats("v", 25, "w")}).view()).bytes;
  EXPECT_EQ(code_of_opening(marker, edited), std::nullopt) << "the state is a prefix of the edited file";
  EXPECT_EQ(code_of_opening(marker, Bytes(built_.bytes).first(100)), Code::onnx_link_stale);
  const Built other = archive_of(model_of({linked_floats("w", 25, "w")}), {zip_entry("w", pattern(100, 2))});
  EXPECT_EQ(code_of_opening(marker, other.bytes), Code::onnx_link_stale) << "of the same size, with other weights";
}

TEST_F(LinkMarkerTest, EveryPartIsThereOnce) {
  EXPECT_EQ(code_of_reading(complete()), std::nullopt);
  EXPECT_FALSE(LinkMarker::read(with({string_entry("author", "a")})));
  for (std::size_t i = 0; i < complete().size(); ++i) {
    Messages pairs = complete();
    pairs.push_back(pairs[i]);
    EXPECT_EQ(code_of_reading(pairs), Code::onnx_link_bad_marker) << i << " twice";
    pairs = complete();
    pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(code_of_reading(pairs), Code::onnx_link_bad_marker) << "without " << i;
  }
  Messages two_offsets = complete();
  for (int i = 0; i < 2; ++i) two_offsets.push_back(string_entry("onnxar.link.offset", "64"));
  EXPECT_EQ(code_of_reading(two_offsets), Code::onnx_link_bad_marker);
}

TEST_F(LinkMarkerTest, FolderIsThereAtMostOnce) {
  LinkMarker written = LinkMarker::of(archive_, 0, "x.onnxar");
  written.folder = "../a b/c";
  const std::string fields = written.fields();
  const auto read = LinkMarker::read(as_bytes(fields));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->folder, "../a b/c");
  Messages folders = complete();
  folders.push_back(string_entry("onnxar.link.folder", "a"));
  EXPECT_EQ(code_of_reading(folders), std::nullopt);
  folders.push_back(string_entry("onnxar.link.folder", "a"));
  EXPECT_EQ(code_of_reading(folders), Code::onnx_link_bad_marker);
  for (const std::string_view folder : {std::string_view(), std::string_view("a\0b", 3), std::string_view("/a")}) {
    folders = complete();
    folders.push_back(string_entry("onnxar.link.folder", folder));
    EXPECT_EQ(code_of_reading(folders), Code::onnx_link_bad_marker);
  }
}

TEST_F(LinkMarkerTest, NumbersArePlainAndInRange) {
  const auto expect_bad = [](std::size_t place, std::string_view key, std::string_view number) {
    Messages pairs = complete();
    pairs.resize(std::max(pairs.size(), place + 1));
    pairs[place] = string_entry(key, number);
    EXPECT_EQ(code_of_reading(pairs), Code::onnx_link_bad_marker) << key << ' ' << number;
  };
  for (const std::string_view number : {"", "x", "-1", "0x10", "01", "18446744073709551616"}) {
    expect_bad(1, "onnxar.link.size", number);
    expect_bad(2, "onnxar.link.model_crc32", number);
  }
  expect_bad(2, "onnxar.link.model_crc32", "4294967296");
  for (const std::string_view number : {"", "x", "-64", "0064", "63", "65", "4161", "18446744073709551616"}) {
    expect_bad(4, "onnxar.link.offset", number);  // archives begin at multiples of 64
  }
}

TEST_F(LinkMarkerTest, ADamagedMarkerStillNamesItsArchives) {
  const Blob model = with({string_entry("onnxar.link.archive", "x"), string_entry("onnxar.link.archive", "y")});
  EXPECT_THAT(LinkMarker::archives(model), ElementsAre("x", "y"));
}

}  // namespace
}  // namespace onnxar::testing
