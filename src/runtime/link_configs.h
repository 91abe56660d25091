// Edits the configurations in a folder of links, so that runtimes find the archive's folder.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "convert/package.h"

namespace onnxar {

/// Returns the path of the archive's folder relative to the folder `from` of the tree, for a link in the folder of
/// `graph`; empty if there is no such link, or if the archive is beside it. Both names have no `/` at the end.
using ArchiveFolder = std::function<std::string(const std::string& from, const std::string& graph)>;

/// Returns the files of a package that change, by name. The package becomes an installed one, whose variants name the
/// archive's folder in their session options. Omits shared assets for which `has_path` returns false, because a loader
/// refuses assets without a folder. Throws usage.argument, at the entry and byte, if a key occurs twice.
std::map<std::string, std::string> installed_package(const Package& package, const ArchiveFolder& archive_folder,
                                                     const std::function<bool(const std::string&)>& has_path);

/// Returns the configuration of ONNX Runtime GenAI in which all sessions name this folder of the archive; nothing if
/// the text is not such a configuration. Throws usage.argument, at the entry and byte, if it is not JSON.
std::optional<std::string> genai_with_folder(const std::string& text, const std::string& folder);

}  // namespace onnxar
