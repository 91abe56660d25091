// A RandomAccess whose bytes change between two reads: only bytes that were read are used.
#include <gtest/gtest.h>

#include "archive/aligned_copies.h"
#include "archive/container_check.h"
#include "onnxar/archive.h"
#include "onnxar/listing.h"
#include "onnxar/tensors.h"
#include "support/changing_bytes.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

class ChangingFile final : public RandomAccess {
 public:
  ChangingFile(Blob bytes, std::size_t change, std::size_t quiet)
      : size_(bytes.size()), bytes_(std::move(bytes), change, quiet) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(std::span<const RangeTarget> ranges) const override {
    for (const RangeTarget& range : ranges) bytes_.read(range.offset, range.target);
  }

 private:
  std::size_t size_;
  mutable ChangingBytes bytes_;
};

/// Runs `action`, whose errors are expected. It must not crash.
template <typename Action>
bool works(const Action& action) {
  return !error_if_any([&] {
    action();
    return 0;
  });
}

void use_everything(const Archive& archive) {
  for (const ArchiveEntry& entry : archive.entries()) {
    // The first two read the local header into memory that is not kept.
    works([&] { archive.verify(entry); });
    works([&] { archive.copy(entry, [](Bytes) {}); });
    works([&] { static_cast<void>(archive.locate(entry)); });
    works([&] { static_cast<void>(archive.bytes(entry)); });
    works([&] { static_cast<void>(archive.locate(entry)); });
  }
  works([&] { check_container(archive); });
  works([&] { static_cast<void>(ls(archive)); });
  works([&] {
    for (const StoredTensor& tensor : tensors(archive)) static_cast<void>(tensor_data(archive, tensor));
  });
}

bool opens_and_is_used(const Blob& bytes, std::size_t change, std::size_t quiet) {
  std::optional<Archive> archive;
  works([&] { archive = Archive::open(std::make_shared<ChangingFile>(bytes, change, quiet)); });
  if (archive) use_everything(*archive);
  return archive.has_value();
}

TEST(ChangingSource, VectorsAreReadWithoutCrash) {
  std::size_t opened = 0;
  for (const Blob& bytes : small_vectors()) {
    for (std::size_t quiet = 0; quiet < 4; ++quiet) {
      opened += opens_and_is_used(bytes, opened % ChangingBytes::changes, quiet) ? 1U : 0U;
    }
  }
  EXPECT_GT(opened, 100U);
}

/// An archive of some pages, so that a longer header leads to bytes that were not read.
Blob archive_with_large_weight() {
  ZipBuilder builder = smallest_builder(pattern(200'000));
  builder.entry("w").local.more_padding = 6400;
  return append_edit(builder.build_placed(), smallest_model(50'000, "second"), {zip_entry("b", pattern(70'000))}).bytes;
}

TEST(ChangingSource, LargeArchiveIsReadWithoutCrash) {
  const Blob bytes = archive_with_large_weight();
  std::size_t opened = 0;
  for (std::size_t change = 0; change < ChangingBytes::changes; ++change) {
    for (std::size_t quiet = 0; quiet < 6; ++quiet) opened += opens_and_is_used(bytes, change, quiet) ? 1U : 0U;
  }
  EXPECT_GT(opened, 20U);
}

TEST(ChangingSource, LocalHeaderIsProvedOnce) {
  const Blob bytes = smallest_builder(pattern(200'000)).build();
  // The copy reads the true header; each later read states an extra field of 65535 bytes.
  const Archive archive = Archive::open(std::make_shared<ChangingFile>(bytes, 28, 3));
  archive.verify(archive.entry(0));
  EXPECT_EQ(archive.locate(archive.entry(0)).offset, 64U);
  EXPECT_EQ(archive.locate(archive.entry(0)).alignment, 64U);
}

/// Announces four bytes and hands out eight, as a tensor of a mapped file that changes meanwhile.
class LongerSource final : public ByteSource {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 4; }
  void read(const ByteSink& sink) const override {
    const Blob bytes = pattern(8);
    sink(bytes);
  }
};

TEST(ChangingSource, AlignedCopyStaysInItsMemory) {
  AlignedCopies copies;
  EXPECT_EQ(code_of([&] { return copies.get({0, 1}, LongerSource(), 100).size(); }), Code::io_changed);
}

}  // namespace
}  // namespace onnxar::testing
