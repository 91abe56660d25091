// What makes a link: a model whose external data is the file of an archive. Its marker is the metadata that says which
// archive, in which state, the link was made from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "archive/graphs.h"
#include "base/mapped_file.h"
#include "convert/model_source.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// The state of an archive that a link was made from (spec/links.md, K4). Every edit keeps that state as a prefix of
/// the file, and no other operation does. So a link holds as long as the prefix is there.
struct LinkMarker {
  std::string archive;       ///< the name of its file, which is the location of the link's tensors
  std::uint64_t offset = 0;  ///< where the archive begins in that file, in bytes: a multiple of 64
  std::uint64_t size = 0;    ///< of the archive in bytes
  std::uint32_t model_crc32 = 0;
  std::uint32_t directory_crc32 = 0;  ///< of all directory headers
  /// The folder of the archive, as a path from the real folder of the link, with `/`; empty if they are in one folder.
  std::string folder = {};

  /// The marker for the present state of `archive`, which begins at `offset` of the file `name`.
  static LinkMarker of(const Archive& archive, std::uint64_t offset, std::string name);
  /// The marker; nothing if the model has none, or if its bytes are damaged. Errors: onnx.link.bad_marker.
  static std::optional<LinkMarker> read(Bytes model);
  /// The archives that the marker names, usually one, even if the marker is damaged. A tensor with such a location has
  /// its data in that file, and not in an entry with this name.
  static std::set<std::string> archives(Bytes model);
  /// The marker as fields of a ModelProto.
  [[nodiscard]] std::string fields() const;

  /// Opens the archive in the state of the marker. `file` is the present content of the archive's file, `owner` keeps
  /// it alive, and `origin` is of its mapping, or null. Errors: onnx.link.stale, without a place. Cost: O(directory).
  [[nodiscard]] Archive open(Bytes file, std::shared_ptr<const void> owner, const std::filesystem::path& path,
                             const base::FileOrigin* origin) const;
};

/// Refuses a file whose name readers of external data would refuse as a location. Errors: usage.argument.
void refuse_unlinkable(const std::filesystem::path& file);

// Reads the link marker of one model at its first use, and keeps the result.

/// Keeps the first error and throws it again, because a broken or stale marker is one fault of the model, and not one
/// fault per tensor. Not synchronised.
class ModelMarker {
 public:
  /// The marker of `source.model()`. The source must outlive this object.
  explicit ModelMarker(const ModelSource& source) : source_(source) {}

  /// The marker if the model is a link to an archive with this file name, otherwise null. Errors: onnx.link.bad_marker.
  const LinkMarker* of(std::string_view archive);
  /// As LinkMarker::open. REQUIRES: `of` gave the marker.
  Archive open(Bytes file, std::shared_ptr<const void> owner, const std::filesystem::path& path,
               const base::FileOrigin* origin);

 private:
  template <typename Action>
  auto keeping_errors(const Action& action);

  const ModelSource& source_;
  bool is_read_ = false;
  std::optional<LinkMarker> marker_;  // once it is read: the marker, if the model has one
  std::optional<Error> error_;
};

/// Says whether runtimes read a tensor's external data: they do not follow links in attributes, except those of
/// Constant nodes. It must be called for each tensor of one walk, in order; then a node is read once, however many
/// tensors it has. Not synchronised.
class FollowedLinks {
 public:
  /// Cost: O(depth), and O(fields of the node that holds the tensor) for the first one of each node.
  [[nodiscard]] bool follows(const onnx::TensorSite& site);
  /// The number of nodes read so far.
  [[nodiscard]] std::uint64_t nodes_read() const noexcept { return nodes_read_; }

 private:
  /// The result for the last node at each depth. Different nodes begin at different bytes.
  struct Node {
    std::uint64_t begin = 0;
    bool read = false;
    bool is_constant = false;
  };

  std::vector<Node> nodes_;  // by depth: a node holds tensors before and after those of nodes within it
  std::uint64_t nodes_read_ = 0;
};

}  // namespace onnxar
