// Finds the data of a model that goes into an existing archive.
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "archive/access.h"
#include "archive/external_tensor.h"
#include "archive/file_kind.h"
#include "base/open_file.h"
#include "base/text.h"
#include "convert/links.h"
#include "convert/open.h"
#include "os/names.h"

namespace onnxar {
namespace {

/// Links lead to entries of the target, to ranges of its file or, if the model's files are given, to data files. A
/// payload in the target carries the link that the model keeps.
class TargetSource final : public ModelSource {
 public:
  /// `target` must outlive this object. Without ExternalFiles of `model`, links to data files are refused.
  TargetSource(const Archive& target, std::unique_ptr<FileSource> model, const LoadOptions& options)
      : ModelSource(options, model->path(), model->graph()),
        target_(target),
        model_(std::move(model)),
        marker_(*this) {}

  [[nodiscard]] std::uint64_t input_size() const override { return model_->input_size() + target_.file().size(); }

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  [[nodiscard]] std::optional<Resolved> find_in_target(const onnx::TensorSite& site, const onnx::ExternalSlice& slice);
  [[nodiscard]] Resolved kept(const ArchiveEntry& entry, Bytes part, std::optional<std::string_view> checksum) const;
  [[nodiscard]] bool is_link_to(const std::string& archive);
  [[nodiscard]] bool is_target_file(const std::string& location);

  const Archive& target_;
  std::unique_ptr<FileSource> model_;
  ModelMarker marker_;
  bool is_state_proved_ = false;                  // whether the marker is of a state of the target
  std::string real_target_name_;                  // set at its first use
  std::optional<std::set<std::string>> link_to_;  // archives that the marker names; set at its first use
};

[[noreturn]] void refuse_location(const Archive& target, const onnx::TensorSite& site, const std::string& location) {
  throw Error(Code::onnx_external_missing,
              base::concat("it refers to ", base::quoted(location), ", which is not a weight entry of ",
                           base::quoted(os::text_of(target.path().filename()))),
              {"", site.tensor.range.begin}, {}, {Hint::data_beside});
}

Resolved TargetSource::find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  if (auto in_target = find_in_target(site, slice)) return std::move(*in_target);
  if (model_->files() == nullptr) refuse_location(target_, site, slice.location);
  return model_->find(site, slice);
}

std::optional<Resolved> TargetSource::find_in_target(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  // A location that the marker names is the archive's file, even if an entry has the same name: the bytes differ.
  const auto entry = is_link_to(slice.location) ? std::nullopt : target_.find(slice.location);
  // The old model is also an entry, but the edit replaces it.
  if (entry && entry->name != model_entry_name) {
    return kept(*entry, part_of(target_, *entry, site.tensor, slice), site.tensor.external.checksum);
  }
  if (!is_target_file(slice.location)) return std::nullopt;
  // The offsets of a link are of the state that it was made from. One proof is enough, as the target does not change.
  if (marker_.of(slice.location) != nullptr && !std::exchange(is_state_proved_, true)) {
    static_cast<void>(marker_.open(target_.file(), nullptr, target_.path(), ArchiveAccess::origin(target_)));
  }
  const auto [in, part] = part_of_file(target_, 0, target_.size() - 1, site, slice);
  return kept(in, part, std::nullopt);  // a checksum in a link to the file is of the file, and not of the entry
}

Resolved TargetSource::kept(const ArchiveEntry& entry, Bytes part, std::optional<std::string_view> checksum) const {
  Payload payload = onnxar::payload_of(ByteSpan::borrow(part, target_.owner()));
  const bool is_whole = part.size() == entry.size;
  const auto offset = static_cast<std::uint64_t>(part.data() - target_.bytes(entry).data());
  onnx::ExternalLink link{std::string(entry.name), offset, part.size()};
  if (checksum && is_whole) link.checksum = parse_checksum(*checksum).value_or("");
  payload.kept_link = std::make_shared<const onnx::ExternalLink>(std::move(link));
  return {std::move(payload), is_whole};
}

bool TargetSource::is_link_to(const std::string& archive) {
  if (!link_to_) link_to_ = LinkMarker::archives(model());
  return link_to_->contains(archive);
}

bool TargetSource::is_target_file(const std::string& location) {
  if (os::path_of(location) == target_.path().filename()) return true;
  // The caller may have opened the archive by a symbolic link; links to it may use either name.
  if (real_target_name_.empty()) real_target_name_ = os::text_of(base::real_path(target_.path()).filename());
  return location == real_target_name_;
}

}  // namespace

std::unique_ptr<ModelSource> open_source_for(const Archive& target, const std::filesystem::path& path,
                                             FileLinks file_links, const LoadOptions& options) {
  const ExternalFiles::Mapping file = map_file(path);
  if (looks_like_zip(file->bytes())) return source_of(Archive::open(path), options);
  return std::make_unique<TargetSource>(target, source_of(file, path, options, file_links), options);
}

std::unique_ptr<ModelSource> source_for(const Archive& target, Bytes model, FileLinks file_links,
                                        const LoadOptions& options) {
  return std::make_unique<TargetSource>(target, file_source_of(model, nullptr, options, file_links), options);
}

}  // namespace onnxar
