// The text of what a stored model was made from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "onnxar/link.h"

namespace onnxar {

/// Returns a line for each thing that a stored model depends on. Later sessions compare the whole text.
std::string key_text(const StoredModel::Key& key, std::string_view digest);
/// Adds what is only for lists: the archive's path.
std::string about_text(std::string_view key_text, const std::filesystem::path& archive);

/// The fields for a list.
struct StoredAbout {
  std::string archive, runtime;
  std::string rest;  ///< after the text of `about_text`

  /// Returns nothing if the text is none of `about_text`.
  static std::optional<StoredAbout> read(std::string_view text);
};

}  // namespace onnxar
