// Finds entries by name, and detects names that clash.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "onnxar/error.h"
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
    return insert(index, hash_of(name_of(index)), name_of);
  }
  /// Does the same with the result of `announce`.
  template <typename NameOf>
  std::optional<std::uint32_t> insert(std::uint32_t index, std::uint64_t hash, const NameOf& name_of) {
    if (2 * (size_ + 1) > slots_.size()) grow(name_of);
    const std::string_view name = name_of(index);
    std::size_t slot = static_cast<std::size_t>(hash & mask_);
    for (; slots_[slot].index != vacant; slot = (slot + 1) & mask_) {
      const Slot& taken = slots_[slot];
      if (taken.tag == tag_of(hash) && equal_folded(name_of(taken.index), name)) return taken.index;
    }
    slots_[slot] = {index, tag_of(hash)};
    ++size_;
    return std::nullopt;
  }

  /// Returns the hash of a name that will be inserted, and begins to load its slot from memory.
  [[nodiscard]] std::uint64_t announce(std::string_view name) const {
    const std::uint64_t hash = hash_of(name);
    base::prefetch_line(slots_.data() + (hash & mask_));
    return hash;
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
    explicit PrefixHasher(base::Kept<std::string_view> name);
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

/// Returns the error of a name that is `taken`, or differs from it only in case.
inline Error name_clash(std::string_view taken, Place place) {
  if (taken == place.entry)
    return {Code::zip_name_duplicate, "two entries have this name", std::move(place)};  // N10, F21
  return {Code::zip_name_folded,                                                        // N11, F21
          base::concat("the name differs from ", base::quoted(taken),
                       " in upper and lower case only; names must differ by more than case"),
          std::move(place)};
}

/// Words the error of an entry whose name is a folder of another name.
inline std::string folder_clash(std::string_view name) {
  return base::concat("the entry ", base::quoted(name), " would have to be both a file and a folder");
}

/// Indexes `count` names: `name_of` returns the name of an index, `offset_of` the offset of its directory header.
/// Refuses names that are equal, that differ only in case, or that are a folder of another name. Throws
/// zip.name.duplicate, zip.name.folded or zip.name.prefix. `in_folder` says if the name of an index has a slash. Cost:
/// one allocation.
template <typename NameOf, typename OffsetOf, typename InFolder>
NameIndex index_of_names(std::size_t count, const NameOf& name_of, const OffsetOf& offset_of,
                         const InFolder& in_folder) {
  NameIndex index(count);
  const auto place_of = [&](std::uint32_t i) { return Place{std::string(name_of(i)), offset_of(i)}; };
  bool folders = false;                    // most archives have none, and skip the second pass
  std::array<std::uint64_t, 16> hashes{};  // of names whose slots are loaded at the same time
  for (std::uint32_t first = 0; first < count; first += static_cast<std::uint32_t>(hashes.size())) {
    const auto end = first + static_cast<std::uint32_t>(std::min(hashes.size(), count - first));
    for (std::uint32_t i = first; i < end; ++i) hashes[i - first] = index.announce(name_of(i));
    for (std::uint32_t i = first; i < end; ++i) {
      folders = folders || in_folder(i);
      if (const auto clash = index.insert(i, hashes[i - first], name_of))
        throw name_clash(name_of(*clash), place_of(i));
    }
  }
  for (std::uint32_t i = 0; folders && i < count; ++i) {
    if (const auto folder = index.find_folder_of(name_of(i), name_of)) {  // N12, F21
      throw Error(Code::zip_name_prefix, folder_clash(name_of(*folder)), place_of(i));
    }
  }
  return index;
}

/// Does the same, and looks for slashes itself.
template <typename NameOf, typename OffsetOf>
NameIndex index_of_names(std::size_t count, const NameOf& name_of, const OffsetOf& offset_of) {
  return index_of_names(count, name_of, offset_of,
                        [&name_of](std::uint32_t i) { return name_of(i).find('/') != std::string_view::npos; });
}

/// The names of the entries of an archive that is written: each new one is proved against those before it. Stores
/// indices, not names, as NameIndex does. Not synchronised.
class WrittenNames {
 public:
  WrittenNames() = default;
  explicit WrittenNames(std::size_t count) : index_(count) {}

  /// Adds a name that is known to clash with none, as those of an open archive are.
  template <typename NameOf>
  void add_proved(std::uint32_t index, const NameOf& name_of) {
    static_cast<void>(index_.insert(index, name_of));
    note_folders(name_of(index));
  }

  /// Adds a new name. Throws zip.name.* (it breaks a rule, or clashes with a name before it).
  template <typename NameOf>
  void add(std::uint32_t index, const NameOf& name_of) {
    const std::string_view name = name_of(index);
    const Place place{std::string(name), std::nullopt};
    check_name(name, place);
    if (index_.find_folder_of(name, name_of)) {  // N12
      throw Error(Code::zip_name_prefix, "an entry has the name of this entry's folder", place);
    }
    if (is_folder(name)) throw Error(Code::zip_name_prefix, "this name is a folder of another entry", place);
    if (const auto taken = index_.insert(index, name_of)) {  // N10, N11
      if (name_of(*taken) != name) throw name_clash(name_of(*taken), place);
      throw Error(Code::zip_name_duplicate,
                  "the archive has an entry of this name; use another name, or remove it first", place);
    }
    note_folders(name);
  }

 private:
  /// True if an entry lies in a folder of this name.
  [[nodiscard]] bool is_folder(std::string_view name) const;
  void note_folders(std::string_view name);

  NameIndex index_;
  std::set<std::string> in_folders_;  // folded names with a slash, sorted: the names in one folder are adjacent
};

/// Proves names as a writer that adds them does, before anything is written. The first `kept` are those of an open
/// archive. Throws zip.name.*. Cost: O(names).
void prove_new_names(std::span<const std::string_view> names, std::size_t kept);

}  // namespace onnxar::zip
