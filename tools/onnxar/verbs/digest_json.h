// Converts the digest of an entry to JSON.
#pragma once

#include "onnxar/listing.h"
#include "shell/json.h"

namespace onnxar {

inline void to_json(tool::Json& json, const EntryDigest& entry) {
  json = {{"name", entry.name}, {"sha256", entry.hex}};
}

}  // namespace onnxar
