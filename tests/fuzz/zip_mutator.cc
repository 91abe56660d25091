// A mutator for zip files. Readers refuse most random changes at the first offset, size or count that no longer fits.
// This mutator usually repairs these values, so that the reader must judge the change itself. For fuzzers only.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "support/zip_builder.h"

// NOLINTBEGIN(readability-identifier-naming): libFuzzer's names
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);
// NOLINTEND(readability-identifier-naming)

namespace onnxar::fuzz {
namespace {

using testing::Blob;
using namespace testing;  // NOLINT(google-build-using-namespace): put_u16 and its kin

constexpr std::size_t local_size = 30, central_size = 46, end_size = 22, zip64_end_size = 56, locator_size = 20;
constexpr std::size_t common_size = 22;  // from version needed to the sizes: the same in both headers

class Mender {
 public:
  Mender(Blob bytes, unsigned seed) : in_(std::move(bytes)), random_(seed) {}

  Blob mend() {
    std::size_t from = find_signature(in_, signature::local).value_or(in_.size());
    out_.assign(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(from));
    while (from < in_.size()) {
      const std::size_t next = find_signature(in_, signature::local, from + 1).value_or(in_.size());
      add_local(from, next);
      from = next;
    }
    for (std::size_t at = 0; at + 4 <= out_.size(); ++at) visit(at);
    return std::move(out_);
  }

 private:
  /// Whether to repair a value: almost always, so that single faults remain.
  bool mostly() { return random_() % 16 != 0; }

  void append(std::size_t begin, std::size_t end) {
    out_.insert(out_.end(), in_.begin() + static_cast<std::ptrdiff_t>(begin),
                in_.begin() + static_cast<std::ptrdiff_t>(end));
  }

  /// Writes the local header at `from` with padding for its new place, and with size and CRC-32 of its data, which ends
  /// at a directory or at `next`.
  void add_local(std::size_t from, std::size_t next) {
    if (next - from < local_size) return append(from, next);
    const std::size_t name = u16_at(in_, from + 26), extra = u16_at(in_, from + 28);
    const std::size_t name_end = from + local_size + name, data = name_end + extra;
    if (data > next) return append(from, next);
    const std::size_t header = out_.size();
    append(from, name_end);
    if (mostly()) {
      add_padding(header, name_end, data);
    } else {
      append(name_end, data);
    }
    const std::size_t data_end = std::min(find_signature(in_, signature::central, data).value_or(next), next);
    if (mostly() && u32_at(in_, from + 18) != 0xffffffff) {
      put_u32(out_, header + 14, bitwise_crc32(std::span(in_).subspan(data, data_end - data)));
      put_u32(out_, header + 18, static_cast<std::uint32_t>(data_end - data));
      put_u32(out_, header + 22, static_cast<std::uint32_t>(data_end - data));
    }
    append(data, next);
  }

  void add_padding(std::size_t header, std::size_t begin, std::size_t end) {
    const std::size_t old_size = end - begin;
    std::size_t alignment = 64;
    std::uint16_t id = 0xd935;
    if (old_size >= 6 && (u16_at(in_, begin) == 0xd935 || u16_at(in_, begin) == 0xa11e)) {
      id = u16_at(in_, begin);
      alignment = std::max<std::size_t>(u16_at(in_, begin + 4), 1);
    }
    if (old_size >= 20 && u16_at(in_, begin) == 1) append(begin, begin + 20);       // zip64
    if (out_.size() % alignment == 0 && mostly()) return put_extra_length(header);  // some writers pad without a record
    const std::size_t zeros = (alignment - (out_.size() + 6) % alignment) % alignment;
    const std::size_t at = out_.size();
    out_.resize(at + 6 + zeros);
    put_u16(out_, at, id);
    put_u16(out_, at + 2, static_cast<std::uint16_t>(2 + zeros));
    put_u16(out_, at + 4, static_cast<std::uint16_t>(alignment));
    put_extra_length(header);
  }

  void put_extra_length(std::size_t header) {
    put_u16(out_, header + 28,
            static_cast<std::uint16_t>(out_.size() - header - local_size - u16_at(out_, header + 26)));
  }

  [[nodiscard]] bool room(std::size_t at, std::size_t size) const { return size <= out_.size() - at; }
  [[nodiscard]] std::string name_at(std::size_t at, std::size_t size) const {
    return std::string(as_text(Bytes(out_).subspan(at, std::min(size, out_.size() - at))));
  }

  void visit(std::size_t at) {
    const std::uint32_t found = u32_at(out_, at);
    if (found == signature::local && room(at, local_size)) {
      locals_[name_at(at + local_size, u16_at(out_, at + 26))] = at;
    } else if (found == signature::central && room(at, central_size)) {
      mend_central(at);
    } else if (found == signature::zip64_end && room(at, zip64_end_size)) {
      zip64_end_ = at;
      directory_end_ = at;
      if (mostly()) mend_zip64_end(at);
    } else if (found == signature::zip64_locator && room(at, locator_size)) {
      if (mostly()) put_u64(out_, at + 8, zip64_end_);
    } else if (found == signature::end && room(at, end_size)) {
      if (directory_end_ <= directory_) directory_end_ = at;
      if (mostly()) mend_end(at);
    }
  }

  void mend_central(std::size_t at) {
    if (at != next_central_) {
      directory_ = at;
      entries_ = 0;
    }
    ++entries_;
    const std::size_t name = u16_at(out_, at + 28);
    next_central_ = at + central_size + name + u16_at(out_, at + 30) + u16_at(out_, at + 32);
    const auto local = locals_.find(name_at(at + central_size, name));
    if (local == locals_.end() || !mostly()) return;
    const Bytes common = Bytes(out_).subspan(local->second + 4, common_size);
    put_bytes(out_, at + 6, Blob(common.begin(), common.end()));
    if (u32_at(out_, at + 42) != 0xffffffff) put_u32(out_, at + 42, static_cast<std::uint32_t>(local->second));
  }

  void mend_zip64_end(std::size_t at) {
    put_u64(out_, at + 24, entries_);
    put_u64(out_, at + 32, entries_);
    put_u64(out_, at + 40, directory_end_ - directory_);
    put_u64(out_, at + 48, directory_);
  }

  void mend_end(std::size_t at) {
    if (u16_at(out_, at + 10) == 0xffff || u32_at(out_, at + 16) == 0xffffffff) return;
    put_u16(out_, at + 8, static_cast<std::uint16_t>(entries_));
    put_u16(out_, at + 10, static_cast<std::uint16_t>(entries_));
    put_u32(out_, at + 12, static_cast<std::uint32_t>(directory_end_ - directory_));
    put_u32(out_, at + 16, static_cast<std::uint32_t>(directory_));
  }

  Blob in_, out_;
  std::minstd_rand random_;
  std::map<std::string, std::size_t> locals_;  // by name: the last one before
  std::size_t directory_ = 0, directory_end_ = 0, next_central_ = 0, entries_ = 0, zip64_end_ = 0;
};

}  // namespace
}  // namespace onnxar::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  const std::size_t changed = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 8 == 0) return changed;
  const auto bytes = std::as_bytes(std::span(data, changed));
  const onnxar::testing::Blob mended = onnxar::fuzz::Mender({bytes.begin(), bytes.end()}, seed).mend();
  if (mended.size() > max_size) return changed;
  std::ranges::transform(mended, data, [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return mended.size();
}
