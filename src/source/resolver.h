// The interface to a source of a model: the bytes of its graphs, and the data that its links name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_origin.h"
#include "base/text.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "source/external_files.h"
#include "source/payload.h"
#include "tensors/external_tensor.h"

namespace onnxar {

// The companions of a model in its source: entries that are not its model, graphs or weights.

/// An entry that no tensor names, and whose name is not a key: `tokenizer.json`.
struct SideFile {
  std::string name;
  std::shared_ptr<const ByteSource> source;
};

/// Side files, and the entries that are not taken over.
struct SourceCompanions {
  std::vector<SideFile> side_files;
  std::vector<std::string> left_out;  ///< names of other entries that no tensor names, such as old weights
  std::uint64_t left_out_bytes = 0;
  std::vector<Finding> remarks;
};

/// The bytes of one graph.
struct GraphBytes {
  Bytes bytes;
  std::shared_ptr<const void> owner;       ///< keeps the bytes alive; null if the caller does
  bool from_text = false;                  ///< parsed from protobuf's text format, so offsets are not those of the file
  const base::FileOrigin* file = nullptr;  ///< origin of the mapping; null if the bytes are not mapped
};

/// The data that a link names.
struct Resolved {
  Payload payload;
  bool is_whole = false;  ///< all of a file or entry; a checksum in `external_data` is of that
};

/// The checksum that a link gives for its data.
struct ChecksumClaim {
  std::string checksum;
  Finding mismatch;  ///< the fault to report if the data has a different checksum
  [[nodiscard]] Error error(const std::filesystem::path& path) const {
    return {mismatch.code, mismatch.message, mismatch.place, path};
  }
};

/// Finds the data of a model's links. Each kind of source has one implementation; open.h makes them. A resolver owns
/// the files that it reads. Payloads share the storage that they view, but payloads that verify entries must not
/// outlive the resolver. Not synchronised.
class Resolver {
 public:
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  virtual ~Resolver() = default;

  /// The bytes of the selected graph, which is the model until `select_graph`.
  [[nodiscard]] Bytes model() const noexcept { return graph_.bytes; }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept { return graph_.owner; }
  [[nodiscard]] bool from_text() const noexcept { return graph_.from_text; }
  [[nodiscard]] const base::FileOrigin* origin() const noexcept { return graph_.file; }
  /// The path of the source's file or folder; empty for bytes in memory.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Finds the data of a tensor whose data_location is EXTERNAL.
  /// Errors: onnx.external*, onnx.tensor.length, zip.*, io.*, naming the tensor and its place.
  [[nodiscard]] Resolved resolve(const onnx::TensorSite& site);
  /// As `resolve`. With LoadOptions::verify_data, reading the payload compares the checksum of its link if the link
  /// names a whole file or entry, and throws onnx.external_data.checksum if it differs. If two links give different
  /// checksums for the same bytes, one is wrong: the second is refused at once.
  [[nodiscard]] Payload payload_of(const onnx::TensorSite& site);
  /// The checksum of a link; nothing if it has none, or if the data is not a whole file or entry.
  [[nodiscard]] std::optional<ChecksumClaim> claim_of(const Resolved& resolved, const onnx::TensorSite& site) const;
  /// Proves a link that stays in the model. Errors: those of `resolve` that do not need the data.
  void prove_link(const onnx::TensorSite& site) const;

  /// The place of a byte of `model()` in the input; without an offset if the input holds the graph in a different form.
  [[nodiscard]] virtual Place place(std::optional<std::uint64_t> offset) const {
    return {"", from_text() ? std::nullopt : offset};
  }
  [[nodiscard]] Place place_of(const onnx::TensorSite& site) const { return place(site.tensor.range.begin); }
  /// Adds the path to `error`, and turns its offset, which counts from the first byte of `model()`, into a place in the
  /// input. An error that already has a path or an entry stays as it is.
  [[nodiscard]] virtual Error with_place(const Error& error) const;
  /// As above, and adds the tensor's name to the message.
  [[nodiscard]] Error with_tensor(const Error& error, const onnx::TensorSite& site) const;

  /// The number of bytes of all files that were used so far.
  [[nodiscard]] virtual std::uint64_t input_size() const = 0;

  // --- Only some kinds of sources override these ---

  /// The archive; null for a source that is not an archive.
  [[nodiscard]] virtual const Archive* archive() const noexcept { return nullptr; }
  /// The files that links lead to; null if links do not lead to files.
  [[nodiscard]] virtual const ExternalFiles* files() const noexcept { return nullptr; }
  /// The archive whose file has the name `location`, in the state that the link was made from. Null if the model is not
  /// a link (onnxar/link.h) to it. Errors: onnx.link.*; as ExternalFiles::map.
  virtual const Archive* linked_archive(const std::string& location, std::uint64_t offset_of_tensor);
  /// That archive if it was opened before; otherwise null.
  [[nodiscard]] virtual const Archive* linked_archive() const noexcept { return nullptr; }

  /// The names of the further graphs, in the order of the file.
  [[nodiscard]] virtual std::vector<std::string> graphs() const { return {}; }
  /// Selects one of `graphs()`: `model`, `owner` and `place` then refer to it.
  /// Errors: as Archive::bytes; zip.data.crc, with LoadOptions::verify_data.
  virtual void select_graph(const std::string& name);
  /// Selects the model again.
  virtual void select_model() {}
  /// Notes for reports about the kind of the source.
  [[nodiscard]] virtual std::vector<Finding> remarks() const { return {}; }
  /// The companions of the model except its graphs. REQUIRES: every tensor of all graphs was resolved or proved.
  [[nodiscard]] virtual SourceCompanions companions() { return {}; }

 protected:
  explicit Resolver(const LoadOptions& options, std::filesystem::path path = {}, GraphBytes graph = {})
      : options_(options), path_(std::move(path)), graph_(std::move(graph)) {}

  [[nodiscard]] const LoadOptions& options() const noexcept { return options_; }
  void set_graph(GraphBytes graph) { graph_ = std::move(graph); }
  void set_path(std::filesystem::path path) { path_ = std::move(path); }

 private:
  friend class TargetResolver;  // calls `find` of the resolver that it decorates
  friend class FamilyResolver;  // as above, and `note_kept`

  /// Finds the data of a proved link. Offsets of errors count from the model's first byte; `resolve` adds the place in
  /// the input.
  virtual Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) = 0;
  /// Called for every link that is proved and not resolved.
  virtual void note_kept(const onnx::TensorSite&) const {}

  LoadOptions options_;
  std::filesystem::path path_;
  GraphBytes graph_;
  std::map<Extent, std::string> claimed_;  // checksums of whole files and entries
};

/// Calls `action` and returns its result. Adds the tensor and its place to errors.
template <typename Action>
auto errors_with_tensor(const Resolver& resolver, const onnx::TensorSite& site, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw resolver.with_tensor(error, site);
  }
}

}  // namespace onnxar
