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

/// Texts of the package that an edit changes, by name; nothing for a file to remove.
struct PackageChanges {
  std::map<std::string, std::optional<std::string>> files = {};
  std::vector<Finding> warnings = {};
};

/// Makes graphs variants. A graph that is one already gets the new provider and device; others come after the variants
/// of their component. Makes a manifest if there is none. `graphs` are the names of all graphs of the archive. Warns of
/// a variant that is never chosen because one before it fits wherever it fits. Errors: usage.argument (no graph has the
/// name; an unknown provider or device; a manifest of something else, or with faults; another graph is the
/// variant of this name); those of `text_of`.
PackageChanges with_variants(const Package::TextOf& text_of, std::span<const GraphVariant> variants,
                             std::span<const std::string> graphs);

/// Removes the variants of graphs, components that no longer have variants, and the manifest if it no longer has
/// components. Does nothing without a manifest of a package.
PackageChanges without_variants(const Package::TextOf& text_of, std::span<const std::string> graphs);

}  // namespace onnxar
