// Detects names that clash with each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "onnxar/error.h"
#include "zip/name_index.h"

namespace onnxar::zip {

/// Indexes `count` names: `name_of` returns the name of an index, `offset_of` the offset of its directory header.
/// Refuses names that are equal, that differ only in case, or that are a folder of another name. Errors:
/// zip.name.duplicate, zip.name.folded, zip.name.prefix. Cost: one allocation.
template <typename NameOf, typename OffsetOf>
NameIndex index_of_names(std::size_t count, const NameOf& name_of, const OffsetOf& offset_of) {
  NameIndex index(count);
  const auto place_of = [&](std::uint32_t i) { return Place{std::string(name_of(i)), offset_of(i)}; };
  bool folders = false;  // most archives have none, and skip the second pass
  for (std::uint32_t i = 0; i < count; ++i) {
    folders = folders || name_of(i).find('/') != std::string_view::npos;
    const auto clash = index.insert(i, name_of);
    if (!clash) continue;
    if (name_of(*clash) == name_of(i)) {  // N10, F21
      throw Error(Code::zip_name_duplicate, "two entries have this name", place_of(i));
    }
    throw Error(Code::zip_name_folded,  // N11, F21
                base::concat("the name differs from ", base::quoted(name_of(*clash)),
                             " in upper and lower case only; names must differ under folding"),
                place_of(i));
  }
  for (std::uint32_t i = 0; folders && i < count; ++i) {
    if (const auto folder = index.find_folder_of(name_of(i), name_of)) {  // N12, F21
      throw Error(
          Code::zip_name_prefix,
          base::concat("the entry ", base::quoted(name_of(*folder)), " would have to be both a file and a folder"),
          place_of(i));
    }
  }
  return index;
}

}  // namespace onnxar::zip
