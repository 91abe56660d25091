#include "zip/name_index.h"

#include <bit>

#include "base/ascii_words.h"
#include "base/little_endian.h"
#include "onnxar/bytes.h"

namespace onnxar::zip {

// At most half of the slots are taken, so probe sequences stay short and always meet a vacant slot.
NameIndex::NameIndex(std::size_t count) : slots_(std::bit_ceil(count * 2 + 1)), mask_(slots_.size() - 1) {}

NameIndex::PrefixHasher::PrefixHasher(std::string_view name) : rest_(name), hash_(base::process_key()) {}

std::uint64_t NameIndex::PrefixHasher::up_to(std::size_t length) {
  constexpr std::size_t word_size = sizeof(std::uint64_t);
  for (; absorbed_ + word_size <= length; absorbed_ += word_size) {
    // Whole words are absorbed once; the shorter word at the end of each prefix goes to `finish`, which keeps the
    // state.
    hash_.absorb(base::folded_word(base::load<std::uint64_t>(as_bytes(rest_), 0)));
    rest_.remove_prefix(word_size);
  }
  return hash_.finish(base::folded_word(base::short_word(rest_.substr(0, length - absorbed_))), length);
}

std::uint64_t NameIndex::hash_of(std::string_view name) { return PrefixHasher(name).up_to(name.size()); }

}  // namespace onnxar::zip
