// Resolves links of a `.onnx` file whose data is in the file of an archive (onnxar/link.h).
#pragma once

#include <memory>
#include <string>

#include "source/entry_payloads.h"
#include "source/file_resolver.h"
#include "source/model_marker.h"

namespace onnxar {

/// A tensor whose location is the archive's name has its data in an entry of the archive, any other in a data file.
class LinkResolver final : public FileResolver {
 public:
  LinkResolver(GraphBytes graph, const std::filesystem::path& path, const LoadOptions& options)
      : FileResolver(std::move(graph), path, options), marker_(*this), payloads_(options) {}

  const Archive* linked_archive(const std::string& location, std::uint64_t offset_of_tensor) override;
  [[nodiscard]] const Archive* linked_archive() const noexcept override { return linked_.get(); }

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;

  ModelMarker marker_;
  EntryPayloads payloads_;                 // of `linked_`
  std::shared_ptr<const Archive> linked_;  // in the state of the marker; opened at its first use
};

}  // namespace onnxar
