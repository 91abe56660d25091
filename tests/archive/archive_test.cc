// Opening archives, finding entries, resolving what a model refers to.
#include "onnxar/archive.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "archive/allocations.h"
#include "archive/opened.h"
#include "archive/stretched.h"
#include "onnx/error_of.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace {

thread_local std::size_t allocations = 0;

}  // namespace

// Counts what this program allocates; array forms end up here, too. Never inlined: where GCC sees into one
// of a pair only, it takes the two for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* place = std::malloc(size == 0 ? 1 : size)) return place;
  throw std::bad_alloc();
}
// AddressSanitizer has a nothrow form of its own, whose blocks `std::free` must not get.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t /*size*/) noexcept { std::free(place); }

namespace onnxar::testing {

std::size_t allocations_so_far() noexcept { return allocations; }

namespace {

namespace fs = std::filesystem;

Blob model_bytes() { return smallest_archive().data_of(model_entry); }

/// What is said about a graph that an archive with so many other graphs does not have.
std::string message_of_no_graph(std::size_t graphs) {
  ZipBuilder builder = smallest_builder();
  for (std::size_t i = 0; i < graphs; ++i) {
    builder.entries.insert(builder.entries.end() - 1, zip_entry("g" + std::to_string(i) + ".onnx", {}));
  }
  const Blob bytes = builder.build();
  return error_if_any([&] { return Archive::open(bytes, nullptr).graph("x").size(); })->message();
}

TEST(Archive, NamesTenOfItsGraphsWhereOneIsMissing) {
  EXPECT_TRUE(message_of_no_graph(2).ends_with("it has the model, \"g0\", \"g1\"")) << message_of_no_graph(2);
  EXPECT_TRUE(message_of_no_graph(10).ends_with(", \"g9\"")) << message_of_no_graph(10);
  EXPECT_TRUE(message_of_no_graph(11).ends_with(", \"g9\" and 1 more")) << message_of_no_graph(11);
}

TEST(Archive, OpensAFileAndNamesIt) {
  const TempDir folder;
  const Built built = smallest_archive();
  const fs::path path = folder.write_file("a.onnxar", built.bytes);
  const Archive archive = Archive::open(path);
  EXPECT_EQ(archive.path(), path);
  EXPECT_EQ(copy_of(archive.file()), built.bytes);
  EXPECT_EQ(archive.size(), 2U);
  EXPECT_NE(archive.owner(), nullptr);
}

TEST(Archive, ListsEntriesInTheOrderOfTheFile) {
  const Built built = smallest_archive();
  const Archive archive = opened(built.bytes);
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    const PlacedEntry& place = built.entries[i];
    EXPECT_EQ(entry.index, i);
    EXPECT_EQ(entry.name, place.name);
    EXPECT_EQ(entry.size, place.data_size);
    EXPECT_EQ(entry.header_offset, place.header_offset);
    EXPECT_EQ(entry.crc32, bitwise_crc32(built.data_of(place.name)));
    EXPECT_EQ(archive.locate(entry).offset, place.data_offset);
    EXPECT_EQ(archive.locate(entry).alignment, 64U);
    EXPECT_EQ(copy_of(archive.bytes(entry)), built.data_of(place.name));
    EXPECT_EQ(archive.bytes(entry).data(), archive.file().data() + place.data_offset);
  }
  EXPECT_EQ(archive.model().data(), archive.bytes(archive.entry(1)).data()) << "the model is the last";
}

TEST(Archive, FindsExactNamesOnly) {
  const Archive archive = opened(smallest_archive().bytes);
  ASSERT_TRUE(archive.find("w"));
  EXPECT_EQ(archive.find("w")->index, 0U);
  EXPECT_EQ(archive.find(model_entry_name)->index, 1U);
  for (const std::string_view other : {"W", "", "w ", "./w", "__model_proto"})
    EXPECT_FALSE(archive.find(other)) << other;
}

TEST(Archive, MovedArchiveKeepsWorkingWithItsEntries) {
  Archive first = opened(smallest_archive().bytes);
  const ArchiveEntry entry = first.entry(0);
  const Archive second = std::move(first);
  EXPECT_EQ(copy_of(second.model()), model_bytes());
  EXPECT_EQ(second.bytes(entry).size(), 1024U);
  Archive third = opened(smallest_builder(pattern(2048)).build());
  third = opened(smallest_archive().bytes);
  EXPECT_EQ(third.find("w")->size, 1024U);
}

// Index and size of a stranger's entry would lead anywhere in this file.
TEST(ArchiveEntry, OfAnotherArchiveIsRefused) {
  const Built built = smallest_archive();
  const Archive archive = opened(built.bytes);
  const Archive twin = opened(built.bytes);
  const Archive other = opened(smallest_builder(pattern(64 * mebibyte / 16)).build());
  std::vector<ArchiveEntry> strangers = {twin.entry(0), other.entry(0), *other.find("w"), ArchiveEntry()};
  const auto add = [&](const std::function<void(ArchiveEntry&)>& change) {
    change(strangers.emplace_back(archive.entry(0)));
  };
  const std::string same_name = "w";
  add([&](ArchiveEntry& entry) { entry.name = same_name; });  // names are views of the archive
  add([](ArchiveEntry& entry) { entry.name = entry.name.substr(0, 0); });
  add([](ArchiveEntry& entry) { ++entry.size; });
  add([](ArchiveEntry& entry) { ++entry.header_offset; });
  add([](ArchiveEntry& entry) { ++entry.crc32; });
  for (const std::size_t index : {1U, 2U, 7U}) add([=](ArchiveEntry& entry) { entry.index = index; });
  for (const ArchiveEntry& entry : strangers) {
    SCOPED_TRACE(&entry - strangers.data());
    EXPECT_EQ(code_of([&] { return archive.bytes(entry); }), Code::usage_foreign_entry);
    EXPECT_EQ(code_of([&] { return archive.locate(entry).offset; }), Code::usage_foreign_entry);
    EXPECT_EQ(code_of([&] { archive.verify(entry); }), Code::usage_foreign_entry);
    Blob buffer(static_cast<std::size_t>(entry.size));
    EXPECT_EQ(code_of([&] { read_entry(archive, entry, buffer); }), Code::usage_foreign_entry);
    EXPECT_EQ(code_of([&] { archive.prefetch(entry, Prefetch::populate); }), Code::usage_foreign_entry);
  }
}

TEST(Resolve, ReturnsTheSliceThatALinkNames) {
  const Archive archive = opened(smallest_archive().bytes);
  const Bytes whole = archive.bytes(*archive.find("w"));
  const auto expect_slice = [&](Bytes got, std::size_t offset, std::size_t length) {
    EXPECT_EQ(got.data(), whole.data() + offset);
    EXPECT_EQ(got.size(), length);
  };
  expect_slice(archive.resolve("w"), 0, 1024);
  expect_slice(archive.resolve("w", 0, 1024), 0, 1024);
  expect_slice(archive.resolve("w", 100), 100, 924);
  expect_slice(archive.resolve("w", 100, 4), 100, 4);
  expect_slice(archive.resolve("w", 1024), 1024, 0);
  expect_slice(archive.resolve("w", 1024, 0), 1024, 0);
  expect_slice(archive.resolve("w", 7, 0), 7, 0);
}

TEST(Resolve, SlicesThatLeaveTheEntryAreRefused) {
  const Archive archive = opened(smallest_archive().bytes);
  constexpr std::uint64_t largest = ~std::uint64_t{0};
  const ErrorContext out{Code::onnx_external_out_of_range, "w", 0};
  for (const std::uint64_t offset : {std::uint64_t{1025}, largest, largest - 1023}) {
    EXPECT_EQ(refusal_of([&] { return archive.resolve("w", offset); }), out);
    EXPECT_EQ(refusal_of([&] { return archive.resolve("w", offset, 0); }), out);
    EXPECT_EQ(refusal_of([&] { return archive.resolve("w", offset, largest - offset + 2); }), out);
  }
  EXPECT_EQ(refusal_of([&] { return archive.resolve("w", 0, 1025); }), out);
  EXPECT_EQ(refusal_of([&] { return archive.resolve("w", 1, 1024); }), out);
  EXPECT_EQ(refusal_of([&] { return archive.resolve("w", 1, largest); }), out);
}

TEST(Resolve, LocationsThatNameNoEntryAreRefused) {
  const Archive archive = opened(smallest_archive().bytes);
  for (const std::string_view location : {"v", "W", "", "./w", "../w", "/w", "w/"}) {
    EXPECT_EQ(refusal_of([&] { return archive.resolve(location); }),
              (ErrorContext{Code::onnx_external_missing, std::string(location)}));
  }
  // The caller may ask for any name, so the message blames no model.
  EXPECT_EQ(error_of([&] { static_cast<void>(archive.resolve("v")); }).message(), "the archive has no entry \"v\"");
}

TEST(Resolve, AllocatesNothingFromTheFirstUseOn) {
  const Archive archive = opened(smallest_archive().bytes);
  const std::size_t before = allocations;
  std::size_t sum = 0;
  for (int i = 0; i < 100; ++i) {
    sum += archive.resolve("w", 4, 8).size() + archive.model().size() + archive.find("w")->size;
  }
  const std::size_t after = allocations;
  EXPECT_EQ(after, before);
  EXPECT_GT(sum, 0U);
}

TEST(Opening, AllocatesTheSameForAnyNumberOfEntries) {
  const auto allocations_for = [](std::size_t entries) {
    ZipBuilder builder = smallest_builder();
    while (builder.entries.size() < entries) {
      builder.entries.insert(builder.entries.end() - 1, zip_entry("e" + std::to_string(builder.entries.size()), {}));
    }
    const Blob bytes = builder.build();
    const std::size_t before = allocations;
    const Archive archive = Archive::open(bytes, nullptr);
    return allocations - before;
  };
  EXPECT_EQ(allocations_for(2000), allocations_for(2));
}

TEST(Owner, ViewsOutliveTheArchive) {
  for (const bool copy_in : {false, true}) {
    const TempDir folder;
    const fs::path path = folder.write_file("a", smallest_archive().bytes);
    auto archive = std::make_unique<Archive>(Archive::open(path, {.copy_in = copy_in}));
    const Bytes weight = archive->resolve("w");
    const Bytes model = archive->model();
    const std::shared_ptr<const void> owner = archive->owner();
    archive.reset();
    fs::remove(path);
    EXPECT_EQ(copy_of(weight), pattern(1024));
    EXPECT_EQ(copy_of(model), model_bytes());
  }
}

TEST(Owner, IsTheCallersForBytesInMemory) {
  auto storage = std::make_shared<const Blob>(smallest_archive().bytes);
  const std::weak_ptr<const Blob> watch = storage;
  const Bytes view = *storage;
  auto archive = std::make_unique<Archive>(Archive::open(view, std::move(storage)));
  EXPECT_FALSE(watch.expired());
  EXPECT_TRUE(archive->path().empty());
  archive.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(Owner, MayBeNull) {
  const Blob bytes = smallest_archive().bytes;
  const Archive archive = Archive::open(bytes, nullptr);
  EXPECT_EQ(archive.owner(), nullptr);
  EXPECT_EQ(archive.file().data(), bytes.data());
}

TEST(Copy, EmptySinkIsRefusedBeforeAnythingIsRead) {
  const Built built = smallest_archive();
  const Archive archive = Archive::open(Bytes(built.bytes), nullptr);
  EXPECT_EQ(code_of([&] { archive.copy(archive.entry(0), ByteSink()); }), Code::usage_argument);
}

TEST(Verify, ComparesTheCrcOfTheData) {
  const Built built = smallest_archive();
  const std::size_t data = built.entry("w").data_offset;
  const Archive whole = opened(built.bytes);
  EXPECT_EQ(refusal_of([&] { whole.verify(whole.entry(0)); }), std::nullopt);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1023}}) {
    Blob damaged = built.bytes;
    flip_bit(damaged, data + at);
    const Archive archive = opened(damaged);
    EXPECT_EQ(refusal_of([&] { archive.verify(archive.entry(0)); }), (ErrorContext{Code::zip_data_crc, "w", data}));
    EXPECT_EQ(refusal_of([&] { archive.verify(archive.entry(1)); }), std::nullopt);
  }
}

TEST(LocalHeader, IsProvedAtFirstUseOfEachEntry) {
  Built built = smallest_archive();
  flip_bit(built.bytes, built.entry("w").header_offset + 6);
  const Archive archive = opened(built.bytes);
  const ErrorContext wrong{Code::zip_local_field, "w", 0};
  EXPECT_EQ(refusal_of([&] { return archive.bytes(archive.entry(0)); }), wrong);
  EXPECT_EQ(refusal_of([&] { return archive.locate(archive.entry(0)).offset; }), wrong);
  EXPECT_EQ(refusal_of([&] { return archive.resolve("w"); }), wrong);
  EXPECT_EQ(refusal_of([&] { archive.verify(archive.entry(0)); }), wrong);
  EXPECT_EQ(refusal_of([&] { archive.prefetch(archive.entry(0), Prefetch::will_need); }), wrong);
  EXPECT_EQ(refusal_of([&] { return archive.model(); }), std::nullopt);
}

TEST(LocalHeader, ErrorNamesTheFile) {
  const TempDir folder;
  Built built = smallest_archive();
  flip_bit(built.bytes, built.entry("w").header_offset);
  const fs::path path = folder.write_file("a", built.bytes);
  const Archive archive = Archive::open(path);
  EXPECT_EQ(error_if_any([&] { return archive.resolve("w"); })->path(), path);
}

TEST(SameState, ComparesWhatTheDirectoryAndTheModelSay) {
  const auto state = [](std::uint32_t weight, const std::string& producer) {
    ZipBuilder builder;
    builder.entries = {zip_entry("a", pattern(100, weight)), zip_entry(model_entry, smallest_model(256, producer))};
    return opened(builder.build_placed().bytes);
  };
  const Archive archive = state(1, "x");
  EXPECT_TRUE(same_state(archive, archive));
  EXPECT_TRUE(same_state(archive, state(1, "x")));
  EXPECT_FALSE(same_state(archive, state(2, "x"))) << "another CRC-32 of an entry";
  EXPECT_FALSE(same_state(archive, state(1, "y"))) << "another model of the same size";
  EXPECT_FALSE(same_state(archive, state(1, "a longer name")));
}

TEST(Zip, IsRecognisedByItsBytes) {
  const Blob archive = smallest_archive().bytes;
  EXPECT_TRUE(looks_like_zip(archive));
  EXPECT_TRUE(looks_like_zip(ZipBuilder().build()));  // an empty zip file is an end record
  ZipBuilder prefixed = smallest_builder();
  prefixed.prefix = blob("#!/bin/sh");
  EXPECT_TRUE(looks_like_zip(prefixed.build()));
  EXPECT_FALSE(looks_like_zip(smallest_model()));
  EXPECT_FALSE(looks_like_zip({}));
  EXPECT_FALSE(looks_like_zip(Bytes(archive).first(3)));
}

// No protobuf message begins so: a file that does was cut, and is not a broken model.
TEST(Zip, IsRecognisedByItsFirstBytes) {
  for (const std::string_view begin : {"PK\1\2", "PK\3\4", "PK\5\6", "PK\6\6", "PK\6\7", "PK\7\x8"}) {
    EXPECT_TRUE(looks_like_zip(as_bytes(begin)));
  }
  EXPECT_FALSE(looks_like_zip(as_bytes("PK00")));
}

TEST(Archive, ModelHasLessThanTwoGibibytesWhateverTheLimit) {
  if (sizeof(std::size_t) < sizeof(std::uint64_t)) GTEST_SKIP() << "a file of 2 GiB does not fit in memory";
  const TempDir folder;
  const auto size_of_model = [&folder](std::uint64_t size) {
    const auto path = stretched(folder, smallest_builder(), model_entry, size);
    const Archive archive = Archive::open(path, {.max_model_size = std::uint64_t{1} << 40U});
    return archive.model_entry().size;
  };
  EXPECT_EQ(size_of_model(model_size_maximum), 0x7fffffffU);
  EXPECT_EQ(code_of([&] { return size_of_model(0x80000000); }), Code::archive_model_too_large);
}

}  // namespace
}  // namespace onnxar::testing
