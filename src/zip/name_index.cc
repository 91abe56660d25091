// Hashes the names of entries without their case, and finds the names that lie in a folder.
#include "zip/name_index.h"

#include <bit>

#include "base/kept.h"

namespace onnxar::zip {

// At most half of the slots are taken, so probe sequences stay short and always meet a vacant slot.
NameIndex::NameIndex(std::size_t count) : slots_(std::bit_ceil(count * 2 + 1)), mask_(slots_.size() - 1) {}

NameIndex::PrefixHasher::PrefixHasher(base::Kept<std::string_view> name) : rest_(name), hash_(base::process_key()) {}

std::uint64_t NameIndex::PrefixHasher::up_to(std::size_t length) {
  // Whole words are absorbed once; the shorter word at the end of each prefix goes to `finish`, which keeps the state.
  const std::size_t more = length - absorbed_;
  const std::string_view last = base::absorb_words<base::folded_word>(hash_, rest_.substr(0, more));
  rest_.remove_prefix(more - last.size());
  absorbed_ = length - last.size();
  return hash_.finish(base::folded_word(base::short_word(last)), length);
}

std::uint64_t NameIndex::hash_of(std::string_view name) {
  return base::sip_hash<base::folded_word>(base::process_key(), name);
}

bool WrittenNames::is_folder(std::string_view name) const {
  if (in_folders_.empty()) return false;
  // The set is sorted, so the names in a folder follow its own name: one look-up finds out if it has any.
  const std::string folder = base::folded_copy(name) + '/';
  const auto first = in_folders_.lower_bound(folder);
  return first != in_folders_.end() && first->starts_with(folder);
}

void WrittenNames::note_folders(std::string_view name) {
  if (name.find('/') != std::string_view::npos) in_folders_.insert(base::folded_copy(name));
}

void prove_new_names(std::span<const std::string_view> names, std::size_t kept) {
  WrittenNames written(names.size());
  const auto name_of = [names](std::uint32_t i) { return names[i]; };
  for (std::uint32_t i = 0; i < names.size(); ++i) i < kept ? written.add_proved(i, name_of) : written.add(i, name_of);
}

}  // namespace onnxar::zip
