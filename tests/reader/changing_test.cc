// Sources whose bytes change between two reads: the reader stays in its buffers and in the file.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// `code`: what is wrong with the archive; empty if nothing is.
std::uint64_t bytes_read_by_check(const Blob& bytes, const std::string& code = {}) {
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
  const auto fault = fault_of_check(archive, 0);
  EXPECT_EQ(fault ? fault->code : std::string(), code);
  return counting.read;
}

TEST(ReaderStates, ChecksReadAFewTimesTheFile) {
  for (const std::size_t states : {20U, 40U, 80U, 160U}) {
    const Blob bytes = padded_states(states);
    EXPECT_LT(bytes_read_by_check(bytes), 4 * bytes.size()) << states;
  }
}

/// Records of a zip file, byte for byte.
class Records {
 public:
  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] const Blob& bytes() const { return bytes_; }
  Records& numbers(std::size_t width, std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) {
      for (std::size_t i = 0; i < width; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
    return *this;
  }
  Records& text(std::string_view text) { return add(as_bytes(text)); }
  Records& add(Bytes more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }

 private:
  Blob bytes_;
};

/// A local header at `at`, whose data begins at a multiple of 64.
Records local_record(std::string_view name, std::uint64_t size, std::uint64_t at) {
  const std::uint64_t least = 36 + name.size(), extra = 6 + (64 - (at + least) % 64) % 64;
  Records out;
  out.numbers(4, {0x04034b50}).numbers(2, {10, 0, 0, 0, 0x21}).numbers(4, {size == 0 ? 0U : 1U, size, size});
  out.numbers(2, {name.size(), extra}).text(name).numbers(2, {0xD935, extra - 4, 64});
  return out.add(zeros(extra - 6));
}

Records central_record(std::string_view name, std::uint64_t size, std::uint64_t at) {
  Records out;
  out.numbers(4, {0x02014b50}).numbers(2, {10, 10, 0, 0, 0, 0x21}).numbers(4, {size == 0 ? 0U : 1U, size, size});
  return out.numbers(2, {name.size(), 0, 0, 0, 0}).numbers(4, {0, at}).text(name);
}

Records end_record(std::uint64_t count, std::uint64_t size, std::uint64_t at) {
  Records out;
  return out.numbers(4, {0x06054b50}).numbers(2, {0, 0, count, count}).numbers(4, {size, at}).numbers(2, {0});
}

/// Each tail has a good state, whose own tail ends in an end record with a directory that begins with headers that all
/// of them share, and breaks off after these.
Blob states_with_one_directory(std::size_t tails) {
  constexpr std::string_view model = "__MODEL_PROTO";
  const std::size_t headers = 4 * tails;
  Records out = local_record("a", 0, 0);
  const std::uint64_t shared = out.size();
  for (std::size_t i = 0; i < headers; ++i) out.add(central_record("n", 0, 0).bytes());
  std::uint64_t at = out.size();
  std::vector<std::uint64_t> models, directories, places;
  for (std::size_t i = 0; i < tails; ++i) {
    models.push_back(at + 22);
    at = models.back() + local_record(model, 0, models.back()).size();
  }
  const std::uint64_t both = central_record("a", 0, 0).size() + central_record(model, 0, 0).size();
  for (std::size_t i = 0; i < tails; ++i) {
    directories.push_back(at);
    places.push_back(at + both + 22);
    at = places.back() + local_record("e100000", 0, places.back()).size();
  }
  const auto size_of = [&](std::size_t i) {
    return directories[i] - models[i] - local_record(model, 0, models[i]).size();
  };
  for (std::size_t i = 0; i < tails; ++i) {
    out.add(end_record(headers + 1, models[i] - 22 - shared, shared).bytes());
    out.add(local_record(model, size_of(i), models[i]).bytes());
  }
  Records directory = central_record("a", 0, 0);
  for (std::size_t i = 0; i < tails; ++i) {
    const std::string name = "e" + std::to_string(100'000 + i);
    out.add(central_record("a", 0, 0).bytes()).add(central_record(model, size_of(i), models[i]).bytes());
    out.add(end_record(2, both, directories[i]).bytes()).add(local_record(name, 0, places[i]).bytes());
    directory.add(central_record(name, 0, places[i]).bytes());
  }
  const std::uint64_t last = out.size();
  out.add(local_record(model, 2, last).bytes()).numbers(1, {0x3a, 0});
  directory.add(central_record(model, 2, last).bytes());
  const std::uint64_t begin = out.size();
  return out.add(directory.bytes()).add(end_record(tails + 2, directory.size(), begin).bytes()).bytes();
}

TEST(ReaderStates, BrokenStatesAreReadAFewTimes) {
  for (const std::size_t tails : {100U, 200U, 400U}) {
    const Blob bytes = states_with_one_directory(tails);
    EXPECT_LT(bytes_read_by_check(bytes, "archive.tail.prefix"), 12 * bytes.size()) << tails;
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
