// Describes in text what a stored model was made from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "onnxar/stored_model.h"

namespace onnxar {

/// Returns a line for each thing that a stored model depends on. Later sessions compare the whole text.
std::string key_text(const StoredModel::Key& key, std::string_view digest);
/// Returns the text with the archive's path, which only lists use.
std::string about_text(std::string_view key_text, const std::filesystem::path& archive);

/// Holds the fields for a list.
struct StoredAbout {
  std::string archive, runtime;
  std::string rest;  ///< what follows the text of `about_text`

  /// Parses a text; returns nothing if `about_text` did not write it.
  static std::optional<StoredAbout> read(std::string_view text);
};

}  // namespace onnxar
