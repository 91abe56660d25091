// Writes variants into the manifest of a model package, and removes them, without changing the rest of its text.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convert/package.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar {

/// Holds the texts of the package that an edit changes, by name; nothing for a file to remove.
struct PackageChanges {
  std::map<std::string, std::optional<std::string>> files = {};
  std::vector<Finding> warnings = {};
};

/// Makes graphs variants. A graph that already is a variant gets the new provider and device; others are added after
/// the variants of their component. Makes a manifest if there is none. `graphs` must be the names of all graphs of the
/// archive. Warns of a variant that is never chosen, because an earlier one fits wherever it fits. Throws
/// usage.argument if no graph has the name, if the provider or device is unknown, if the manifest is faulty or not that
/// of a package, or if another graph is the variant of this name; also throws what `text_of` throws.
PackageChanges with_variants(const Package::TextOf& text_of, std::span<const GraphVariant> variants,
                             std::span<const std::string> graphs);

/// Removes the variants of graphs, components that no longer have variants, and the manifest if it no longer has
/// components. Does nothing if there is no manifest of a package.
PackageChanges without_variants(const Package::TextOf& text_of, std::span<const std::string> graphs);

}  // namespace onnxar
