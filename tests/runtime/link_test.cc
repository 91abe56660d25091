// Links: every location of the model names the archive's file.
#include "onnxar/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "onnxar/archive_writer.h"
#include "runtime/linking.h"
#include "support/refusal.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST_F(LinkTest, AddsOffsetAndLengthAndDropsChecksums) {
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

TEST_F(LinkTest, ReportCountsTensorsOutsideInitializers) {
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

TEST_F(LinkTest, OnlyAttributesOfConstantsAreLinked) {
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

TEST_F(LinkTest, RecognisesConstantsInBothOnnxDomainsOnly) {
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
  expect_error(error_of([&] { make_link(archive_); }), {.code = Code::onnx_external_missing, .entry = model_entry});
  SetUp();
  flip_bit(built_.bytes, offset_of(model_entry) + 3);
  folder_.write_file("x.onnxar", built_.bytes);
  EXPECT_EQ(code_of([&] { make_link(archive_); }), Code::zip_data_crc);
}

TEST_F(LinkTest, UnmarkedFormDoesNotNameTheState) {
  start_with(archive_of(model_with({linked_floats("w", 300, "w").external_data("prepacked_0", "M+1|0;1;0")},
                                   {string_entry("author", "me"), string_entry(size_key, "1")}),
                        {zip_entry("w", pattern(1200, 5))}));
  EXPECT_EQ(make_link(archive_, {}, LinkForm::unmarked).model,
            model_with({linked_floats("w", 300, "x.onnxar", offset_of("w"))}, {string_entry("author", "me")}).view());
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
  expect_error(error_of([&] { onnxar::link(archive_, folder_ / "other/x.onnx", unsynced_link()); }),
               {.code = Code::usage_argument, .says = {(fs::canonical(folder_.path()) / "x.onnx").string()}});
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
  onnxar::link(archive_, output, {.output = over_existing});
  EXPECT_EQ(folder_.read_file("x.onnx"), expected().view());
}

TEST_F(LinkTest, ArchiveItselfIsNeverReplaced) {
  ONNXAR_NEEDS_SYMLINKS();
  make_symlink("x.onnxar", folder_ / "y.onnx");
  for (const char* name : {"x.onnxar", "y.onnx"}) {
    expect_error(error_of([&] { onnxar::link(archive_, folder_ / name, {.output = over_existing}); }),
                 {.code = Code::usage_argument, .says = {"archive that the link needs"}});
  }
  EXPECT_EQ(folder_.read_file("x.onnxar"), built_.bytes);
}

// --- Links as models -------------------------------------------------------------------------------------------------

TEST_F(LinkTest, PackingALinkDropsTheMarker) {
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

TEST_F(LinkTest, DropsMarkerOfLoadedModelAndKeepsMetadata) {
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

// A link has a copy of data that runtimes do not look for outside, and each of thousands of graphs may name it.
TEST_F(LinkTest, LinksOfAllGraphsTogetherHaveOneLimit) {
  constexpr std::size_t size = 16384;
  const Message node_of_a = node("Other", {}, {"b"}, {attribute_t("t", linked_floats("", size, "a"))});
  const Message other = model({.graph = graph({.nodes = {node_of_a}})});
  const auto start_with_graphs = [&](std::size_t count) {
    std::vector<ZipEntry> entries = {zip_entry("a", pattern(4 * size))};
    for (std::size_t i = 0; i < count; ++i) entries.push_back(zip_entry(std::to_string(i) + ".onnx", other.view()));
    start_with(archive_of(model_of({}), std::move(entries)));
  };
  start_with_graphs(4);
  const auto links = link_graphs(archive_, unsynced_link());
  ASSERT_EQ(links.size(), 5U);
  EXPECT_EQ(links[4].path.filename(), "3.onnx");
  EXPECT_EQ(folder_.read_file("3.onnx"), make_link(archive_, {.graph = "3"}).model);
  start_with_graphs(16);
  EXPECT_EQ(code_of([&] { link_graphs(archive_, {.output = {.overwrite = true}}); }), Code::onnx_model_expansion);
}

TEST_F(LinkTest, DoesNotReplaceAnArchiveThatIsBeingEdited) {
  LinkOptions options = unsynced_link();
  options.output.overwrite = true;
  const fs::path target = folder_.write_file("y.onnxar", smallest_archive().bytes);
  const fs::path copy = folder_.write_file("hub/model.onnx_data", smallest_archive().bytes);
  const ArchiveEditor editor = ArchiveEditor::open(target), other = ArchiveEditor::open(copy);
  EXPECT_EQ(code_of([&] { return onnxar::link(archive_, target, options); }), Code::archive_busy);
  EXPECT_EQ(code_of([&] { return link_for_hub(archive_, folder_ / "hub", options); }), Code::archive_busy);
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
