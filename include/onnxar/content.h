// Reads the content of an archive without protobuf: entries and their kinds, tensors and their bytes, metadata, digest.
//
//   const onnxar::Archive archive = onnxar::Archive::open("model.onnxar");
//   const onnxar::TensorIndex tensors(archive);  // reads the model once: keep it
//   if (const auto* weight = tensors.find("encoder.weight")) use(weight->dims, onnxar::tensor_data(archive, *weight));
//   for (const onnxar::ListedEntry& entry : onnxar::ls(archive).entries) use(entry.name, entry.size);
//
// Threads: all functions and const members may be called concurrently. These calls return a tensor's bytes:
//
// | you have                             | call                                      | header        |
// |--------------------------------------|-------------------------------------------|---------------|
// | a TensorProto of your own protobuf   | resolve; resolve_all for those of a model | content.h     |
// | the name of a tensor; a StoredTensor | TensorIndex::find; tensor_data            | content.h     |
// | location, offset and length          | Archive::resolve                          | archive.h     |
// | an ArchiveEntry                      | Archive::bytes; read_entry copies         | archive.h     |
// | a RuntimeTensor                      | RuntimeTensor::bytes                      | link.h        |
// | an index of a ModelReader            | ModelReader::read, in pieces              | convert.h     |
// | a schema::TensorProto of a Model     | Model::payload                            | model/model.h |
// | a model file of any form             | extract, as files                         | convert.h     |
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace ONNXAR_API onnxar {

enum class EntryKind : std::uint8_t {
  weight,     ///< a tensor of the model or of a graph names it
  side_file,  ///< no tensor names it, and its name is not a C identifier: `tokenizer.json`
  graph,      ///< a further graph over the same weights: `NAME.onnx`, in any folder
  unused,     ///< no tensor names it, and its name is a key: left by an edit
  model,      ///< `__MODEL_PROTO`
};
[[nodiscard]] std::string_view to_string(EntryKind kind) noexcept;

struct ListedEntry {
  std::string name;
  std::uint64_t offset = 0;  ///< of the first byte, absolute
  std::uint64_t size = 0;    ///< bytes
  std::uint32_t crc32 = 0;
  std::uint64_t alignment = 0;      ///< as recorded; 64 without a record; 0 if unknown (archive read in ranges)
  std::uint64_t header_offset = 0;  ///< absolute
  std::uint64_t padding = 0;        ///< bytes of the padding record
  std::vector<TensorInfo> tensors;  ///< with data in this entry: the model's, or if there are none, those of graphs[0]
  EntryKind kind = EntryKind::weight;
  /// The entries of the graphs whose tensors have data in this entry, the model first. A damaged graph
  /// counts as far as it is readable.
  std::vector<std::string> graphs = {};
};

struct Listing {
  std::uint64_t file_size = 0;
  std::uint64_t alignment = 0;      ///< the smallest recorded one; 0 if unknown
  std::uint64_t unused_bytes = 0;   ///< of earlier states of the model, left by edits
  std::uint64_t padding_bytes = 0;  ///< of padding records
  ListedEntry model;
  std::vector<ListedEntry> entries;  ///< all others, in the order of the file
  std::string model_name = {};       ///< among the graphs, if it has one
};

/// Lists the content of an archive. Throws io.*, zip.*, archive.*, wire.*. Cost: O(directory + model); reads every
/// local header.
[[nodiscard]] Listing ls(const std::filesystem::path& path, const LoadOptions& options = {});
/// With range reading, reads no local header: offsets are computed, and `padding` is everything between the name and
/// the data.
[[nodiscard]] Listing ls(const Archive& archive, const LoadOptions& options = {});

/// A tensor of an archive's model.
struct StoredTensor : TensorInfo {
  std::uint64_t offset = 0;  ///< of the TensorProto in the model, bytes
  std::uint64_t size = 0;    ///< of the TensorProto, bytes
};

/// Returns every tensor of the model, at every site, in the order of the model. Throws wire.*, onnx.*. Cost: O(model).
[[nodiscard]] std::vector<StoredTensor> tensors(const Archive& archive, const LoadOptions& options = {});

/// Returns the raw bytes of a tensor of this archive (see `tensors`). The span has a share in their memory. They are
/// - data in an entry: a view, aligned like the entry, or like the link's offset if that is not 0;
/// - data in the model at a multiple of 64: a view;
/// - data elsewhere in the model, and typed fields, which are decoded: a copy at a multiple of 64.
///
/// The archive keeps copies up to the size of the model, so later calls return the same bytes; beyond that, each call
/// copies. Throws usage.foreign_entry (not of this archive's model); onnx.external*, onnx.tensor.* (.strings: they have
/// no raw bytes; .not_converted: too many typed values, or out of range); what Archive::locate throws. Cost: O(fields
/// of the tensor), and O(bytes) for a copy.
[[nodiscard]] ByteSpan tensor_data(const Archive& archive, const StoredTensor& tensor);

/// Returns the entry with the data of a tensor that `tensors` returned for this archive; nullopt if the data is in the
/// model. Reads no data. The name is valid as long as the archive. Throws what `tensor_data` throws. Cost: O(fields of
/// the tensor).
[[nodiscard]] std::optional<ArchiveEntry> tensor_entry(const Archive& archive, const StoredTensor& tensor);
std::optional<ArchiveEntry> tensor_entry(const Archive&& archive, const StoredTensor& tensor) = delete;

/// All tensors of an archive's model by name, and as a range in the order of the model. Move-only.
class TensorIndex {
 public:
  /// Reads the model, no data. Throws wire.*, onnx.*. Cost: O(model).
  explicit TensorIndex(const Archive& archive, const LoadOptions& options = {});

  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end() - begin()); }
  /// Returns a tensor; valid as long as the index, like the results of the next three. REQUIRES: index < size().
  [[nodiscard]] const StoredTensor& operator[](std::size_t index) const& noexcept { return begin()[index]; }
  const StoredTensor& operator[](std::size_t index) const&& = delete;
  [[nodiscard]] const StoredTensor* begin() const& noexcept;
  [[nodiscard]] const StoredTensor* end() const& noexcept;
  const StoredTensor* begin() const&& = delete;
  const StoredTensor* end() const&& = delete;
  /// Returns null if no tensor has this name. If several do, returns the initializer of the main graph. Never finds a
  /// tensor without a name, and searches no entries and sites: a runtime may ask for each input of a node. Throws
  /// usage.ambiguous_tensor, with the candidates' sites (two such initializers, or none and several tensors at other
  /// sites). Cost: O(1).
  [[nodiscard]] const StoredTensor* find(std::string_view name) const&;
  const StoredTensor* find(std::string_view name) const&& = delete;

 private:
  struct Parts;
  detail::Owned<Parts> parts_;
};

/// Returns the entries that tensors of additional graphs name, even if the model names them too, in the order of the
/// file. Throws wire.*, onnx.*, with the entry of the graph that cannot be read. Cost: O(directory + model + graphs).
[[nodiscard]] std::vector<ArchiveEntry> entries_of_graphs(const Archive& archive, const LoadOptions& options = {});
std::vector<ArchiveEntry> entries_of_graphs(const Archive&& archive, const LoadOptions& options = {}) = delete;

/// Returns the entries of kind side_file, in the order of the file. Valid as long as the archive.
[[nodiscard]] std::vector<ArchiveEntry> side_files(const Archive& archive, const LoadOptions& options = {});
std::vector<ArchiveEntry> side_files(const Archive&& archive, const LoadOptions& options = {}) = delete;

/// Returns the model's metadata_props in their order, as views of the archive. Throws wire.*.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive& archive);
std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive&& archive) = delete;

// --- The digest ------------------------------------------------------------------------------------------------------

/// The side file that holds a signature of the digest. The digest does not cover it.
inline constexpr std::string_view signature_entry_name = "onnxar.sig";

struct DigestOptions {
  std::size_t threads = 0;         ///< each hashes one entry at a time; 0: one for each core
  ProgressCallback progress = {};  ///< bytes of entries that were hashed
};

struct EntryDigest {
  std::string name;
  std::string hex;  ///< SHA-256 of the entry's bytes: 64 lower-case hexadecimal digits
};

/// The digest of an archive's content (spec/digest.md): of the names and bytes of all entries except the side file
/// `signature_entry_name`. It does not depend on the order of the entries, their offsets or the file's name.
struct Digest {
  std::string hex;                   ///< SHA-256 of the manifest
  std::vector<EntryDigest> entries;  ///< in ascending order of the names' bytes, the model under its own name

  /// Returns a line `HEX  NAME` for each entry, as sha256sum prints it for the unzipped archive.
  [[nodiscard]] std::string manifest() const;
};

/// Computes the digest. Reads all entries and compares their CRC-32s, so damaged data has no digest. With range
/// reading, one thread reads from front to back and keeps nothing. Throws zip.data.crc; io.changed (the file changed
/// meanwhile); what Archive::locate throws; wire.*, onnx.* (only if there is an entry `signature_entry_name`, as graphs
/// are then read). Cost: O(bytes), 1 to 2 GB/s per thread on CPUs with SHA-256 instructions; threads do not share an
/// entry. Memory: 1 MiB per thread, 16 MiB with range reading.
[[nodiscard]] Digest digest(const Archive& archive, const DigestOptions& options = {});

// --- Tensors of your own protobuf ------------------------------------------------------------------------------------
//
// Needs no protobuf: the templates use the members that protoc gives every class for onnx.proto, in any package, full
// or lite, proto2 or proto3:
//
//   model.ParseFromArray(archive.model().data(), static_cast<int>(archive.model().size()));
//   onnxar::resolve_all(archive, model, [](const auto& tensor, std::optional<onnxar::Bytes> data) { ... });

/// The description of a tensor's data, as views of the message. `tensor_message` makes one from a generated class;
/// programs without protobuf may fill it in.
struct TensorMessage {
  std::string_view name;
  DataType type = DataType::undefined;
  std::span<const std::int64_t> dims;
  bool external = false;  ///< data_location is EXTERNAL
  std::optional<Bytes> raw_data;
  bool typed_data = false;  ///< float_data, int32_data, string_data, ... has values
  std::vector<std::pair<std::string_view, std::string_view>> external_data;  ///< keys and values
};

/// Returns the raw bytes of a tensor: external data in the archive, else raw_data, which may be longer than type and
/// dims require. Absent if the message holds values in typed fields (strings always do): read them there. Elements
/// below 8 bits are packed. Nothing is copied, so data in the message may have any address. Valid as long as archive
/// and message. It is as strict as loading: offset and length are plain decimals, the length is the one that type and
/// dims require, and a tensor has one field of data. Checksums of links are not compared. Throws onnx.external*,
/// onnx.tensor.*, naming the tensor; at an entry's first use what Archive::locate throws. Cost: O(1), about 100 ns.
[[nodiscard]] std::optional<Bytes> resolve(const Archive& archive, const TensorMessage& tensor);
std::optional<Bytes> resolve(const Archive&& archive, const TensorMessage& tensor) = delete;

template <typename T>
concept GeneratedTensor = requires(const T& tensor) {
  tensor.external_data();
  tensor.data_location();
  tensor.raw_data();
};

template <typename T>
concept GeneratedModel = requires(const T& model) { model.graph().initializer(); };

template <GeneratedTensor TensorProto>
[[nodiscard]] TensorMessage tensor_message(const TensorProto& tensor) {
  TensorMessage message;
  message.name = tensor.name();
  message.type = static_cast<DataType>(tensor.data_type());
  message.dims = {tensor.dims().data(), static_cast<std::size_t>(tensor.dims().size())};
  message.external = static_cast<int>(tensor.data_location()) == 1;  // EXTERNAL of TensorProto.DataLocation
  bool has_raw_data = !tensor.raw_data().empty();
  if constexpr (requires { tensor.has_raw_data(); }) has_raw_data = tensor.has_raw_data();  // not in proto3
  if (has_raw_data) message.raw_data = as_bytes(tensor.raw_data());
  message.typed_data = !tensor.float_data().empty() || !tensor.int32_data().empty() || !tensor.string_data().empty() ||
                       !tensor.int64_data().empty() || !tensor.double_data().empty() || !tensor.uint64_data().empty();
  for (const auto& pair : tensor.external_data()) message.external_data.emplace_back(pair.key(), pair.value());
  return message;
}
template <GeneratedTensor TensorProto>
TensorMessage tensor_message(const TensorProto&& tensor) = delete;

template <GeneratedTensor TensorProto>
[[nodiscard]] std::optional<Bytes> resolve(const Archive& archive, const TensorProto& tensor) {
  return resolve(archive, tensor_message(tensor));
}
template <GeneratedTensor TensorProto>
std::optional<Bytes> resolve(const Archive&& archive, const TensorProto& tensor) = delete;
template <GeneratedTensor TensorProto>
std::optional<Bytes> resolve(const Archive& archive, const TensorProto&& tensor) = delete;

/// Walks through the archive's own model, and refuses what protobuf libraries read in different ways: a repeated graph,
/// a repeated key of external_data, nesting that is too deep. Throws wire.*, onnx.*. Cost: O(model).
void prove_model(const Archive& archive);

/// The place of a tensor in a model.
struct TensorPlace {
  /// Names are unique only in one graph. 0 is the main graph; every other graph (a branch, a body, training info) and
  /// every function has its own number, in the order of the walk.
  std::size_t graph = 0;
  /// Like StoredTensor::site; valid during the visit: `graph.initializer[3]`,
  /// `graph.node[0].attr.then_branch.node[2].attr.value`, `functions[1].node[0].attr.value`.
  std::string_view site;
};

namespace detail {

/// Appends a step to the text of a site, and returns the previous text. An empty `label`: the value of an attribute.
std::string step_into(std::string& site, std::string_view label, std::optional<std::size_t> index,
                      std::string_view attribute_name);

/// Calls `visit` with every tensor and its place (with a site only if `sites`). Recurses as deep as protobuf's parser.
template <bool sites, typename Visit>
class TensorWalk {
 public:
  TensorWalk(std::bool_constant<sites> /*selects the class*/, Visit visit) : visit_(std::move(visit)) {}

  void model(const auto& model) {
    in("graph", [&] { graph(model.graph()); });
    each("training_info", model.training_info(), [&](const auto& info) {
      in("initialization", [&] { graph(info.initialization()); });
      in("algorithm", [&] { graph(info.algorithm()); });
    });
    each("functions", model.functions(), [&](const auto& function) {
      in_graph([&] {
        nodes(function.node());
        if constexpr (requires { function.attribute_proto(); }) {  // ONNX 1.14
          attributes("attribute_proto", function.attribute_proto());
        }
      });
    });
  }

 private:
  void graph(const auto& graph) {
    in_graph([&] {
      nodes(graph.node());
      each("initializer", graph.initializer(), [&](const auto& tensor) { visit(tensor); });
      each("sparse_initializer", graph.sparse_initializer(), [&](const auto& tensor) { sparse(tensor); });
    });
  }
  void nodes(const auto& nodes) {
    each("node", nodes, [&](const auto& node) { attributes("attribute", node.attribute()); });
  }
  void attributes(std::string_view label, const auto& attributes) {
    std::size_t i = 0;
    for (const auto& given : attributes) in(label, [&] { attribute(given); }, i++, given.name());
  }
  void attribute(const auto& attribute) {
    if (attribute.has_t()) visit(attribute.t());
    if (attribute.has_g()) graph(attribute.g());
    if (attribute.has_sparse_tensor()) sparse(attribute.sparse_tensor());
    each("", attribute.tensors(), [&](const auto& tensor) { visit(tensor); });
    each("", attribute.graphs(), [&](const auto& subgraph) { graph(subgraph); });
    each("", attribute.sparse_tensors(), [&](const auto& tensor) { sparse(tensor); });
  }
  void sparse(const auto& sparse) {
    if (sparse.has_values()) in("values", [&] { visit(sparse.values()); });
    if (sparse.has_indices()) in("indices", [&] { visit(sparse.indices()); });
  }
  void visit(const auto& tensor) { visit_(tensor, TensorPlace{graph_, site_}); }

  void each(std::string_view label, const auto& messages, const auto& action) {
    std::size_t i = 0;
    for (const auto& message : messages) in(label, [&] { action(message); }, i++);
  }
  void in(std::string_view label, const auto& action, std::optional<std::size_t> index = {},
          std::string_view attribute_name = {}) {
    if constexpr (!sites) return action();
    std::string before = step_into(site_, label, index, attribute_name);
    action();
    site_ = std::move(before);
  }
  void in_graph(const auto& action) {
    const std::size_t outer = std::exchange(graph_, graphs_++);
    action();
    graph_ = outer;
  }

  Visit visit_;
  std::string site_;
  std::size_t graph_ = 0, graphs_ = 0;
};

}  // namespace detail

/// Calls `visit(tensor, data)` or `visit(tensor, data, place)` for every tensor of a model, with the result of
/// `resolve` and a TensorPlace: initializers, sparse values and indices, node attributes, subgraphs, function bodies
/// and defaults, training info. A tensor of a branch may have the same name as one of the main graph, so the key of a
/// map is the message's address, or `place.graph` and the name. Needs an onnx.proto of ONNX 1.10 or later, 1.14 for
/// defaults of functions. Calls prove_model first. Throws what both throw; usage.argument (an empty std::function);
/// exceptions of `visit` pass through.
template <GeneratedModel ModelProto, typename Visit>
void resolve_all(const Archive& archive, const ModelProto& model, const Visit& visit) {
  if constexpr (requires { visit.target_type(); }) {  // a std::function
    if (!visit) throw Error(Code::usage_argument, "the function that is to visit the tensors is empty");
  }
  prove_model(archive);
  using Tensor = decltype(*model.graph().initializer().begin());
  using TakesPlace = std::is_invocable<const Visit&, Tensor, std::optional<Bytes>, const TensorPlace&>;
  detail::TensorWalk(std::bool_constant<TakesPlace::value>(), [&](const auto& tensor, const TensorPlace& place) {
    if constexpr (TakesPlace::value) {
      visit(tensor, resolve(archive, tensor), place);
    } else {
      visit(tensor, resolve(archive, tensor));
    }
  }).model(model);
}
template <GeneratedModel ModelProto, typename Visit>
void resolve_all(const Archive&& archive, const ModelProto& model, const Visit& visit) = delete;

/// Verifies a link before it is written; its entry need not exist yet. Throws, naming the tensor, onnx.external.string,
/// onnx.external_data.no_location, .marker, onnx.tensor.* (.length: not what type and dims require).
void check_link(const TensorMessage& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length);

namespace detail {
/// Makes the link of a message the only data that it has.
template <GeneratedTensor TensorProto>
void write_link(TensorProto& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_string_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  const auto add = [&tensor](const char* key, std::string value) {
    auto* pair = tensor.add_external_data();
    pair->set_key(key);
    pair->set_value(std::move(value));
  };
  // All three, in this order (rule W10): some readers take the pairs by their position.
  add("location", std::string(location));
  add("offset", std::to_string(offset));
  add("length", std::to_string(length));
  tensor.set_data_location(static_cast<std::remove_cvref_t<decltype(tensor.data_location())>>(1));  // EXTERNAL
}
}  // namespace detail

/// Makes `length` bytes at `offset` of the entry `location` the only data of a tensor: the inverse of `resolve`. Name,
/// type and dims stay. Throws what `check_link` throws; the message is then unchanged.
template <GeneratedTensor TensorProto>
void link_tensor(TensorProto& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length) {
  check_link(tensor_message(std::as_const(tensor)), location, offset, length);
  detail::write_link(tensor, location, offset, length);
}

}  // namespace ONNXAR_API onnxar
