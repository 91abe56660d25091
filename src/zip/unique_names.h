// Detects names that clash with each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "onnxar/error.h"
#include "zip/name_index.h"

namespace onnxar::zip {

/// The error of a name that is `taken`, or differs from it only in case.
inline Error name_clash(std::string_view taken, Place place) {
  if (taken == place.entry)
    return {Code::zip_name_duplicate, "two entries have this name", std::move(place)};  // N10, F21
  return {Code::zip_name_folded,                                                        // N11, F21
          base::concat("the name differs from ", base::quoted(taken),
                       " in upper and lower case only; names must differ under folding"),
          std::move(place)};
}

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
    if (const auto clash = index.insert(i, name_of)) throw name_clash(name_of(*clash), place_of(i));
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
