// Gives an archive that is planned the manifest of its variants.
#pragma once

#include <string>
#include <vector>

#include "convert/companions.h"
#include "convert/load.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar {

/// Puts variants into the manifest among the side files of a new archive. Returns warnings. Errors: as `with_variants`.
std::vector<Finding> add_variants(ArchiveCompanions& companions, const LoadedModel& model,
                                  const std::vector<GraphVariant>& variants);

/// The options of an edit with a changed manifest: without the variants of graphs that are removed, and with those that
/// are to be added. `options.add` has all graphs that are added. Warnings go to `remarks`. Errors: as `with_variants`;
/// those of reading the manifest.
ReplaceOptions with_manifest(const Archive& archive, ReplaceOptions options, std::vector<Finding>& remarks);

}  // namespace onnxar
