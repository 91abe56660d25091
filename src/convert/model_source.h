// Defines the interface of a model's source: the bytes of its graphs, the data that its links name, and side files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/evidence.h"
#include "base/annotated.h"
#include "base/file_origin.h"
#include "convert/payload.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar {

/// Describes an entry that no tensor names, and whose name is not a key: `tokenizer.json`.
struct SideFile {
  std::string name;
  std::shared_ptr<const ByteSource> source;
};

/// Holds the companions of a model in its source, which are not its model, graphs or weights: side files, and the names
/// of omitted entries.
struct SourceCompanions {
  std::vector<SideFile> side_files;
  std::vector<std::string> left_out;  ///< names of other entries that no tensor names, such as old weights
  std::uint64_t left_out_bytes = 0;
  std::vector<Finding> remarks;
};

/// Holds the bytes of one graph, and where they lie in the input.
struct GraphBytes {
  Bytes bytes;
  std::shared_ptr<const void> owner;       ///< keeps the bytes alive; null if the caller does
  const base::FileOrigin* file = nullptr;  ///< origin of the mapping; null if the bytes are not mapped
  std::string entry = {};                  ///< the entry that contains them; empty if the file itself does
  /// The offset of the first byte in the file; nothing if the input holds the graph in a different form, such as text.
  std::optional<std::uint64_t> begin = 0;
};

/// Holds the data that a link names.
struct Resolved {
  Payload payload;
  bool is_whole = false;  ///< true if it is a whole file or entry, which a checksum in `external_data` covers
};

/// Holds the checksum that a link states for its data.
struct ChecksumClaim {
  std::string checksum;
  Finding mismatch;  ///< the fault to report if the data has a different checksum
  [[nodiscard]] Error error(const std::filesystem::path& path) const {
    return {mismatch.code, mismatch.message, mismatch.place, path};
  }
};

/// Finds the data of a model's links: in files (FileSource), in an archive (ArchiveSource), in a zip of another program
/// (ForeignZipSource), or in the archive into which the model goes (TargetSource). Functions of open.h make sources. A
/// source owns the files that it reads. Payloads share the storage that they view, but payloads that verify entries
/// must not outlive the source. Not synchronised.
class ModelSource {
 public:
  ModelSource(const ModelSource&) = delete;
  ModelSource& operator=(const ModelSource&) = delete;
  virtual ~ModelSource() = default;

  /// Returns the bytes of the selected graph, which is the model until `select`.
  [[nodiscard]] Bytes model() const noexcept { return graph_.bytes; }
  [[nodiscard]] const GraphBytes& graph() const noexcept { return graph_; }
  /// Returns the path of the source's file or folder; empty for bytes in memory.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Returns notes for reports about the kind of the source.
  [[nodiscard]] const std::vector<Finding>& remarks() const noexcept { return remarks_; }

  /// Returns the names of the graphs other than the model, in the order of the file.
  [[nodiscard]] virtual std::vector<std::string> graphs() const { return {}; }
  /// Selects one of `graphs()`, or the model if the name is empty: `model`, `graph` and `place` then refer to it.
  /// Throws what Archive::bytes throws, and zip.data.crc with LoadOptions::verify_data.
  virtual void select(const std::string& graph);
  /// Returns the companions of the model except its graphs. REQUIRES: every tensor of all graphs was resolved or
  /// proved.
  [[nodiscard]] virtual SourceCompanions companions() { return {}; }
  /// Returns the number of bytes of all files that were used so far.
  [[nodiscard]] virtual std::uint64_t input_size() const = 0;

  /// Finds the data of a tensor whose data_location is EXTERNAL. Data in the model beside the link must be the same.
  /// Throws onnx.external*, onnx.tensor.length, zip.* and io.*, with the tensor's name and place.
  [[nodiscard]] Resolved resolve(const onnx::TensorSite& site);
  /// Does what `resolve` does. With LoadOptions::verify_data, if the link names a whole file or entry, reading the
  /// payload throws onnx.external_data.checksum if the data differs from the link's checksum. If two links state
  /// different checksums for the same bytes, one is wrong, and the second is refused at once.
  [[nodiscard]] Payload payload_of(const onnx::TensorSite& site);
  /// Returns the checksum of a link; nothing if it has no checksum, or if the data is not a whole file or entry.
  [[nodiscard]] std::optional<ChecksumClaim> claim_of(const Resolved& resolved, const onnx::TensorSite& site) const;
  /// Proves a link that stays in the model. Throws the errors of `resolve` that do not need the data.
  virtual void prove_link(const onnx::TensorSite& site);

  /// Returns the place of a byte of `model()` in the input; without an offset if the input holds the graph in a
  /// different form.
  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const;
  [[nodiscard]] Place place_of(const onnx::TensorSite& site) const { return place(site.tensor.range.begin); }
  /// Adds the path to `error`, and turns its offset, which counts from the first byte of `model()`, into a place in the
  /// input. Adds the tensor's name to the message if there is one. Leaves an error that already has a path or an entry
  /// unchanged.
  [[nodiscard]] Error with_place(const Error& error, const onnx::TensorSite* tensor = nullptr) const;
  /// Returns the result of `action`, which reads `model()`, and adds the place to its errors.
  template <typename Action>
  auto placed(const Action& action, const onnx::TensorSite* tensor = nullptr) const {
    return base::annotated([&](const Error& error) { return with_place(error, tensor); }, action);
  }

 protected:
  explicit ModelSource(const LoadOptions& options, std::filesystem::path path = {}, GraphBytes graph = {})
      : options_(options), path_(std::move(path)), graph_(std::move(graph)) {}

  [[nodiscard]] const LoadOptions& options() const noexcept { return options_; }
  void set_graph(GraphBytes graph) { graph_ = std::move(graph); }
  void add_remark(Finding remark) { remarks_.push_back(std::move(remark)); }

 private:
  /// Finds the data of a proved link. Offsets of errors are relative to the model's first byte; `resolve` adds the
  /// place in the input.
  virtual Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) = 0;
  /// Returns what explains errors in `model()`.
  [[nodiscard]] virtual Evidence evidence() const { return {}; }
  /// Parses and proves the link. Archives are stricter than other sources. Throws what exported_link throws.
  [[nodiscard]] virtual onnx::ExternalSlice link_of(const onnx::TensorView& tensor) const;

  LoadOptions options_;
  std::filesystem::path path_;
  GraphBytes graph_;
  std::vector<Finding> remarks_;
  std::map<Extent, std::string> claimed_;  // checksums of whole files and entries
};

}  // namespace onnxar
