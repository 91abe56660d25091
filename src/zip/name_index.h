// Finds entries by name, and detects names that clash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "zip/names.h"

namespace onnxar::zip {

/// An open-addressing hash table of names. Stores indices, not names: `name_of` returns the name of an index.
///
/// Names are hashed in lower case, so that one table serves exact look-ups and the rule that names must differ in more
/// than case (N11). The hash has a secret key per process, so that a file cannot choose names that all collide.
/// Threads: any number may read concurrently once the table is filled.
class NameIndex {
 public:
  NameIndex() = default;
  /// Makes room for `count` names in one allocation.
  explicit NameIndex(std::size_t count);

  /// Adds `index`. If a name that is equal under folding is present, returns its index and adds nothing. A full table
  /// doubles, which hashes every name again.
  template <typename NameOf>
  std::optional<std::uint32_t> insert(std::uint32_t index, const NameOf& name_of) {
    if (2 * (size_ + 1) > slots_.size()) grow(name_of);
    const std::string_view name = name_of(index);
    const std::uint64_t hash = hash_of(name);
    std::size_t slot = static_cast<std::size_t>(hash & mask_);
    for (; slots_[slot].index != vacant; slot = (slot + 1) & mask_) {
      const Slot& taken = slots_[slot];
      if (taken.tag == tag_of(hash) && equal_folded(name_of(taken.index), name)) return taken.index;
    }
    slots_[slot] = {index, tag_of(hash)};
    ++size_;
    return std::nullopt;
  }

  /// Returns the index of `name`, compared exactly.
  template <typename NameOf>
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name, const NameOf& name_of) const {
    return find_hashed(hash_of(name), [&](std::uint32_t index) { return name_of(index) == name; });
  }

  /// Returns the index of a name that is a folder of `name` under folding: `a` for `a/b`. Cost: O(bytes of `name`) for
  /// any number of folders.
  template <typename NameOf>
  [[nodiscard]] std::optional<std::uint32_t> find_folder_of(std::string_view name, const NameOf& name_of) const {
    PrefixHasher hasher(name);
    for (std::size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1)) {
      const std::string_view folder = name.substr(0, slash);
      const auto is_folder = [&](std::uint32_t index) { return equal_folded(name_of(index), folder); };
      if (const auto index = find_hashed(hasher.up_to(slash), is_folder)) return index;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t vacant = 0xffffffff;
  struct Slot {
    std::uint32_t index = vacant;
    std::uint32_t tag = 0;
  };

  /// Hashes the folded prefixes of a name in one pass.
  class PrefixHasher {
   public:
    explicit PrefixHasher(std::string_view name);
    /// Returns the hash of the first `length` characters. REQUIRES: `length` is not less than in the previous call.
    std::uint64_t up_to(std::size_t length);

   private:
    std::string_view rest_;  // the bytes that are not absorbed yet
    std::size_t absorbed_ = 0;
    base::SipHash hash_;
  };

  static std::uint64_t hash_of(std::string_view name);
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

  template <typename NameOf>
  void grow(const NameOf& name_of) {
    NameIndex larger(size_ * 2 + 8);
    for (const Slot& slot : slots_) {
      if (slot.index != vacant) larger.insert(slot.index, name_of);
    }
    *this = std::move(larger);
  }

  /// Returns the index with this hash for which `is_it` returns true.
  template <typename IsIt>
  [[nodiscard]] std::optional<std::uint32_t> find_hashed(std::uint64_t hash, const IsIt& is_it) const {
    if (slots_.empty()) return std::nullopt;
    for (std::size_t slot = static_cast<std::size_t>(hash & mask_); slots_[slot].index != vacant;
         slot = (slot + 1) & mask_) {
      if (slots_[slot].tag == tag_of(hash) && is_it(slots_[slot].index)) return slots_[slot].index;
    }
    return std::nullopt;
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace onnxar::zip
