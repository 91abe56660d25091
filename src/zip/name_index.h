// Finding an entry by its name, and seeing names that clash.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "zip/names.h"

namespace onnxar::zip {

/// An open-addressing table of names. Holds indices, not names: `name_of` gives the name of an index.
///
/// Names hash under ASCII folding, so that one table serves look-ups (exact) and the rule that names differ under
/// folding. The hash is keyed with a random number of this process: nobody can make an archive whose names collide.
/// Threads: read-only after it was filled.
class NameIndex {
 public:
  NameIndex() = default;
  /// Room for `count` names; one allocation.
  explicit NameIndex(std::size_t count);

  /// Adds `index`; returns the index of a name that is equal under folding, if there is one (then nothing is added).
  template <typename NameOf>
  std::optional<std::uint32_t> insert(std::uint32_t index, const NameOf& name_of) {
    const std::string_view name = name_of(index);
    const std::uint64_t hash = hash_of(name);
    std::size_t slot = hash & mask_;
    for (; slots_[slot].index != vacant; slot = (slot + 1) & mask_) {
      const Slot& taken = slots_[slot];
      if (taken.tag == tag_of(hash) && equal_folded(name_of(taken.index), name)) return taken.index;
    }
    slots_[slot] = {index, tag_of(hash)};
    return std::nullopt;
  }

  /// The index of exactly `name`.
  template <typename NameOf>
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name, const NameOf& name_of) const {
    return find_hashed(hash_of(name), [&](std::uint32_t index) { return name_of(index) == name; });
  }

  /// The index of a name that is a folder of `name` under folding: `a` for `a/b`.
  template <typename NameOf>
  [[nodiscard]] std::optional<std::uint32_t> find_folder_of(std::string_view name, const NameOf& name_of) const {
    Hasher hasher;
    for (std::size_t begin = 0;;) {
      const std::size_t slash = name.find('/', begin);
      if (slash == std::string_view::npos) return std::nullopt;
      hasher.absorb(name.substr(begin, slash - begin));
      const std::string_view folder = name.substr(0, slash);
      const auto is_folder = [&](std::uint32_t index) { return equal_folded(name_of(index), folder); };
      if (const auto index = find_hashed(hasher.value(), is_folder)) return index;
      begin = slash + 1;
    }
  }

 private:
  static constexpr std::uint32_t vacant = 0xffffffff;
  struct Slot {
    std::uint32_t index = vacant;
    std::uint32_t tag = 0;
  };

  /// Absorbs a name part by part ('/' parts them), so that the hashes of all folders of a name fall out of one pass.
  class Hasher {
   public:
    Hasher();
    void absorb(std::string_view part);
    [[nodiscard]] std::uint64_t value() const noexcept { return state_; }

   private:
    void absorb_word(std::uint64_t word);

    std::uint64_t key_;
    std::uint64_t state_;
  };

  static std::uint64_t hash_of(std::string_view name);
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

  /// The index of that hash for which `is_it` holds.
  template <typename IsIt>
  [[nodiscard]] std::optional<std::uint32_t> find_hashed(std::uint64_t hash, const IsIt& is_it) const {
    if (slots_.empty()) return std::nullopt;
    for (std::size_t slot = hash & mask_; slots_[slot].index != vacant; slot = (slot + 1) & mask_) {
      if (slots_[slot].tag == tag_of(hash) && is_it(slots_[slot].index)) return slots_[slot].index;
    }
    return std::nullopt;
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
};

}  // namespace onnxar::zip
