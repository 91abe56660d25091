// Reads and writes the marker of a link: the metadata that says which archive, in which state, the link was made from.
// A link is a model whose external data is the archive's file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/file_origin.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "source/resolver.h"

namespace onnxar {

/// The prefix of a marker's keys in metadata_props.
inline constexpr std::string_view link_key_prefix = "onnxar.link.";

/// The state of an archive that a link was made from (spec/links.md, K4). Every edit keeps that state as a prefix of
/// the file, and no other operation does. So a link holds as long as the prefix is there.
struct LinkMarker {
  std::string archive;       ///< the name of its file, which is the location of the link's tensors
  std::uint64_t offset = 0;  ///< where the archive begins in that file, in bytes: a multiple of 64
  std::uint64_t size = 0;    ///< of the archive in bytes
  std::uint32_t model_crc32 = 0;
  std::uint32_t directory_crc32 = 0;  ///< of all directory headers

  /// The marker for the present state of `archive`, which begins at `offset` of the file `name`.
  static LinkMarker of(const Archive& archive, std::uint64_t offset, std::string name);
  /// Whether the model has a marker, which may be damaged.
  static bool is_in(Bytes model);
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

/// Refuses an archive with an entry that has the name of the archive's own file: that name is the location of links to
/// the file. Errors: usage.own_name.
void refuse_own_name(const Archive& archive, const std::filesystem::path& file);
/// As above, for the name of an entry that is to be added.
void refuse_own_name(std::string_view name, const std::filesystem::path& file);

// Reads the link marker of one model at its first use, and keeps the result.

/// Keeps the first error and throws it again, because a broken or stale marker is one fault of the model, and not one
/// fault per tensor. Not synchronised.
class ModelMarker {
 public:
  /// The marker of `resolver.model()`. The resolver must outlive this object.
  explicit ModelMarker(const Resolver& resolver) : resolver_(resolver) {}

  /// The marker if the model is a link to an archive with this file name, otherwise null. Errors: onnx.link.bad_marker.
  const LinkMarker* of(std::string_view archive);
  /// As LinkMarker::open. REQUIRES: `of` gave the marker.
  Archive open(Bytes file, std::shared_ptr<const void> owner, const std::filesystem::path& path,
               const base::FileOrigin* origin);

 private:
  template <typename Action>
  auto keeping_errors(const Action& action);

  const Resolver& resolver_;
  std::optional<std::optional<LinkMarker>>
      marker_;  // outer: whether the model was searched; inner: whether it has a marker
  std::optional<Error> error_;
};

}  // namespace onnxar
