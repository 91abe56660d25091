// Sources whose bytes change between two reads: the reader stays in its buffers and in the file.
#include "reader/reading.h"
#include "support/changing_bytes.h"
#include "support/guarded_buffer.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

int read_changing(void* context, std::uint64_t offset, std::size_t length, void* buffer) {
  static_cast<ChangingBytes*>(context)->read(offset, {static_cast<std::byte*>(buffer), length});
  return 0;
}

/// Memory whose blocks end at an inaccessible page, so that reading beyond one is a fault in each build.
class GuardedMemory {
 public:
  [[nodiscard]] onnxar_reader_options options() {
    onnxar_reader_options options = {};
    options.allocate = [](void* context, std::size_t size) -> void* {
      auto& blocks = static_cast<GuardedMemory*>(context)->blocks_;
      const Blob zeroed = zeros((size + 15) / 16 * 16);
      blocks.emplace_back(new GuardedBuffer(GuardedBuffer::ending_at_guard(zeroed)));
      return blocks.back()->writable().data();
    };
    options.release = [](void* /*context*/, void* /*block*/) {};
    options.allocator_context = this;
    return options;
  }

 private:
  std::vector<std::unique_ptr<GuardedBuffer>> blocks_;
};

/// Uses all that an archive has. Its errors are expected; ranges beyond the file are not.
void use_everything(const onnxar_reader* archive, std::uint64_t size) {
  fault_of_check(archive, OAR_CHECK_DATA);
  for (std::size_t i = 0; i < onnxar_reader_count(archive); ++i) {
    onnxar_reader_range range = {};
    if (onnxar_reader_get_data(archive, i, &range, nullptr) != 0) continue;
    EXPECT_LE(range.offset, size);
    EXPECT_LE(range.size, size - range.offset);
    onnxar_reader_verify(archive, i, nullptr);
    if (i != onnxar_reader_model(archive) && onnxar_reader_is_graph(archive, i) == 0) continue;
    walk_model(archive, i, [&](const onnxar_reader_walk*, const onnxar_reader_tensor& tensor) {
      std::vector<double> values(std::min<std::uint64_t>(tensor.values, 100));
      onnxar_reader_copy_values(&tensor, values.data(), values.size());
    });
  }
}

bool opens_and_is_used(const Blob& bytes, std::size_t change, std::size_t quiet) {
  ChangingBytes changing(bytes, change, quiet);
  const onnxar_reader_source source = {bytes.size(), read_changing, &changing};
  GuardedMemory memory;
  const onnxar_reader_options options = memory.options();
  onnxar_reader* archive = nullptr;
  const Reader owner(onnxar_reader_open_source(&source, &options, &archive, nullptr) == 0 ? archive : nullptr);
  if (owner) use_everything(archive, bytes.size());
  return owner != nullptr;
}

TEST(ReaderChanging, VectorsAreReadInBounds) {
  std::size_t opened = 0;
  for (const Blob& bytes : small_vectors()) {
    for (std::size_t quiet = 0; quiet < 4; ++quiet) {
      opened += opens_and_is_used(bytes, opened % ChangingBytes::changes, quiet) ? 1U : 0U;
    }
  }
  EXPECT_GT(opened, 100U);
}

TEST(ReaderChanging, LongLocalHeaderIsReadInBounds) {
  ZipBuilder builder = smallest_builder();
  builder.entry("w").local.more_padding = 6400;
  const Blob bytes = append_edit(builder.build_placed(), smallest_model(256, "second")).bytes;
  std::size_t opened = 0;
  for (std::size_t change = 0; change < ChangingBytes::changes; ++change) {
    for (std::size_t quiet = 0; quiet < 6; ++quiet) opened += opens_and_is_used(bytes, change, quiet) ? 1U : 0U;
  }
  EXPECT_GT(opened, 20U);
}

/// A mapped file may be written to in place: what was checked is what is used.
TEST(ReaderChanging, DirectoryOutlivesChangeOfTheFile) {
  Blob bytes = smallest_archive().bytes;
  const Reader archive = opened(bytes);
  std::ranges::fill(bytes, std::byte{0xFF});
  onnxar_reader_entry entry = {};
  ASSERT_EQ(onnxar_reader_get_entry(archive.get(), 0, &entry, nullptr), 0);
  EXPECT_EQ(std::string(entry.name, entry.name_length), "w");
  EXPECT_EQ(onnxar_reader_find(archive.get(), "w", 1), 0U);
}

// --- Superseded states -----------------------------------------------------------------------------------------------

/// So many states. Each adds an entry whose local header has 6 KiB of padding.
Blob padded_states(std::size_t count) {
  Built built = smallest_archive();
  while (count-- > 0) {
    ZipEntry added = zip_entry("w" + std::to_string(count), {});
    added.local.more_padding = 6400;
    built = append_edit(built, smallest_model(256, "edited"), {added});
  }
  return built.bytes;
}

std::uint64_t bytes_read_by_check(const Blob& bytes) {
  struct Counting {
    const Blob& bytes;
    std::uint64_t read = 0;
  } counting{bytes};
  onnxar_reader_source source = {bytes.size(), nullptr, &counting};
  source.read = [](void* context, std::uint64_t offset, std::size_t length, void* buffer) {
    auto& self = *static_cast<Counting*>(context);
    self.read += length;
    std::memcpy(buffer, self.bytes.data() + offset, length);
    return 0;
  };
  onnxar_reader* archive = nullptr;
  EXPECT_EQ(onnxar_reader_open_source(&source, nullptr, &archive, nullptr), 0);
  const Reader owner(archive);
  EXPECT_EQ(fault_of_check(archive, 0), std::nullopt);
  return counting.read;
}

TEST(ReaderStates, ChecksReadAFewTimesTheFile) {
  for (const std::size_t states : {20U, 40U, 80U, 160U}) {
    const Blob bytes = padded_states(states);
    EXPECT_LT(bytes_read_by_check(bytes), 4 * bytes.size()) << states;
  }
}

TEST(ReaderStates, PaddingOfASupersededStateIsChecked) {
  // The entry "old" is in the first state alone; the byte lies beyond what is read with a header.
  ZipEntry old = zip_entry("old", {});
  old.local.more_padding = 6400;
  const Built first = append_edit(smallest_archive(), smallest_model(256, "first"), {old});
  ZipBuilder builder = edit_builder(first, smallest_model(256, "second"));
  builder.directory_order = {{0, 2}};  // "w" and the model
  const Built second = builder.build_placed();
  EXPECT_EQ(fault_of_check(opened(second.bytes).get(), 0), std::nullopt);
  Blob damaged = second.bytes;
  flip_bit(damaged, first.entry("old").header_offset + 3000);
  const auto fault = fault_of_check(opened(damaged).get(), 0);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, "archive.tail.prefix");
}

}  // namespace
}  // namespace onnxar::testing
