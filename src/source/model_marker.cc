#include "source/model_marker.h"

#include <utility>

namespace onnxar {

template <typename Action>
auto ModelMarker::keeping_errors(const Action& action) {
  if (error_) throw Error(*error_);  // its place was added already, so it is the same for every tensor
  try {
    return action();
  } catch (const Error& error) {
    error_ = resolver_.with_place(error);
    throw Error(*error_);
  }
}

const LinkMarker* ModelMarker::of(std::string_view archive) {
  return keeping_errors([&]() -> const LinkMarker* {
    // Read once, at the first link: the metadata would otherwise be searched for each tensor.
    if (!marker_) marker_ = LinkMarker::read(resolver_.model());
    return *marker_ && (*marker_)->archive == archive ? &**marker_ : nullptr;
  });
}

Archive ModelMarker::open(Bytes file, std::shared_ptr<const void> owner, const std::filesystem::path& path,
                          const base::FileOrigin* origin) {
  return keeping_errors([&] { return (*marker_)->open(file, std::move(owner), path, origin); });
}

}  // namespace onnxar
