// Texts that a hash without a key, or with a fixed seed, does not tell apart.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace onnxar::testing {

/// 2^bits texts with one MurmurHash64A, the string hash of libstdc++: its words of eight bytes can be chosen so that
/// each undoes the effect of the one before.
class CollidingTexts {
 public:
  explicit CollidingTexts(int bits) {
    texts_ = {""};
    for (int i = 0; i < bits; ++i) {
      const auto word = std::uint64_t{0x1234567890abcdef} * static_cast<std::uint64_t>(2 * i + 1);
      std::vector<std::string> longer;
      for (const std::string& text : texts_) {
        longer.push_back(text + bytes_of(word) + bytes_of(~word));
        longer.push_back(text + bytes_of(other(word)) + bytes_of(other(~word)));
      }
      texts_ = std::move(longer);
    }
  }
  [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  static constexpr std::uint64_t multiplier = 0xc6a4a7935bd1e995;
  static std::uint64_t shifted(std::uint64_t value) { return value ^ value >> 47U; }
  static std::uint64_t inverse() {
    std::uint64_t found = 1;  // Newton's steps double the number of correct bits
    for (int i = 0; i < 6; ++i) found *= 2 - multiplier * found;
    return found;
  }
  /// The word that has the effect of `word` on the hash, with the top bit inverted.
  static std::uint64_t other(std::uint64_t word) {
    const std::uint64_t mixed = shifted(word * multiplier) * multiplier ^ 1ULL << 63U;
    return shifted(mixed * inverse()) * inverse();
  }
  static std::string bytes_of(std::uint64_t word) { return {reinterpret_cast<const char*>(&word), sizeof word}; }

  std::vector<std::string> texts_;
};

}  // namespace onnxar::testing
