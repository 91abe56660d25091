// Proves models and graphs against the entries of the archive that they become part of.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar {

/// The names and sizes of the entries of an archive, sorted.
using NamedSizes = std::vector<std::pair<std::string_view, std::uint64_t>>;

/// Proves a model or a graph that is the entry `name` of an archive with these entries: its links, and of a graph also
/// the values and rules G. Errors, relative to `model`: wire.*, onnx.*, archive.model.too_large, archive.graph.*.
void prove_model_entry(std::string_view name, Bytes model, const NamedSizes& entries);

/// As above, for what a writer has written. Errors say what that means for the archive. They have no offset: the file
/// is discarded, so an offset in it would lead nowhere.
void prove_written(std::string_view name, Bytes model, const NamedSizes& entries);
/// Returns the bytes of a graph, to prove it before it is written: a view if they lie in memory in one piece, else a
/// copy. `graph` must outlive it. Errors: archive.model.too_large, as above; those of `graph`.
ByteSpan bytes_of_graph(std::string_view name, const ByteSource& graph);

}  // namespace onnxar
