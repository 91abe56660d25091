// spec/vectors/manifest.json, which states the result of each vector.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "onnxar/error.h"
#include "support/programs.h"

namespace onnxar::testing {

using Json = nlohmann::json;

inline const std::filesystem::path& folder() {
  static const std::filesystem::path path = std::filesystem::path(ONNXAR_SOURCE_DIR) / "spec/vectors";
  return path;
}

/// Code, entry and offset of an error.
struct Fault {
  std::string code;
  std::string entry;
  std::optional<std::uint64_t> offset;

  friend bool operator==(const Fault&, const Fault&) = default;
  friend void PrintTo(const Fault& fault, std::ostream* out) {  // NOLINT(readability-identifier-naming)
    *out << fault.code << " entry \"" << escaped(fault.entry) << "\" at ";
    if (fault.offset) *out << *fault.offset;
  }
};

struct Vector {
  std::string file;
  Json row;

  [[nodiscard]] bool large() const { return row.value("large", false); }
  [[nodiscard]] std::string stage() const { return row["stage"].is_null() ? "" : row["stage"].get<std::string>(); }

  friend void PrintTo(const Vector& vector, std::ostream* out) {  // NOLINT(readability-identifier-naming)
    *out << vector.file << ": " << vector.row["about"].get<std::string>();
  }
};

inline std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoul(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

inline Fault expected_fault(const Json& row) {
  const bool text = row.contains("entry");
  return {row["code"], text ? row["entry"].get<std::string>() : bytes_of_hex(row["entry_hex"]), row["offset"]};
}

inline std::vector<Vector> manifest() {
  std::ifstream file(folder() / "manifest.json");
  std::vector<Vector> vectors;
  if (!file) return vectors;  // the test `IsWhole` reports it
  for (const Json& row : Json::parse(file)) vectors.push_back({row["file"], row});
  return vectors;
}

inline std::vector<Vector> of_size(bool large) {
  std::vector<Vector> vectors = manifest();
  std::erase_if(vectors, [large](const Vector& vector) { return vector.large() != large; });
  return vectors;
}

/// The vectors that are files of the project.
inline std::vector<Vector> kept() { return of_size(false); }

/// The vectors that are too large for that, and are generated.
inline std::vector<Vector> large() { return of_size(true); }

inline bool generate_large(const std::filesystem::path& into) {
  const std::filesystem::path generator = folder() / "generate.py";
  return run_program({ONNXAR_PYTHON, "-B", generator.string(), "--large", into.string()}) == 0;
}

inline std::string test_name(const ::testing::TestParamInfo<Vector>& info) {
  std::string name = std::filesystem::path(info.param.file).replace_extension().string();
  std::ranges::replace(name, '/', '_');
  return name;
}

}  // namespace onnxar::testing
