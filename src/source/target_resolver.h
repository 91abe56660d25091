// A model that is going into an archive that exists.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "source/model_marker.h"
#include "source/resolver.h"

namespace onnxar {

/// Whether links may lead to files as well.
enum class FileLinks : std::uint8_t { allowed, refused };

/// Decorates another resolver: links lead to entries of the target, to ranges of its file and, where data files are
/// allowed, to what the other resolver finds. A payload in the target has the link that the model keeps.
class TargetResolver final : public Resolver {
 public:
  /// `target` must outlive this. `model` is not an archive.
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
  bool is_state_proved_ = false;                  // that the marker is one of a state of the target
  std::string real_target_name_;                  // once it was asked for
  std::optional<std::set<std::string>> link_to_;  // archives that the marker names, once it was asked for
};

}  // namespace onnxar
