// Reads and writes the marker of a link, a model whose external data is the file of an archive. The marker is metadata
// that identifies the archive and its state when the link was made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/file_origin.h"
#include "convert/model_source.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Identifies the state of an archive that a link was made from (spec/links.md, K4). Every edit keeps that state as a
/// prefix of the file, and no other operation does. So a link is valid as long as the prefix exists.
struct LinkMarker {
  std::string archive;       ///< the name of its file, which is the location of the link's tensors
  std::uint64_t offset = 0;  ///< offset of the archive in that file, in bytes: a multiple of 64
  std::uint64_t size = 0;    ///< size of the archive in bytes
  std::uint32_t model_crc32 = 0;
  std::uint32_t directory_crc32 = 0;  ///< CRC-32 of all directory headers
  /// The folder of the archive, relative to the real folder of the link, with `/`; empty if both are in one folder.
  std::string folder = {};

  /// Returns the marker for the present state of `archive`, which begins at `offset` of the file `name`.
  static LinkMarker of(const Archive& archive, std::uint64_t offset, std::string name);
  /// Returns the marker; nothing if the model has no marker, or if its bytes are damaged. Throws onnx.link.bad_marker.
  static std::optional<LinkMarker> read(Bytes model);
  /// Returns the archives that the marker names (usually one), even if the marker is damaged. A tensor with such a
  /// location has its data in that file, not in an entry with this name.
  static std::set<std::string> archives(Bytes model);
  /// Returns the marker as fields of a ModelProto.
  [[nodiscard]] std::string fields() const;

  /// Opens the archive in the state of the marker. `file` is the present content of the archive's file, `owner` keeps
  /// it alive, and `origin` is the origin of its mapping, or null. Throws onnx.link.stale, without a place. Cost:
  /// O(directory).
  [[nodiscard]] Archive open(Bytes file, std::shared_ptr<const void> owner, const std::filesystem::path& path,
                             const base::FileOrigin* origin) const;
};

/// Throws usage.argument if readers of external data would refuse the file's name as a location.
void refuse_unlinkable(const std::filesystem::path& file);

/// Reads the link marker of one model at its first use, and keeps the result. Keeps the first error and rethrows it,
/// because a broken or stale marker is one fault of the model, not one per tensor. Not synchronised.
class ModelMarker {
 public:
  /// Returns the marker of `source.model()` if the model is a link to an archive with this file name, otherwise null.
  /// Throws onnx.link.bad_marker. REQUIRES: all calls name the same source.
  const LinkMarker* of(const ModelSource& source, std::string_view archive);
  /// Calls LinkMarker::open. REQUIRES: `of` returned the marker.
  Archive open(const ModelSource& source, Bytes file, std::shared_ptr<const void> owner,
               const std::filesystem::path& path, const base::FileOrigin* origin);

 private:
  template <typename Action>
  auto keeping_errors(const ModelSource& source, const Action& action);

  bool is_read_ = false;
  std::optional<LinkMarker> marker_;  // the marker, if it was read and the model has one
  std::optional<Error> error_;
};

}  // namespace onnxar
