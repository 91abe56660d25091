// Reads the files of a package out of an archive or its side files, and chooses graphs by the names of variants.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/kept.h"
#include "base/keyed_hash.h"
#include "convert/model_source.h"
#include "convert/package_edit.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Returns the text of a file of a package; a text over the limit of packages (Package::most_bytes) instead of a longer
/// one.
std::string package_text(const ByteSource& source);
/// Returns the text of an entry; nothing if there is no such entry. Throws what `Archive::verify` throws.
std::optional<std::string> package_text(const Archive& archive, const std::string& name);
/// Returns a source that owns the text.
std::shared_ptr<const ByteSource> package_source(const std::string& text);

/// Edits the files of a package among the side files of a new archive.
class PackageFiles {
 public:
  explicit PackageFiles(base::Kept<std::vector<SideFile>> files);

  /// Returns the text of a file, as Package::TextOf.
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const;
  /// Makes the changes. Nothing else may be called after it.
  void apply(const PackageChanges& changes);

 private:
  std::vector<SideFile>& files_;
  base::KeyedMap<std::string, std::size_t> places_;
};

/// Returns the graphs of an archive that LoadOptions::graph and further_graphs name, each once, the model first;
/// nothing if no graph is named. Throws usage.no_such_entry if neither a graph nor a variant has a name; usage.argument
/// if there are further graphs but no first one; what `Archive::graph` and `Archive::verify` throw.
std::vector<ArchiveEntry> chosen_graphs(const Archive& archive, const LoadOptions& options);

/// Removes the variants of all graphs of the archive except `chosen` from the manifest among the side files.
void keep_variants(std::vector<SideFile>& side_files, const Archive& archive, std::span<const ArchiveEntry> chosen);

}  // namespace onnxar
