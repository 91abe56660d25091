// What a link says about its archive. A link is a model whose external data is the archive's file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Begins the keys of a marker in metadata_props.
inline constexpr std::string_view link_key_prefix = "onnxar.link.";

/// The state of an archive that a link was made of (spec/links.md, K4). Every edit keeps that state as a prefix of the
/// file, and nothing else does. So a link holds as long as the prefix is there.
struct LinkMarker {
  std::string archive;       ///< its file name, which is the location of links to it
  std::uint64_t offset = 0;  ///< where in that file it begins, a multiple of 64
  std::uint64_t size = 0;
  std::uint32_t model_crc32 = 0;
  std::uint32_t directory_crc32 = 0;  ///< of all directory headers

  /// The marker for the present state of `archive`, which begins at `offset` of the file `name`.
  static LinkMarker of(const Archive& archive, std::uint64_t offset, std::string name);
  /// Whether the model has a marker, which may be damaged.
  static bool is_in(Bytes model);
  /// Nothing if the model has no marker, or is damaged before it ends. Errors: onnx.link.bad_marker.
  static std::optional<LinkMarker> read(Bytes model);
  /// The archives that the marker names, one as a rule, even if the marker is damaged. A tensor with such a location
  /// has its data in that file and in nothing else of the name.
  static std::set<std::string> archives(Bytes model);
  /// The marker as fields of a ModelProto.
  [[nodiscard]] std::string fields() const;

  /// The archive as it was. `file` is what has its name today, `owner` keeps it alive, and `origin`, if any, is what
  /// it is mapped from.
  /// Errors: onnx.link.stale, naming no place. Cost: O(directory).
  [[nodiscard]] Archive open(Bytes file, std::shared_ptr<const void> owner, const std::filesystem::path& path,
                             const base::FileOrigin* origin) const;
};

/// Errors: usage.own_name, if an entry has the name of the archive's own file, which is the location of links to it.
void refuse_own_name(const Archive& archive, const std::filesystem::path& file);
/// The same check for the name of an entry that is to be added.
void refuse_own_name(std::string_view name, const std::filesystem::path& file);

}  // namespace onnxar
