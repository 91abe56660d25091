// The marker of one model, read when it is first needed.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "source/link_marker.h"
#include "source/resolver.h"

namespace onnxar {

/// A broken marker, or one of another state of the archive, is one fault of the model and not one of each tensor: the
/// first error is kept and thrown again.
class ModelMarker {
 public:
  /// `resolver` has the model, and must outlive this.
  explicit ModelMarker(const Resolver& resolver) : resolver_(resolver) {}

  /// The marker, if the model is a link to an archive of this file name, else null. Errors: onnx.link.bad_marker.
  const LinkMarker* of(std::string_view archive);
  /// As LinkMarker::open. REQUIRES: `of` gave the marker.
  Archive open(Bytes file, std::shared_ptr<const void> owner, const std::filesystem::path& path,
               const base::FileOrigin* origin);

 private:
  template <typename Action>
  auto keeping_errors(const Action& action);

  const Resolver& resolver_;
  std::optional<std::optional<LinkMarker>> marker_;  // once it was looked for
  std::optional<Error> error_;
};

}  // namespace onnxar
