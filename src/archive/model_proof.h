// Proves models and graphs: their size, and their links against the entries of their archive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/kept.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// True if protobuf can read a message of `size` bytes.
constexpr bool fits_protobuf(std::uint64_t size) noexcept { return size <= model_size_maximum; }

/// Words the message for a model that does not fit: with `the model is` it returns
/// `the model is 3.00 GiB (3221225472 bytes), and protobuf reads less than 2 GiB`.
std::string oversize_text(std::string_view subject_and_verb, std::uint64_t size);

/// Lists the names and sizes of the entries of an archive, sorted.
using NamedSizes = std::vector<std::pair<std::string_view, std::uint64_t>>;

/// Proves the links of a model or graph that is the entry `name` of an archive with these entries. For a graph, also
/// checks the values and rules G. Throws wire.*, onnx.*, archive.model.too_large and archive.graph.*, with offsets
/// relative to `model`.
void prove_model_entry(std::string_view name, Bytes model, const NamedSizes& entries);

/// Does the same for a model that a writer has written. Errors state the consequence for the archive. They have no
/// offset, because the file is discarded.
void prove_written(std::string_view name, Bytes model, const NamedSizes& entries);
/// Returns the bytes of a graph, to prove it before it is written: a view if they lie in memory in one piece, else a
/// copy. Throws archive.model.too_large and what `graph` throws.
ByteSpan bytes_of_graph(std::string_view name, base::Kept<const ByteSource> graph);

}  // namespace onnxar
