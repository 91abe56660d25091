// Resolves links of a model that goes into an existing archive.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "source/link_marker.h"
#include "source/resolver.h"

namespace onnxar {

/// Whether links may also lead to files.
enum class FileLinks : std::uint8_t { allowed, refused };

/// Decorates the resolver of the model. Links lead to entries of the target, to ranges of its file or, if files are
/// allowed, to data that the decorated resolver finds. A payload in the target carries the link that the model keeps.
class TargetResolver final : public Resolver {
 public:
  /// `target` must outlive this object. REQUIRES: `model` is not the resolver of an archive.
  TargetResolver(const Archive& target, std::unique_ptr<Resolver> model, FileLinks file_links,
                 const LoadOptions& options);

  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const override { return model_->place(offset); }
  [[nodiscard]] std::uint64_t input_size() const override { return model_->input_size() + target_.file().size(); }
  [[nodiscard]] const ExternalFiles* files() const noexcept override { return model_->files(); }

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  [[nodiscard]] std::optional<Resolved> find_in_target(const onnx::TensorSite& site, const onnx::ExternalSlice& slice);
  [[nodiscard]] Resolved kept(const ArchiveEntry& entry, Bytes part, std::optional<std::string_view> checksum) const;
  [[nodiscard]] bool is_link_to(const std::string& archive);
  [[nodiscard]] bool is_target_file(const std::string& location);

  const Archive& target_;
  std::unique_ptr<Resolver> model_;
  FileLinks file_links_;
  ModelMarker marker_;
  bool is_state_proved_ = false;                  // whether the marker is of a state of the target
  std::string real_target_name_;                  // set at its first use
  std::optional<std::set<std::string>> link_to_;  // archives that the marker names; set at its first use
};

}  // namespace onnxar
