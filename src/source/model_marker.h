// Reads the link marker of one model at its first use, and keeps the result.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/file_origin.h"
#include "source/link_marker.h"
#include "source/resolver.h"

namespace onnxar {

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
