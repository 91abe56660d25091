// Adds the manifest of its variants to a planned archive.
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

/// Puts variants into the manifest among the side files of a new archive. Returns warnings. Throws what `with_variants`
/// throws.
std::vector<Finding> add_variants(ArchiveCompanions& companions, const LoadedModel& model,
                                  const std::vector<GraphVariant>& variants);

/// Returns the options of an edit with a changed manifest: without the variants of removed graphs, and with the
/// variants to be added. `options.add` must have all added graphs. Adds warnings to `remarks`. Throws what
/// `with_variants` throws, and what reading the manifest throws.
ReplaceOptions with_manifest(const Archive& archive, ReplaceOptions options, std::vector<Finding>& remarks);

}  // namespace onnxar
