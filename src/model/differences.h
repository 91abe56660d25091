// Compares two models: matches the elements of repeated fields, and compares messages of the same type field by field,
// the data of tensors element by element, and the side files of two archives.
//
// The comparison of messages uses reflection, so that it covers fields that ONNX adds later. It walks two messages at
// once, and matches their elements by name; the walk in model/walk.h has one model and cannot serve here.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/front_end.h"
#include "onnxar/bytes.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Pairs of indices, and indices of elements that only one side has.
struct Matching {
  std::vector<std::pair<int, int>> both;  ///< sorted by the first index
  std::vector<int> removed, added;
};

/// Matches the elements of `field`, which are messages, in two messages of the same type: by unique names, then nodes
/// by unique outputs, then the rest in order. Cost: linear in the number of elements.
Matching match(const google::protobuf::Message& before, const google::protobuf::Message& after,
               const google::protobuf::FieldDescriptor& field);

/// Returns the name that identifies an element: a node's name, a property's key, an opset's domain. Empty if it has
/// none.
std::string name_in(const google::protobuf::Message& element);

/// A tensor in both models or in one, with its sites.
struct TensorPair {
  const schema::TensorProto* before = nullptr;
  const schema::TensorProto* after = nullptr;
  std::string site_before, site_after;
};

/// Adds the differences of two models to `changes`. Pairs of tensors are passed to `tensors`, which compares their
/// data.
void compare_messages(const schema::ModelProto& before, const schema::ModelProto& after,
                      std::vector<GraphChange>& changes, const std::function<void(const TensorPair&)>& tensors);

/// The exact value of each bit pattern of a floating point type of at most 16 bits, indexed by the pattern. Empty for
/// every other type.
std::vector<float> values_of_narrow_float(DataType type);

// Compares the side files of two archives, and which graphs they have.

/// Returns the differences, sorted by name. `changed_graphs` are the further graphs of both that differ: their bytes do
/// not tell, as they may name other data. Errors: as Archive::open; zip.local.*, zip.padding.*; wire.*. Cost: O(models)
/// + O(bytes of side files).
std::vector<FileChange> compare_side_files(const std::filesystem::path& before, const std::filesystem::path& after,
                                           const LoadOptions& load, const std::set<std::string>& changed_graphs);

/// Compares the CRC-32s of the archive's model, and of the entries whose data or bytes are different in the two models:
/// damage is no difference. Errors: zip.data.crc, io.changed; as `compare_side_files`.
void expect_undamaged(const std::filesystem::path& path, const LoadOptions& load, const Difference& found);

/// Compares the raw bytes of `elements` elements of a type. For an unknown type, each byte is an element. Padding bits
/// of the last byte are ignored. Returns an empty optional if the data is equal. REQUIRES: both have the same,
/// sufficient number of bytes.
std::optional<DataDifference> compare_data(Bytes before, Bytes after, DataType type, std::uint64_t elements);

}  // namespace onnxar
