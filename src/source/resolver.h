// A model as a source has it: the bytes of its graph, and the data that its links name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "source/external_files.h"
#include "source/other_entries.h"
#include "source/payload.h"
#include "tensors/describe.h"

namespace onnxar {

/// The bytes of one graph.
struct GraphBytes {
  Bytes bytes;
  std::shared_ptr<const void> owner;       ///< keeps them alive; null where the caller does
  bool from_text = false;                  ///< parsed from protobuf's text format, so offsets in the file mean nothing
  const base::FileOrigin* file = nullptr;  ///< what the bytes are mapped from; null: nothing
};

/// What a link leads to.
struct Resolved {
  Payload payload;
  bool is_whole = false;  ///< all of a file or entry, which is what a checksum in `external_data` is of
};

/// What the checksum of a link says of its data.
struct ChecksumClaim {
  std::string checksum;
  Finding mismatch;  ///< what is wrong if the data has another checksum
  [[nodiscard]] Error error(const std::filesystem::path& path) const {
    return {mismatch.code, mismatch.message, mismatch.place, path};
  }
};

/// One implementation for each kind of source; open.h makes them. Owns what it reads. Payloads share what they are
/// views of, but sources that verify entries must not outlive the resolver. Not synchronised.
class Resolver {
 public:
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  virtual ~Resolver() = default;

  /// The selected graph: at first the model.
  [[nodiscard]] Bytes model() const noexcept { return graph_.bytes; }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept { return graph_.owner; }
  [[nodiscard]] bool from_text() const noexcept { return graph_.from_text; }
  [[nodiscard]] const base::FileOrigin* origin() const noexcept { return graph_.file; }
  /// The path of the file or folder; empty for bytes in memory.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// The data of a tensor whose data_location is EXTERNAL.
  /// Errors: onnx.external*, onnx.tensor.length, zip.*, io.*, naming the tensor and its place.
  [[nodiscard]] Resolved resolve(const onnx::TensorSite& site);
  /// As `resolve`. With LoadOptions::verify_data the payload is compared with the checksum of its link while it is
  /// read, if `is_whole`: reading then throws onnx.external_data.checksum. If links to the same bytes have different
  /// checksums, all except one are wrong: the second is refused at once.
  [[nodiscard]] Payload payload_of(const onnx::TensorSite& site);
  /// Nothing if the link has no checksum, or one that is not of just this data.
  [[nodiscard]] std::optional<ChecksumClaim> claim_of(const Resolved& resolved, const onnx::TensorSite& site) const;
  /// Proves a link that stays in the model. Errors: those of `resolve` that show without looking at the data.
  void prove_link(const onnx::TensorSite& site) const;

  /// Where a byte of `model()` is in the input. Without an offset where the input holds it in another form.
  [[nodiscard]] virtual Place place(std::optional<std::uint64_t> offset) const = 0;
  [[nodiscard]] Place place_of(const onnx::TensorSite& site) const { return place(site.tensor.range.begin); }
  /// `error`, whose offset counts from the model's first byte, with its path and place in the input. An error that
  /// has a path or an entry already stays as it is.
  [[nodiscard]] virtual Error annotate(const Error& error) const;
  /// As above, with the name of the tensor in the message.
  [[nodiscard]] Error annotate(const Error& error, const onnx::TensorSite& site) const;

  /// Bytes of all files that were needed so far.
  [[nodiscard]] virtual std::uint64_t input_size() const = 0;

  // --- what only some kinds of sources have ---

  /// Null for a source that is not an archive.
  [[nodiscard]] virtual const Archive* archive() const noexcept { return nullptr; }
  /// The files that links lead to; null where they lead elsewhere.
  [[nodiscard]] virtual const ExternalFiles* files() const noexcept { return nullptr; }
  /// The archive whose file tensors with this location are linked to, in the state that it was linked in. Null if the
  /// model is not a link (onnxar/link.h) to it. Errors: onnx.link.*; those of finding a data file.
  virtual const Archive* linked_archive(const std::string& location, std::uint64_t offset_of_tensor);
  /// That archive, if it was opened before.
  [[nodiscard]] virtual const Archive* linked_archive() const noexcept { return nullptr; }

  /// The names of the further graphs, in the order of the file.
  [[nodiscard]] virtual std::vector<std::string> graphs() const { return {}; }
  /// Makes one of `graphs()` the graph that `model`, `owner` and `place` are about.
  /// Errors: as Archive::bytes; with LoadOptions::verify_data zip.data.crc.
  virtual void select_graph(const std::string& name);
  /// Makes it the model again.
  virtual void select_model() {}
  /// Notes on what kind of source this is.
  [[nodiscard]] virtual std::vector<Finding> remarks() const { return {}; }
  /// What is beside the graphs and their weights. REQUIRES: every tensor of all graphs was resolved or proved.
  [[nodiscard]] virtual OtherEntries other_entries() { return {}; }

 protected:
  explicit Resolver(const LoadOptions& options, std::filesystem::path path = {}, GraphBytes graph = {})
      : options_(options), path_(std::move(path)), graph_(std::move(graph)) {}

  [[nodiscard]] const LoadOptions& options() const noexcept { return options_; }
  void set_graph(GraphBytes graph) { graph_ = std::move(graph); }

 private:
  friend class TargetResolver;  // asks the resolver that it decorates

  /// Finds the data of a link that was proved. Errors count from the model's first byte; `resolve` annotates them.
  virtual Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) = 0;
  /// Told of every link that is proved and not resolved.
  virtual void note_kept(const onnx::TensorSite&) const {}

  LoadOptions options_;
  std::filesystem::path path_;
  GraphBytes graph_;
  std::map<Extent, std::string> claimed_;  // checksums of whole files and entries
};

/// What `action` returns. Errors name the tensor and its place.
template <typename Action>
auto annotated(const Resolver& resolver, const onnx::TensorSite& site, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw resolver.annotate(error, site);
  }
}

}  // namespace onnxar
