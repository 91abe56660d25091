// Bytes that are not the same at each read: those of a server whose file is replaced, or of a hostile one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "support/zip_builder.h"

namespace onnxar::testing {

/// Changes bytes at every second read, after the first `quiet` ones.
class ChangingBytes {
 public:
  /// `at` counts from the first byte of a read: two bytes there become 0xFF, as if a header stated a longer name or
  /// extra field. From 64 on, every fourth byte changes, with another pattern for each number.
  ChangingBytes(Blob bytes, std::size_t at, std::size_t quiet) : bytes_(std::move(bytes)), at_(at), quiet_(quiet) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  /// REQUIRES: the range lies in the bytes.
  void read(std::uint64_t offset, std::span<std::byte> target) {
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), target.size(), target.begin());
    ++reads_;
    if (reads_ <= quiet_ || (reads_ - quiet_) % 2 == 0) return;
    if (at_ < 64) {
      for (std::size_t i = at_; i < std::min(at_ + 2, target.size()); ++i) target[i] = std::byte{0xFF};
    } else {
      for (std::size_t i = at_ % 4; i < target.size(); i += 4) target[i] ^= static_cast<std::byte>(at_ * 37 + i);
    }
  }

  /// The numbers of changes that tests go through: those of the fields of headers and end records, and a few more.
  static constexpr std::size_t changes = 72;

 private:
  Blob bytes_;
  std::size_t at_;
  std::size_t quiet_;
  std::size_t reads_ = 0;
};

/// The vectors of the specification that are not large.
inline std::vector<Blob> small_vectors() {
  std::vector<Blob> found;
  for (const auto& file : std::filesystem::recursive_directory_iterator(ONNXAR_SOURCE_DIR "/spec/vectors")) {
    if (file.path().extension() != ".onnxar" || file.file_size() > (64U << 10U)) continue;
    std::ifstream in(file.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    found.push_back(blob(text));
  }
  return found;
}

}  // namespace onnxar::testing
