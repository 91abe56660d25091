// K4 to K8: the marker says which archive, in which state, a link was made from.
#include "source/link_marker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
}

TEST_F(LinkMarkerTest, NumbersArePlainAndInRange) {
  for (const std::string_view size : {"", "-1", "0x10", "01", "18446744073709551616"}) {
    Messages pairs = complete();
    pairs[1] = string_entry("onnxar.link.size", size);
    EXPECT_EQ(code_of_reading(pairs), Code::onnx_link_bad_marker) << size;
  }
  Messages pairs = complete();
  pairs[2] = string_entry("onnxar.link.model_crc32", "4294967296");
  EXPECT_EQ(code_of_reading(pairs), Code::onnx_link_bad_marker);
  pairs = complete();
  pairs.push_back(string_entry("onnxar.link.offset", "65"));
  EXPECT_EQ(code_of_reading(pairs), Code::onnx_link_bad_marker) << "archives begin at multiples of 64";
}

TEST_F(LinkMarkerTest, ADamagedMarkerStillNamesItsArchives) {
  const Blob model = with({string_entry("onnxar.link.archive", "x"), string_entry("onnxar.link.archive", "y")});
  EXPECT_TRUE(LinkMarker::is_in(model));
  EXPECT_THAT(LinkMarker::archives(model), ElementsAre("x", "y"));
}

TEST_F(LinkMarkerTest, NoEntryMayHaveTheNameOfTheArchivesFile) {
  const auto refused = [this](const std::string& file) {
    return refusal_of([&] {
      refuse_own_name(archive_, file);
      return true;
    });
  };
  EXPECT_EQ(refused("folder/x.onnxar"), std::nullopt);
  EXPECT_EQ(refused("folder/W"), (ErrorContext{Code::usage_own_name, "w", 0}));
}

}  // namespace
}  // namespace onnxar::testing
