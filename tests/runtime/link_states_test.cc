// Links whose archive changes, moves, or is a part of another file: stale ones are detected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "archive/opened.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "runtime/linking.h"
#include "support/refusal.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

TEST_F(LinkTest, HoldsWhileTheArchiveExists) {
  const fs::path link = written();
  EXPECT_TRUE(verify_link(link));
  EXPECT_TRUE(passed(check(link, {.data = true, .strict = false, .load = {}})));
  fs::create_directory(folder_ / "moved");
  fs::rename(link, folder_ / "moved/y.onnx");
  fs::rename(archive_, folder_ / "moved/x.onnxar");
  EXPECT_TRUE(verify_link(folder_ / "moved/y.onnx"));
}

TEST_F(LinkTest, HoldsAfterTheModelWasReplaced) {
  const fs::path link = written();
  const fs::path inline_before = folder_ / "before.onnx";
  unpack(archive_, inline_before, saved_as(Format::onnx_inline));
  for (int i = 0; i < 2; ++i) {
    const Message other = model_of({linked_floats("b", 300, "b"), floats("new", 400, static_cast<std::uint32_t>(i))});
    onnxar::replace(archive_, folder_.write_file("m.onnx", other.view()), unsynced_edit());
    EXPECT_TRUE(verify_link(link));
    EXPECT_TRUE(passed(check(link)));
  }
  unpack(link, folder_ / "after.onnx", saved_as(Format::onnx_inline));
  EXPECT_EQ(folder_.read_file("after.onnx"), folder_.read_file("before.onnx"));
}

TEST_F(LinkTest, HoldsDuringAnEditAndFailsWithoutArchive) {
  const fs::path link = written();
  Blob torn = built_.bytes;
  insert(torn, torn.size(), blob("PK\3\4 the beginning of an edit"));
  folder_.write_file("x.onnxar", torn);
  EXPECT_TRUE(verify_link(link));
  fs::remove(archive_);
  EXPECT_EQ(code_of([&] { verify_link(link); }), Code::onnx_external_missing);
}

TEST_F(LinkTest, IsStaleAfterUndo) {
  onnxar::replace(archive_, folder_.write_file("m.onnx", model_of({linked_floats("b", 300, "b")}).view()),
                  unsynced_edit());
  const fs::path link = written();
  EXPECT_TRUE(verify_link(link));
  undo(archive_, {.sync = false});
  expect_stale(link);
  // A later edit may make the file longer than before.
  onnxar::replace(archive_, folder_.write_file("m.onnx", model_of({floats("new", 4000)}).view()), unsynced_edit());
  expect_stale(link);
}

TEST_F(LinkTest, IsStaleAfterRepack) {
  const fs::path link = written();
  repack(archive_, archive_, {.alignment = 4096, .output = over_existing});
  expect_stale(link);
}

// Such a link cannot replace the model of the archive.
TEST_F(LinkTest, IsStaleWithOtherWeightsInTheSamePlaces) {
  const fs::path link = written();
  start_with(archive_of(model_of({linked_floats("a", 300, "a"), linked_floats("b", 300, "b")}),
                        {zip_entry("a", pattern(1200, 3)), zip_entry("b", pattern(1200, 4))}));
  expect_stale(link);
  EXPECT_EQ(code_of([&] { onnxar::replace(archive_, link, unsynced_edit()); }), Code::onnx_link_stale);
  EXPECT_EQ(folder_.read_file("x.onnxar"), built_.bytes);
}

TEST_F(LinkTest, IsStaleWhenTheFileIsNotAnArchive) {
  const fs::path link = written();
  for (const Blob& bytes : {Blob(), blob("no archive"), Blob(built_.bytes.size()), pattern(5000)}) {
    folder_.write_file("x.onnxar", bytes);
    expect_stale(link);
  }
}

TEST_F(LinkTest, RefusesArchiveBehindASymbolicLink) {
  ONNXAR_NEEDS_SYMLINKS();
  fs::create_directory(folder_ / "model");
  const fs::path link = written();
  fs::rename(link, folder_ / "model/x.onnx");
  make_symlink("../x.onnxar", folder_ / "model/x.onnxar");
  EXPECT_EQ(code_of([&] { verify_link(folder_ / "model/x.onnx"); }), Code::onnx_external_outside);
}

TEST_F(LinkTest, EachPartOfTheMarkerCounts) {
  const Messages right = marker_of(built_);
  EXPECT_TRUE(verify_link(folder_.write_file("m.onnx", linked_model(right).view())));
  const std::pair<std::size_t, Message> wrong[] = {{1, string_entry(size_key, std::to_string(built_.bytes.size() - 1))},
                                                   {1, string_entry(size_key, std::to_string(built_.bytes.size() + 1))},
                                                   {1, string_entry(size_key, "18446744073709551615")},
                                                   {2, string_entry(model_key, "1")},
                                                   {3, string_entry(directory_key, "1")}};
  for (const auto& [index, entry] : wrong) {
    Messages marker = right;
    marker[index] = entry;
    expect_stale(folder_.write_file("m.onnx", linked_model(marker).view()));
  }
}

TEST_F(LinkTest, FolderOfTheMarkerIsWhereTheArchiveIs) {
  const auto linked_to = [&](std::string_view folder) {
    Messages marker = marker_of(built_);
    marker.push_back(string_entry("onnxar.link.folder", folder));
    return folder_.write_file("variants/cpu/m.onnx", linked_model(marker).view());
  };
  for (const std::string_view folder : {"../..", "../../variants/.."}) {
    const fs::path link = linked_to(folder);
    EXPECT_TRUE(verify_link(link)) << folder;
    EXPECT_THAT(ids_of(check(link, {.data = true})), ElementsAre());
    pack(link, folder_ / "again.onnxar", saved_as(Format::archive));
    const Archive again = Archive::open(folder_ / "again.onnxar");
    EXPECT_EQ(again.entry(0).size, 1200U);
    fs::remove(folder_ / "again.onnxar");
  }
  // An absolute path could name another machine.
  EXPECT_EQ(code_of([&] { verify_link(linked_to(fs::canonical(folder_.path()).generic_string())); }),
            Code::onnx_link_bad_marker);
  const fs::path link = linked_to("../missing");
  EXPECT_EQ(code_of([&] { verify_link(link); }), Code::onnx_external_missing);
  LoadOptions load;
  load.external_data_dir = folder_.path();  // what the caller says counts
  pack(link, folder_ / "again.onnxar", saved_as(Format::archive), load);
  linked_to("../..");
  folder_.write_file("x.onnxar", smallest_archive().bytes);
  expect_stale(link);
}

TEST_F(LinkTest, BrokenMarkersAreRefused) {
  const Messages right = marker_of(built_);
  Messages missing = right, twice = right, no_number = right;
  missing.pop_back();
  twice.push_back(right[0]);
  no_number[2] = string_entry(model_key, "x");
  for (const Messages& marker : {missing, twice, no_number}) {
    const fs::path path = folder_.write_file("m.onnx", linked_model(marker).view());
    const auto place = static_cast<std::uint64_t>(linked_model({}).size());
    expect_error(error_of([&] { verify_link(path); }), Code::onnx_link_bad_marker, "", place);
    expect_refused(folder_, path, saved_as(Format::archive), Code::onnx_link_bad_marker, "", place);
    EXPECT_THAT(ids_of(check(path)), ElementsAre("error onnx.link.bad_marker"));
  }
}

TEST_F(LinkTest, RecognisesWhatIsNotALink) {
  EXPECT_FALSE(verify_link(archive_));
  const std::string_view text = "ir_version: 8\n";
  EXPECT_FALSE(verify_link(folder_.write_file("m.txt", text)));
  EXPECT_FALSE(verify_link(as_bytes(text), folder_.path()));
  EXPECT_FALSE(verify_link(folder_.write_file("m.onnx", model_of({floats("w", 300)}).view())));
  folder_.write_file("w.bin", pattern(1200));
  EXPECT_FALSE(verify_link(folder_.write_file("m.onnx", model_of({linked_floats("w", 300, "w.bin")}).view())));
  // Tools that load a link and save it in a different form keep its metadata.
  EXPECT_FALSE(verify_link(folder_.write_file("m.onnx", model_with({floats("w", 300)}, marker_of(built_)).view())));
  EXPECT_FALSE(verify_link(
      folder_.write_file("m.onnx", model_with({linked_floats("w", 300, "w.bin")}, marker_of(built_)).view())));
}

// --- Archives in other files -----------------------------------------------------------------------------------------

class EmbeddedLinkTest : public LinkTest {
 protected:
  static constexpr std::uint64_t begin = 4160;

  void SetUp() override {
    LinkTest::SetUp();
    host_ = folder_.write_file("host", around(built_.bytes, begin));
  }
  [[nodiscard]] Messages host_marker() const {
    Messages marker = marker_of(built_, "host");
    marker.insert(marker.begin() + 1, string_entry(offset_key, std::to_string(begin)));
    return marker;
  }
  [[nodiscard]] Message host_link(const Messages& marker) const {
    return model_with({linked_floats("a", 300, "host", begin + offset_of("a")),
                       linked_floats("b", 300, "host", begin + offset_of("b"))},
                      marker);
  }
  [[nodiscard]] LinkOptions of_range(bool overwrite = false) const {
    return {.output = {.overwrite = overwrite, .sync = false}, .offset = begin, .length = built_.bytes.size()};
  }
  fs::path written_beside_host() {
    onnxar::link(host_, folder_ / "h.onnx", of_range());
    return folder_ / "h.onnx";
  }

  fs::path host_;
};

TEST_F(EmbeddedLinkTest, OffsetsCountFromTheFirstByteOfTheFile) {
  const Link link = make_link(host_, of_range());
  EXPECT_EQ(link.model, host_link(host_marker()).view());
  EXPECT_EQ(link.archive, "host");
  EXPECT_EQ(link.archive_size, built_.bytes.size());
  EXPECT_TRUE(verify_link(link.model, link.folder));
  fs::resize_file(host_, begin + built_.bytes.size());
  EXPECT_EQ(make_link(host_, {.offset = begin}).model, link.model) << "without a length, to the end of the file";
}

TEST_F(EmbeddedLinkTest, CopyForAHubHoldsOnlyTheArchive) {
  EXPECT_EQ(link_for_hub(host_, folder_.path(), of_range()).tensors, 2U);
  EXPECT_EQ(read_file(folder_ / "model.onnx_data"), built_.bytes);
  EXPECT_TRUE(verify_link(folder_ / "model.onnx"));
}

TEST_F(EmbeddedLinkTest, HostFileIsNotTheCopyForAHub) {
  fs::rename(host_, folder_ / "model.onnx_data");
  expect_error(error_of([&] { link_for_hub(folder_ / "model.onnx_data", folder_.path(), of_range(true)); }),
               {.code = Code::usage_argument, .says = {"choose a different folder"}});
  EXPECT_FALSE(fs::exists(folder_ / "model.onnx"));
}

TEST_F(EmbeddedLinkTest, LinkForAHubDoesNotReplaceItsHostFile) {
  fs::rename(host_, folder_ / "model.onnx");
  const Blob before = folder_.read_file("model.onnx");
  expect_error(error_of([&] { link_for_hub(folder_ / "model.onnx", folder_.path(), of_range(true)); }),
               {.code = Code::usage_argument, .path = folder_ / "model.onnx"});
  EXPECT_EQ(folder_.read_file("model.onnx"), before);
  EXPECT_FALSE(fs::exists(folder_ / "model.onnx_data"));
}

TEST_F(EmbeddedLinkTest, ArchiveAtTheFirstByteNeedsNoOffsetInTheMarker) {
  Blob bytes = built_.bytes;
  bytes.resize(bytes.size() + 100);
  folder_.write_file("x.onnxar", bytes);
  EXPECT_EQ(make_link(archive_, {.length = built_.bytes.size()}).model, expected().view());
}

TEST_F(EmbeddedLinkTest, FileIsReadAsAnyOtherLink) {
  const fs::path link = written_beside_host();
  EXPECT_TRUE(verify_link(link));
  EXPECT_TRUE(passed(check(link, {.data = true, .strict = false, .load = {}})));
  unpack(link, folder_ / "out.onnx", saved_as(Format::onnx_inline));
  EXPECT_EQ(folder_.read_file("out.onnx"), model_of({floats("a", 300, 1), floats("b", 300, 2)}).view());
}

TEST_F(EmbeddedLinkTest, BytesAroundTheArchiveMayChange) {
  const fs::path link = written_beside_host();
  Blob bytes = around(built_.bytes, begin);
  bytes.front() ^= std::byte{1};
  bytes.resize(begin + built_.bytes.size());
  folder_.write_file("host", bytes);
  EXPECT_TRUE(verify_link(link));
}

TEST_F(EmbeddedLinkTest, IsStaleOnceAnotherArchiveIsThere) {
  const fs::path link = written_beside_host();
  folder_.write_file("host", around(built_.bytes, begin + 64));
  expect_stale(link);
  const Built other = archive_of(model_of({linked_floats("a", 300, "a")}), {zip_entry("a", pattern(1200, 3))});
  folder_.write_file("host", around(other.bytes, begin));
  expect_stale(link);
  fs::resize_file(host_, begin - 1);
  expect_stale(link);
}

TEST_F(EmbeddedLinkTest, RangesOutsideTheArchivesEntriesAreRefused) {
  for (const std::uint64_t offset : {std::uint64_t{0}, offset_of("a"), begin - 64, begin + offset_of("a") + 4}) {
    const Message link = model_with({linked_floats("w", 300, "host", offset)}, host_marker());
    const fs::path path = folder_.write_file("m.onnx", link.view());
    EXPECT_EQ(code_of([&] { pack(path, folder_ / "out", saved_as(Format::archive)); }),
              Code::onnx_external_out_of_range)
        << offset;
  }
}

TEST_F(EmbeddedLinkTest, MarkersThatNameNoPlaceForAnArchiveAreRefused) {
  Messages odd = host_marker(), far = odd;
  odd[1] = string_entry(offset_key, "4161");
  EXPECT_EQ(code_of([&] { verify_link(folder_.write_file("m.onnx", host_link(odd).view())); }),
            Code::onnx_link_bad_marker);
  far[1] = string_entry(offset_key, "18446744073709551552");  // a multiple of 64 that no file reaches
  expect_stale(folder_.write_file("m.onnx", host_link(far).view()));
}

TEST_F(EmbeddedLinkTest, RangesThatHoldNoArchiveAreRefused) {
  const auto refused = [&](std::uint64_t offset, std::optional<std::uint64_t> length = std::nullopt) {
    const auto error = error_of([&] { make_link(host_, {.offset = offset, .length = length}); });
    EXPECT_EQ(error.path(), fs::canonical(host_)) << error.what();
    return id(error.code());
  };
  EXPECT_EQ(refused(begin + 4), "usage.argument");
  EXPECT_EQ(refused(begin, 1U << 30U), "usage.argument");
  EXPECT_EQ(refused(begin), "zip.end.not_last");
  EXPECT_EQ(refused(begin + 64, built_.bytes.size() - 64), "zip.end.directory_bounds");
}

}  // namespace
}  // namespace onnxar::testing
