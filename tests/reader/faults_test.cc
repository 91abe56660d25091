// The machine fails: each allocation once, each read once. And damaged files: every prefix, every byte changed.
#include <fstream>

#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "reader/reading.h"
#include "support/guarded_buffer.h"
#include "support/samples.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

/// An archive with all that makes the reader allocate and read: a link, a folder, a graph, a superseded state whose
/// next local header has long padding.
Blob rich_archive() {
  ZipBuilder builder;
  ZipEntry padded = zip_entry("folder/padded.bin", pattern(80));
  padded.local.more_padding = 640;
  const Message graph = model_of({linked_floats("v", 64, "w"), floats("inline", 3)});
  builder.entries = {zip_entry("w", pattern(1024)), padded, zip_entry("other.onnx", graph.view()),
                     zip_entry(model_entry, model_of({linked_floats("w", 256, "w")}).view())};
  const Built before = builder.build_placed();
  const Message after = model_of({linked_floats("w", 256, "w"), linked_floats("x", 16, "x")});
  return append_edit(before, after.view(), {zip_entry("x", pattern(64))}).bytes;
}

std::vector<Blob> samples() {
  ZipBuilder zip64 = smallest_builder();
  zip64.force_zip64 = true;
  return {smallest_archive().bytes, zip64.build(), rich_archive()};
}

/// Walks through a model and copies the data of its links.
std::optional<ReaderFault> fault_of_data(const onnxar_reader* archive, std::size_t index) {
  std::optional<ReaderFault> of_copies;
  const auto copy = [&](const onnxar_reader_walk*, const onnxar_reader_tensor& tensor) {
    if (tensor.kind != OAR_LINKED || of_copies) return;
    Blob bytes(tensor.size);
    onnxar_reader_error error = {};
    of_copies = fault_after(onnxar_reader_copy(archive, tensor.offset, bytes.size(), bytes.data(), &error), error);
  };
  const std::optional<ReaderFault> of_walk = walk_model(archive, index, copy);
  return of_walk ? of_walk : of_copies;
}

/// All that the reader can do with an archive. The fault that ends it.
std::optional<ReaderFault> fault_of_everything(ByteSource& source, const onnxar_reader_options& options) {
  std::optional<ReaderFault> fault;
  const Reader archive = opened(source, fault, options);
  if (!archive) return fault;
  if (auto of_use = fault_of_use(archive.get())) return of_use;
  if (auto of_check = fault_of_check(archive.get(), OAR_CHECK_DATA)) return of_check;
  for (std::size_t i = 0; i < onnxar_reader_count(archive.get()); ++i) {
    const bool is_model = i == onnxar_reader_model(archive.get());
    if (!is_model && onnxar_reader_is_graph(archive.get(), i) == 0) continue;
    if (auto of_data = fault_of_data(archive.get(), i)) return of_data;
  }
  return std::nullopt;
}

TEST(ReaderFaults, EveryAllocationMayFail) {
  for (const Blob& bytes : samples()) {
    std::size_t failures = 0;
    for (std::optional<ReaderFault> fault = ReaderFault(); fault; ++failures) {
      Allocations allocations;
      allocations.fails_at = failures;
      ByteSource source(bytes);
      fault = fault_of_everything(source, allocations.options());
      EXPECT_EQ(allocations.live, 0U) << failures;
      if (fault) {
        EXPECT_EQ(fault->code, "io.failed") << failures;
      }
      if (!fault) {
        EXPECT_EQ(allocations.count, failures) << "a failure was passed over";
      }
      ASSERT_LT(failures, 1000U);
    }
    EXPECT_GT(failures, 5U);
  }
}

TEST(ReaderFaults, EveryReadMayFail) {
  for (const Blob& bytes : samples()) {
    std::size_t failures = 0;
    for (std::optional<ReaderFault> fault = ReaderFault(); fault; ++failures) {
      Allocations allocations;
      ByteSource source(bytes);
      source.fails_at = failures;
      fault = fault_of_everything(source, allocations.options());
      EXPECT_EQ(allocations.live, 0U) << failures;
      if (fault) {
        EXPECT_EQ(fault->code, "io.failed") << failures;
      }
      if (fault) {
        EXPECT_TRUE(fault->offset.has_value()) << failures;
      }
      if (!fault) {
        EXPECT_EQ(source.reads, failures) << "a failure was passed over";
      }
      ASSERT_LT(failures, 1000U);
    }
    EXPECT_GT(failures, 5U);
  }
}

TEST(ReaderFaults, ReportsMachineFaultAfterABadEnd) {
  const Blob bytes = pattern(100);  // no end record: the reader looks for one to word its refusal
  std::optional<ReaderFault> fault;
  ByteSource source(bytes);
  source.fails_at = 1;
  opened(source, fault);
  EXPECT_EQ(fault->code, "io.failed");
  Allocations allocations;
  allocations.fails_at = 1;
  ByteSource other(bytes);
  opened(other, fault, allocations.options());
  EXPECT_EQ(fault->code, "io.failed");
}

TEST(ReaderFaults, UsualArchivesAreOpenedWithTwoReads) {
  const Blob bytes = smallest_archive().bytes;
  ByteSource source(bytes);
  std::optional<ReaderFault> fault;
  const Reader archive = opened(source, fault);
  EXPECT_EQ(source.reads, 2U);
  EXPECT_LT(source.longest, 200U) << "nothing of a weight";
}

TEST(ReaderFaults, AllocationsAreBoundedByTheFile) {
  for (Blob bytes : samples()) {
    Allocations allocations;
    ByteSource source(bytes);
    fault_of_everything(source, allocations.options());
    EXPECT_LT(allocations.largest, bytes.size() + 20'000) << "a walk has room for 1024 dimensions and 100 messages";
  }
  // A number of entries and a directory's size that are not true.
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  builder.zip64_end.entries = builder.zip64_end.entries_on_disk = std::uint64_t{1} << 60U;
  const Blob many = builder.build();
  Allocations allocations;
  std::optional<ReaderFault> fault;
  opened(many, fault, allocations.options());
  EXPECT_EQ(fault->code, "zip.directory.count");
  EXPECT_LT(allocations.total, 2000U);
}

// --- Damage ----------------------------------------------------------------------------------------------------------

std::optional<ReaderFault> fault_of_library(std::span<const std::byte> bytes) {
  try {
    const Archive archive = Archive::open(Bytes(bytes), nullptr);
    for (const ArchiveEntry& entry : archive.entries()) static_cast<void>(archive.bytes(entry));
    return std::nullopt;
  } catch (const Error& error) {
    return ReaderFault{std::string(id(error.code())), error.entry(), error.offset()};
  }
}

std::optional<ReaderFault> fault_of_reader(std::span<const std::byte> bytes) {
  std::optional<ReaderFault> fault;
  const Reader archive = opened(bytes, fault);
  return archive ? fault_of_use(archive.get()) : fault;
}

TEST(ReaderDamage, EveryPrefixHasTheLibrarysVerdict) {
  for (const Blob& bytes : samples()) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto guarded = GuardedBuffer::ending_at_guard(Bytes(bytes).first(size));
      EXPECT_EQ(fault_of_reader(guarded.bytes()), fault_of_library(guarded.bytes())) << size;
    }
  }
}

TEST(ReaderDamage, EveryChangedByteHasTheLibrarysVerdict) {
  for (Blob bytes : samples()) {
    for (std::byte& byte : bytes) {
      const std::byte before = byte;
      for (const int change : {1, 0x80, 0xFF}) {
        byte = before ^ static_cast<std::byte>(change);
        EXPECT_EQ(fault_of_reader(bytes), fault_of_library(bytes)) << &byte - bytes.data();
      }
      byte = before;
    }
  }
}

/// Errors that `check` of the library finds. It reads a file that is no zip as a plain model, so the archive opens.
std::vector<ReaderFault> errors_of_library(const std::filesystem::path& path) {
  std::vector<ReaderFault> errors;
  for (const Finding& finding : check(path, {.data = true})) {
    if (finding.severity != Severity::error) continue;
    errors.push_back({std::string(id(finding.code)), finding.place.entry, finding.place.offset});
  }
  return errors;
}

void write_bytes(const std::filesystem::path& path, const Blob& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

TEST(ReaderDamageSlow, EveryChangedByteIsFoundByBothChecks) {
  const TempDir dir;
  const std::filesystem::path path = dir.path() / "a.onnxar";
  for (Blob bytes : samples()) {
    for (std::byte& byte : bytes) {
      const std::byte before = byte;
      byte ^= std::byte{0x11};
      std::optional<ReaderFault> fault;
      if (const Reader archive = opened(bytes, fault)) {
        fault = fault_of_check(archive.get(), OAR_CHECK_DATA);
        write_bytes(path, bytes);
        const std::vector<ReaderFault> errors = errors_of_library(path);
        EXPECT_EQ(fault.has_value(), !errors.empty()) << &byte - bytes.data();
        if (fault) {
          EXPECT_NE(std::ranges::find(errors, *fault), errors.end()) << ::testing::PrintToString(*fault);
        }
      }
      byte = before;
    }
  }
}

}  // namespace
}  // namespace onnxar::testing
