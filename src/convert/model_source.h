// Defines the data of tensors, and the interface of a model's source: the bytes of its graphs, and the data that its
// links name.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/evidence.h"
#include "base/errors.h"
#include "base/mapped_file.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar {

// Handles the `checksum` of external data: SHA-1 of the whole file that the location names, 40 hexadecimal digits
// (onnx.proto, TensorProto.external_data).

inline constexpr std::size_t checksum_length = 40;

/// Returns the checksum in lower case; nothing if `text` does not have 40 hexadecimal digits.
std::optional<std::string> parse_checksum(std::string_view text);

/// Returns the message for a text that is not a checksum.
std::string no_checksum(std::string_view text);

/// Returns the checksum of all bytes of a source, in lower case. Cost: reads the source.
std::string checksum_of(const ByteSource& source);

/// Passes on the bytes of a source and sums them. If the sum differs from `checksum`, `read` throws `mismatch` as an
/// error of the file at `path` after the last byte. Threads: any number may call `read` concurrently.
class ChecksumSource final : public ByteSource {
 public:
  ChecksumSource(std::shared_ptr<const ByteSource> source, std::string checksum, Finding mismatch,
                 std::filesystem::path path)
      : source_(std::move(source)),
        checksum_(std::move(checksum)),
        mismatch_(std::move(mismatch)),
        path_(std::move(path)) {}
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  void read(const ByteSink& sink) const override;
  void locate(const std::function<void(const Location&)>& visit) const override;

 private:
  std::shared_ptr<const ByteSource> source_;
  std::string checksum_;
  Finding mismatch_;
  std::filesystem::path path_;
};

/// Refers to the data of one tensor. Copies share it.
struct Payload {
  /// Hands out the bytes. Verifies them if they have a CRC-32 or checksum and LoadOptions::verify_data is set.
  std::shared_ptr<const ByteSource> source;
  /// Where the bytes lie in memory, and their owner; null if reading produces them.
  std::shared_ptr<const ByteSpan> span = nullptr;
  /// The link that the tensor keeps, if its bytes are in the archive into which the model goes; otherwise null.
  std::shared_ptr<const onnx::ExternalLink> kept_link = nullptr;
  /// True if other tensors of the input may share these bytes. False if they are decoded from typed fields, or if the
  /// program supplied them.
  bool may_be_shared = true;
  /// Where produced bytes will lie once they are read, which identifies them; empty if they are decoded.
  Bytes place = {};

  [[nodiscard]] std::uint64_t size() const { return source->size(); }
  /// Returns the bytes in memory; empty if reading produces them.
  [[nodiscard]] Bytes bytes() const noexcept { return span ? span->bytes() : Bytes(); }
  /// Returns where the bytes lie or will lie.
  [[nodiscard]] Bytes region() const noexcept { return span ? span->bytes() : place; }
  /// Returns a view of the bytes that shares their owner.
  [[nodiscard]] ByteSpan share() const;
  /// True if reading produces the bytes, so they do not lie in memory.
  [[nodiscard]] bool is_decoded() const noexcept { return !span; }
};

/// Makes a payload of bytes in memory. Does not copy them if they are borrowed. `file` is the origin of their mapping;
/// null if they are not mapped.
Payload payload_of(ByteSpan bytes, const base::FileOrigin* file = nullptr);

/// Makes a payload whose bytes lie at `part`, which `owner` keeps alive, and are read through `source`.
Payload payload_at(Bytes part, std::shared_ptr<const void> owner, std::shared_ptr<const ByteSource> source);

/// Identifies data while it is alive. Two payloads with equal extents have the same bytes, so writers write, copy or
/// sum them once. Identifies bytes that have a place in memory by address and size, other data by its source.
class Extent {
 public:
  explicit Extent(Bytes bytes) noexcept : begin_(reinterpret_cast<std::uintptr_t>(bytes.data())), size_(bytes.size()) {}
  explicit Extent(const Payload& payload);

  [[nodiscard]] std::uintptr_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::uintptr_t end() const noexcept { return static_cast<std::uintptr_t>(begin_ + size_); }
  /// Orders by the first byte, then by size.
  auto operator<=>(const Extent&) const = default;

 private:
  std::uintptr_t begin_;
  std::uint64_t size_;
};

/// Copies all bytes of a source into an owned span.
ByteSpan gathered(const ByteSource& source);

/// Shares the ownership of the storage that a source views.
class OwnedSource final : public ByteSource {
 public:
  OwnedSource(std::shared_ptr<const ByteSource> source, std::shared_ptr<const void> owner)
      : source_(std::move(source)), owner_(std::move(owner)) {}
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  void read(const ByteSink& sink) const override { source_->read(sink); }
  void locate(const std::function<void(const Location&)>& visit) const override { source_->locate(visit); }

 private:
  std::shared_ptr<const ByteSource> source_;
  std::shared_ptr<const void> owner_;
};

// Describes the companions of a model in its source: entries that are not its model, graphs or weights.

/// Describes an entry that no tensor names, and whose name is not a key: `tokenizer.json`.
struct SideFile {
  std::string name;
  std::shared_ptr<const ByteSource> source;
};

/// Holds side files, and the names of omitted entries.
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
