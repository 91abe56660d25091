// Links: every location of the model names the archive's file. Stale links are detected.
#include "onnxar/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/edit.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Strings = std::vector<std::string>;

constexpr std::string_view archive_key = "onnxar.link.archive", offset_key = "onnxar.link.offset",
                           size_key = "onnxar.link.size", model_key = "onnxar.link.model_crc32",
                           directory_key = "onnxar.link.directory_crc32";

LinkOptions unsynced_link() { return {.output = {.sync = false}}; }

/// The marker of a link to this archive.
Messages marker_of(const Built& archive, std::string_view name = "x.onnxar") {
  const Bytes directory = Bytes(archive.bytes).subspan(archive.directory_offset, archive.directory_size);
  return {string_entry(archive_key, name), string_entry(size_key, std::to_string(archive.bytes.size())),
          string_entry(model_key, std::to_string(bitwise_crc32(archive.data_of(model_entry)))),
          string_entry(directory_key, std::to_string(bitwise_crc32(directory)))};
}

Message model_with(const Messages& initializers, const Messages& metadata) {
  return model({.graph = graph({.initializers = initializers}), .metadata = metadata});
}

class LinkTest : public ::testing::Test {
 protected:
  /// An archive of two weights, `a` and `b`, of 300 floats each.
  void SetUp() override {
    start_with(archive_of(model_of({linked_floats("a", 300, "a"), linked_floats("b", 300, "b")}),
                          {zip_entry("a", pattern(1200, 1)), zip_entry("b", pattern(1200, 2))}));
  }
  void start_with(Built built) {
    built_ = std::move(built);
    archive_ = folder_.write_file("x.onnxar", built_.bytes);
  }
  [[nodiscard]] std::uint64_t offset_of(std::string_view entry) const { return built_.entry(entry).data_offset; }
  /// The model of SetUp as a link.
  [[nodiscard]] Message expected() const { return linked_model(marker_of(built_)); }
  [[nodiscard]] Message linked_model(const Messages& metadata) const {
    return model_with(
        {linked_floats("a", 300, "x.onnxar", offset_of("a")), linked_floats("b", 300, "x.onnxar", offset_of("b"))},
        metadata);
  }
  fs::path written() {
    const fs::path link = folder_ / "x.onnx";
    onnxar::link(archive_, link, unsynced_link());
    return link;
  }
  /// Expects the link `after` of an archive with the model `before` and an entry `w` of this size. `after` gets the
  /// place of the entry's data and the marker.
  void expect_link(const Message& before, const std::function<Message(std::uint64_t, const Messages&)>& after,
                   std::size_t size = 1200) {
    start_with(archive_of(before, {zip_entry("w", pattern(size, 5))}));
    EXPECT_EQ(make_link(archive_).model, after(offset_of("w"), marker_of(built_)).view());
  }
  void expect_stale(const fs::path& link) {
    const auto error = error_of([&] { verify_link(link); });
    EXPECT_EQ(id(error.code()), "onnx.link.stale") << error.what();
    EXPECT_EQ(error.path(), link);
    EXPECT_EQ(error.advice().hint, Hint::link_again);
    expect_refused(folder_, link, saved_as(Format::archive), Code::onnx_link_stale, "", {});
    EXPECT_THAT(ids_of(check(link)), ElementsAre("error onnx.link.stale"));
  }

  TempDir folder_;
  fs::path archive_;
  Built built_;
};

// --- Links in memory -------------------------------------------------------------------------------------------------

TEST_F(LinkTest, IsTheModelWithReferencesIntoTheFile) {
  const Link link = make_link(archive_);
  EXPECT_EQ(link.model, expected().view());
  EXPECT_EQ(link.folder, fs::canonical(folder_.path()));
  EXPECT_EQ(link.archive, "x.onnxar");
  EXPECT_EQ(link.archive_size, built_.bytes.size());
  EXPECT_EQ(link.tensors, 2U);
  EXPECT_THAT(folder_.file_names(), ElementsAre("x.onnxar"));
}

/// A model with a tensor at every site; `make` makes each tensor.
Message every_site(const std::function<Message()>& make, const Messages& metadata) {
  const auto sparse = [&] { return sparse_tensor(make(), make(), {5000}); };
  const Message inner =
      graph({.nodes = {constant("y", make())}, .initializers = {make()}, .sparse_initializers = {sparse()}});
  const Message many = node(
      "Constant", {"a"}, {"b"},
      {attribute_g("body", inner), attribute_graphs("all", {inner, inner}), attribute_tensors("some", {make(), make()}),
       attribute_sparse_tensor("one", sparse()), attribute_sparse_tensors("more", {sparse(), sparse()})});
  return model(
      {.graph =
           graph({.nodes = {many, constant("c", make())}, .initializers = {make()}, .sparse_initializers = {sparse()}}),
       .metadata = metadata,
       .functions = {function({.nodes = {many}, .attribute_protos = {attribute_t("d", make())}})},
       .training = {training_info(inner, graph({.initializers = {make()}}))}});
}

TEST_F(LinkTest, EverySiteIsRewritten) {
  const auto before = [] { return linked_floats("w", 300, "w"); };
  expect_link(every_site(before, {}), [](std::uint64_t begin, const Messages& marker) {
    return every_site([&] { return linked_floats("w", 300, "x.onnxar", begin); }, marker);
  });
}

TEST_F(LinkTest, OffsetAndLengthAreAlwaysThereAndChecksumsStayBehind) {
  const Message slice = linked_floats("w", 100, "w", 400), all = tensor("w", dtype::float32, {300}).external("w"),
                rest = tensor("w", dtype::float32, {200}).external("w", 400),
                summed = linked_floats("w", 300, "w").external_data("checksum", std::string(40, 'a'));
  expect_link(model_of({slice, all, rest, summed}), [](std::uint64_t begin, const Messages& marker) {
    return model_with({linked_floats("w", 100, "x.onnxar", begin + 400), linked_floats("w", 300, "x.onnxar", begin),
                       linked_floats("w", 200, "x.onnxar", begin + 400), linked_floats("w", 300, "x.onnxar", begin)},
                      marker);
  });
}

TEST_F(LinkTest, OldMarkerIsReplacedAndOtherMetadataStays) {
  const Message first = string_entry("author", "somebody"), last = string_entry("onnxar.linker", "is no marker");
  const Message before = model_with({linked_floats("w", 300, "w")},
                                    {first, string_entry(size_key, "1"), string_entry("onnxar.link.other", ""), last});
  expect_link(before, [&](std::uint64_t begin, Messages metadata) {
    metadata.insert(metadata.begin(), {first, last});
    return model_with({linked_floats("w", 300, "x.onnxar", begin)}, metadata);
  });
}

TEST_F(LinkTest, SmallDataComesInline) {
  // ONNX Runtime takes a length of 0 for the whole file.
  for (const std::size_t count : {0U, 1U, 31U, 32U}) {
    const Dims dims = {static_cast<std::int64_t>(count)};
    const auto before = tensor("e", dtype::float32, dims).external("w", {}, 4 * count);
    const auto link = [&](std::uint64_t begin, const Messages& marker) {
      TensorBuilder after = tensor("e", dtype::float32, dims);
      return model_with({count == 32 ? after.external("x.onnxar", begin, 128) : after.raw_data(pattern(4 * count, 5))},
                        marker);
    };
    expect_link(model_of({before}), link, 4 * count);
  }
}

TEST_F(LinkTest, ReportCountsTensorsThatAreNotInitializersOfTheGraph) {
  const Message tensor = linked_floats("w", 300, "w");
  const Message inner = graph({.initializers = {tensor}});
  const Message outer =
      graph({.nodes = {node("If", {"c"}, {"a"}, {attribute_g("then_branch", inner)}), constant("b", tensor)},
             .initializers = {tensor}});
  start_with(archive_of(model({.graph = outer}), {zip_entry("w", pattern(1200, 5))}));
  const LinkReport report = onnxar::link(archive_, folder_ / "x.onnx", unsynced_link());
  EXPECT_EQ(report.tensors, 3U);
  EXPECT_EQ(report.nested, 2U);
}

TEST_F(LinkTest, AttributesComeInlineButThoseOfConstants) {
  // ONNX Runtime reads tensors at other sites without resolving their external data.
  const auto with = [](const Message& held, const Message& constant_held, const Messages& metadata) {
    const Message inner = graph({.initializers = {constant_held}});
    return model({.graph = graph({.nodes = {node("Other", {}, {"a"},
                                                 {attribute_t("t", held), attribute_tensors("many", {held}),
                                                  attribute_sparse_tensor("s", sparse_tensor(held, held, {300})),
                                                  attribute_g("g", inner)}),
                                            constant("b", constant_held)}}),
                  .metadata = metadata});
  };
  const Message before = linked_floats("w", 300, "w");
  expect_link(with(before, before, {}), [&](std::uint64_t begin, const Messages& marker) {
    return with(floats("w", 300, 5), linked_floats("w", 300, "x.onnxar", begin), marker);
  });
}

TEST_F(LinkTest, AConstantIsOnnxsOwnUnderBothNamesOfItsDomainAndUnderNoOther) {
  const auto with = [](std::string_view domain, const Message& held, const Messages& metadata) {
    return model({.graph = graph({.nodes = {node("Constant", {}, {"a"}, {attribute_t("value", held)}, domain)}}),
                  .metadata = metadata});
  };
  const Message before = linked_floats("w", 300, "w");
  for (const std::string_view domain : {"", "ai.onnx"}) {
    expect_link(with(domain, before, {}), [&](std::uint64_t begin, const Messages& marker) {
      return with(domain, linked_floats("w", 300, "x.onnxar", begin), marker);
    });
  }
  expect_link(with("com.other", before, {}),
              [&](std::uint64_t, const Messages& marker) { return with("com.other", floats("w", 300, 5), marker); });
}

TEST_F(LinkTest, TensorsInTheModelStay) {
  const Message inline_tensor = floats("i", 300, 7);
  expect_link(model_of({inline_tensor}),
              [&](std::uint64_t, const Messages& marker) { return model_with({inline_tensor}, marker); });
}

TEST_F(LinkTest, SymbolicLinksAreResolved) {
  ONNXAR_NEEDS_SYMLINKS();
  fs::create_directory(folder_ / "cache");
  fs::rename(archive_, folder_ / "cache/blob");
  make_symlink("cache/blob", archive_);
  const Link link = make_link(archive_);
  EXPECT_EQ(link.folder, fs::canonical(folder_ / "cache"));
  EXPECT_EQ(link.archive, "blob");
  EXPECT_TRUE(verify_link(link.model, link.folder));
}

TEST_F(LinkTest, NamesThatAreNoLocationsAreRefused) {
  for (const std::string name : {"#x.onnxar", "a..b.onnxar", "..x"}) {
    const fs::path path = folder_.write_file(name, built_.bytes);
    const auto error = error_of([&] { make_link(path); });
    EXPECT_EQ(id(error.code()), "usage.argument") << name;
    EXPECT_EQ(error.path(), fs::canonical(path));
    EXPECT_THAT(error.what(), HasSubstr("rename"));
  }
}

TEST_F(LinkTest, BrokenArchivesAndModelsAreRefused) {
  EXPECT_EQ(code_of([&] { make_link(folder_ / "none.onnxar"); }), Code::io_not_found);
  EXPECT_EQ(code_of([&] { make_link(folder_.path()); }), Code::io_not_a_file);
  EXPECT_EQ(code_of([&] { make_link(folder_.write_file("m.onnx", model_of({}).view())); }), Code::zip_end_missing);
  start_with(archive_of(model_of({linked_floats("w", 300, "none")})));
  const auto missing = error_of([&] { make_link(archive_); });
  EXPECT_EQ(id(missing.code()), "onnx.external_data.missing");
  EXPECT_EQ(missing.entry(), model_entry);
  SetUp();
  flip_bit(built_.bytes, offset_of(model_entry) + 3);
  folder_.write_file("x.onnxar", built_.bytes);
  EXPECT_EQ(code_of([&] { make_link(archive_); }), Code::zip_data_crc);
}

// --- Files -----------------------------------------------------------------------------------------------------------

TEST_F(LinkTest, FileHoldsTheSameBytesAndADryRunWritesNone) {
  EXPECT_EQ(onnxar::link(archive_, folder_ / "x.onnx", {.output = {.dry_run = true}}).model_bytes, expected().size());
  EXPECT_THAT(folder_.file_names(), ElementsAre("x.onnxar"));
  const LinkReport report = onnxar::link(archive_, folder_ / "x.onnx");
  EXPECT_EQ(folder_.read_file("x.onnx"), make_link(archive_).model);
  EXPECT_EQ(report.tensors, 2U);
  EXPECT_EQ(report.model_bytes, expected().size());
  EXPECT_THAT(folder_.file_names(), ElementsAre("x.onnx", "x.onnxar"));
}

TEST_F(LinkTest, FileLiesBesideItsArchive) {
  ONNXAR_NEEDS_SYMLINKS();
  fs::create_directory(folder_ / "other");
  make_symlink("..", folder_ / "other/up");
  const auto error = error_of([&] { onnxar::link(archive_, folder_ / "other/x.onnx", unsynced_link()); });
  EXPECT_EQ(id(error.code()), "usage.argument");
  EXPECT_THAT(error.what(), HasSubstr((fs::canonical(folder_.path()) / "x.onnx").string()));
  onnxar::link(archive_, folder_ / "other/up/x.onnx", unsynced_link());  // a symbolic link to the right folder
  EXPECT_THAT(folder_.file_names(), ElementsAre("other/", "other/up", "x.onnx", "x.onnxar"));
}

TEST_F(LinkTest, FileLiesBesideWhatASymbolicLinkLeadsTo) {
  ONNXAR_NEEDS_SYMLINKS();
  fs::create_directory(folder_ / "cache");
  fs::rename(archive_, folder_ / "cache/blob");
  make_symlink("cache/blob", archive_);
  EXPECT_EQ(code_of([&] { onnxar::link(archive_, folder_ / "x.onnx", unsynced_link()); }), Code::usage_argument);
  onnxar::link(archive_, folder_ / "cache/x.onnx", unsynced_link());
  EXPECT_TRUE(verify_link(folder_ / "cache/x.onnx"));
}

TEST_F(LinkTest, ExistingOutputIsLeftUnlessItMayBeReplaced) {
  const fs::path output = folder_.write_file("x.onnx", "old");
  EXPECT_EQ(code_of([&] { onnxar::link(archive_, output, unsynced_link()); }), Code::output_exists);
  EXPECT_EQ(folder_.read_text("x.onnx"), "old");
  LinkOptions options = unsynced_link();
  options.output.overwrite = true;
  onnxar::link(archive_, output, options);
  EXPECT_EQ(folder_.read_file("x.onnx"), expected().view());
}

TEST_F(LinkTest, ArchiveItselfIsNeverReplaced) {
  ONNXAR_NEEDS_SYMLINKS();
  LinkOptions options = unsynced_link();
  options.output.overwrite = true;
  make_symlink("x.onnxar", folder_ / "y.onnx");
  for (const char* name : {"x.onnxar", "y.onnx"}) {
    const auto error = error_of([&] { onnxar::link(archive_, folder_ / name, options); });
    EXPECT_EQ(id(error.code()), "usage.argument");
    EXPECT_THAT(error.what(), HasSubstr("archive that the link needs"));
  }
  EXPECT_EQ(folder_.read_file("x.onnxar"), built_.bytes);
}

// --- States of the archive -------------------------------------------------------------------------------------------

TEST_F(LinkTest, HoldsAsLongAsTheArchiveIsThere) {
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

TEST_F(LinkTest, HoldsWhileAnEditGoesOnAndMissesItsDataOnceTheArchiveIsGone) {
  const fs::path link = written();
  Blob torn = built_.bytes;
  for (const std::byte byte : blob("PK\3\4 the beginning of an edit")) torn.push_back(byte);
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
  const RepackOptions options = {.alignment = 4096, .output = {.overwrite = true, .sync = false}};
  repack(archive_, archive_, options);
  expect_stale(link);
}

TEST_F(LinkTest, IsStaleWhenOtherWeightsAreInTheSamePlacesAndDoesNotGoBack) {
  const fs::path link = written();
  start_with(archive_of(model_of({linked_floats("a", 300, "a"), linked_floats("b", 300, "b")}),
                        {zip_entry("a", pattern(1200, 3)), zip_entry("b", pattern(1200, 4))}));
  expect_stale(link);
  EXPECT_EQ(code_of([&] { onnxar::replace(archive_, link, unsynced_edit()); }), Code::onnx_link_stale);
  EXPECT_EQ(folder_.read_file("x.onnxar"), built_.bytes);
}

TEST_F(LinkTest, IsStaleWhenTheFileIsNoArchiveAnyMore) {
  const fs::path link = written();
  for (const Blob& bytes : {Blob(), blob("no archive"), Blob(built_.bytes.size()), pattern(5000)}) {
    folder_.write_file("x.onnxar", bytes);
    expect_stale(link);
  }
}

TEST_F(LinkTest, ArchiveThatIsReachedThroughAPlantedLinkIsRefused) {
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

TEST_F(LinkTest, WhatIsNoLinkIsToldApart) {
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
    host_ = folder_.write_file("host", around(built_.bytes));
  }
  /// A file of unrelated bytes that contains an archive.
  static Blob around(const Blob& archive) {
    Blob bytes = pattern(begin, 3);
    bytes.insert(bytes.end(), archive.begin(), archive.end());
    const Blob behind = pattern(1000, 4);
    bytes.insert(bytes.end(), behind.begin(), behind.end());
    return bytes;
  }
  [[nodiscard]] ArchiveRange range() const { return {begin, built_.bytes.size()}; }
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
    return {.output = {.overwrite = overwrite, .sync = false}, .range = range()};
  }
  fs::path written_beside_host() {
    onnxar::link(host_, folder_ / "h.onnx", of_range());
    return folder_ / "h.onnx";
  }

  fs::path host_;
};

TEST_F(EmbeddedLinkTest, OffsetsCountFromTheFirstByteOfTheFile) {
  const Link link = make_link(host_, range());
  EXPECT_EQ(link.model, host_link(host_marker()).view());
  EXPECT_EQ(link.archive, "host");
  EXPECT_EQ(link.archive_size, built_.bytes.size());
  EXPECT_TRUE(verify_link(link.model, link.folder));
  fs::resize_file(host_, begin + built_.bytes.size());
  EXPECT_EQ(make_link(host_, {begin, std::nullopt}).model, link.model) << "without a length, to the end of the file";
}

TEST_F(EmbeddedLinkTest, CopyForAHubIsTheArchiveAlone) {
  EXPECT_EQ(link_for_hub(host_, folder_.path(), of_range()).tensors, 2U);
  EXPECT_EQ(read_file(folder_ / hub_data_name), built_.bytes);
  EXPECT_TRUE(verify_link(folder_ / hub_model_name));
}

TEST_F(EmbeddedLinkTest, FileThatHasTheArchiveInItIsNotTheCopyForAHub) {
  fs::rename(host_, folder_ / hub_data_name);
  const auto error = error_of([&] { link_for_hub(folder_ / hub_data_name, folder_.path(), of_range(true)); });
  EXPECT_EQ(error.code(), Code::usage_argument);
  EXPECT_THAT(error.message(), HasSubstr("choose a different folder"));
  EXPECT_FALSE(fs::exists(folder_ / hub_model_name));
}

TEST_F(EmbeddedLinkTest, ArchiveAtTheFirstByteNeedsNoOffsetInTheMarker) {
  Blob bytes = built_.bytes;
  bytes.resize(bytes.size() + 100);
  folder_.write_file("x.onnxar", bytes);
  EXPECT_EQ(make_link(archive_, {0, built_.bytes.size()}).model, expected().view());
}

TEST_F(EmbeddedLinkTest, FileIsReadAsAnyOtherLink) {
  const fs::path link = written_beside_host();
  EXPECT_TRUE(verify_link(link));
  EXPECT_TRUE(passed(check(link, {.data = true, .strict = false, .load = {}})));
  unpack(link, folder_ / "out.onnx", saved_as(Format::onnx_inline));
  EXPECT_EQ(folder_.read_file("out.onnx"), model_of({floats("a", 300, 1), floats("b", 300, 2)}).view());
}

TEST_F(EmbeddedLinkTest, WhatIsAroundTheArchiveMayChange) {
  const fs::path link = written_beside_host();
  Blob bytes = around(built_.bytes);
  bytes.front() ^= std::byte{1};
  bytes.resize(begin + built_.bytes.size());
  folder_.write_file("host", bytes);
  EXPECT_TRUE(verify_link(link));
}

TEST_F(EmbeddedLinkTest, IsStaleOnceAnotherArchiveIsThere) {
  const fs::path link = written_beside_host();
  Blob elsewhere(64);
  const Blob bytes = around(built_.bytes);
  elsewhere.insert(elsewhere.end(), bytes.begin(), bytes.end());
  folder_.write_file("host", elsewhere);
  expect_stale(link);
  const Built other = archive_of(model_of({linked_floats("a", 300, "a")}), {zip_entry("a", pattern(1200, 3))});
  folder_.write_file("host", around(other.bytes));
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
  const auto refused = [&](const ArchiveRange& range) {
    const auto error = error_of([&] { make_link(host_, range); });
    EXPECT_EQ(error.path(), fs::canonical(host_)) << error.what();
    return id(error.code());
  };
  EXPECT_EQ(refused({begin + 4, std::nullopt}), "usage.argument");
  EXPECT_EQ(refused({begin, 1U << 30U}), "usage.argument");
  EXPECT_EQ(refused({begin, std::nullopt}), "zip.end.not_last");
  EXPECT_EQ(refused({begin + 64, built_.bytes.size() - 64}), "zip.end.directory_bounds");
}

// --- Links as models -------------------------------------------------------------------------------------------------

TEST_F(LinkTest, PackedAgainIsNoLinkAnyMore) {
  const fs::path link = written();
  for (const Format format : {Format::archive, Format::onnx_inline, Format::onnx_external}) {
    const std::string name = std::to_string(static_cast<int>(format));
    for (const char* folder : {"direct", "by_link"}) {
      fs::create_directory(folder_ / folder);
      pack_or_unpack(folder == std::string("direct") ? archive_ : link, folder_ / folder / name, saved_as(format));
    }
    EXPECT_EQ(folder_.read_file("by_link/" + name), folder_.read_file("direct/" + name));
  }
  EXPECT_EQ(folder_.read_file("by_link/w.bin"), folder_.read_file("direct/w.bin"));
}

TEST_F(LinkTest, MarkerOfALoadedModelIsDroppedAndOtherMetadataStays) {
  const Message other = string_entry("author", "somebody");
  Messages metadata = marker_of(built_);
  metadata.push_back(other);
  const Message marked = model_with({floats("w", 300)}, metadata);
  unpack(folder_.write_file("m.onnx", marked.view()), folder_ / "out.onnx", saved_as(Format::onnx_inline));
  EXPECT_EQ(folder_.read_file("out.onnx"), model_with({floats("w", 300)}, {other}).view());
}

TEST_F(LinkTest, LinksThatAreNotLookedUpStayWhatTheyAre) {
  const fs::path link = written();
  fs::remove(archive_);  // so nothing can be opened
  unpack(link, folder_ / "copy.onnx", saved_as(Format::onnx_inline), {.load_external_data = false});
  EXPECT_EQ(folder_.read_file("copy.onnx"), expected().view());
}

TEST_F(LinkTest, WithoutMarkerItIsExternalDataAsAnyOther) {
  const fs::path plain = folder_.write_file("m.onnx", linked_model({}).view());
  EXPECT_FALSE(verify_link(plain));
  unpack(plain, folder_ / "out.onnx", saved_as(Format::onnx_inline));
  EXPECT_EQ(folder_.read_file("out.onnx"), model_of({floats("a", 300, 1), floats("b", 300, 2)}).view());
}

TEST_F(LinkTest, RangesMustLieInOneEntry) {
  for (const std::uint64_t offset : {std::uint64_t{0}, offset_of("a") - 4, offset_of("a") + 4, offset_of("b") + 4}) {
    const Message link = model_with({linked_floats("w", 300, "x.onnxar", offset)}, marker_of(built_));
    const fs::path path = folder_.write_file("m.onnx", link.view());
    const auto error = error_of([&] { pack(path, folder_ / "out", saved_as(Format::archive)); });
    EXPECT_EQ(id(error.code()), "onnx.external_data.out_of_range") << offset;
    EXPECT_THAT(error.what(), HasSubstr("tensor \"w\""));
  }
}

TEST_F(LinkTest, DamagedWeightsAreSeenWhereTheyAreCopied) {
  const fs::path link = written();
  flip_bit(built_.bytes, offset_of("b") + 7);
  folder_.write_file("x.onnxar", built_.bytes);
  EXPECT_TRUE(verify_link(link));
  EXPECT_TRUE(passed(check(link)));
  EXPECT_EQ(code_of([&] { pack(link, folder_ / "out", saved_as(Format::archive)); }), Code::zip_data_crc);
  const std::vector<Finding> found = check(link, {.data = true, .strict = false, .load = {}});
  EXPECT_THAT(ids_of(found), ElementsAre("error zip.data.crc"));
}

TEST_F(LinkTest, LinkInMemoryFindsItsArchiveInTheFolder) {
  const Link link = make_link(archive_);
  EXPECT_TRUE(verify_link(link.model, link.folder));
  fs::resize_file(archive_, built_.bytes.size() - 1);
  EXPECT_EQ(code_of([&] { verify_link(link.model, link.folder); }), Code::onnx_link_stale);
}

// --- Links as new models of their archive ----------------------------------------------------------------------------

TEST_F(LinkTest, GoesBackIntoItsArchiveAsItWas) {
  const fs::path link = written();
  const ReplaceReport report = onnxar::replace(archive_, link, unsynced_edit());
  EXPECT_EQ(report.entries_added, 0U);
  EXPECT_EQ(folder_.read_file("x.onnxar"), append_edit(built_, built_.data_of(model_entry)).bytes);
  onnxar::replace(archive_, link, unsynced_edit());  // the link is old by now, but still valid
  EXPECT_EQ(make_link(archive_).tensors, 2U);
}

TEST_F(LinkTest, GoesBackThroughASymbolicLink) {
  ONNXAR_NEEDS_SYMLINKS();
  const fs::path link = written();
  make_symlink("x.onnxar", folder_ / "y.onnxar");
  onnxar::replace(folder_ / "y.onnxar", link, unsynced_edit());
  EXPECT_EQ(folder_.read_file("x.onnxar"), append_edit(built_, built_.data_of(model_entry)).bytes);
}

}  // namespace
}  // namespace onnxar::testing
