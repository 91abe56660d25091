#include "source/target_resolver.h"

#include <utility>

#include "archive/access.h"
#include "base/open_file.h"
#include "os/names.h"
#include "source/archive_resolver.h"
#include "source/payload.h"
#include "tensors/external_tensor.h"

namespace onnxar {
namespace {

[[noreturn]] void refuse_location(const Archive& target, const onnx::TensorSite& site, const std::string& location) {
  throw Error(Code::onnx_external_missing,
              base::concat("it refers to ", base::quoted(location), ", which is not a weight entry of ",
                           base::quoted(os::text_of(target.path().filename()))),
              {"", site.tensor.range.begin}, {}, {Hint::data_beside});
}

}  // namespace

TargetResolver::TargetResolver(const Archive& target, std::unique_ptr<Resolver> model, FileLinks file_links,
                               const LoadOptions& options)
    : Resolver(options, model->path(), {model->model(), model->owner(), model->from_text(), model->origin()}),
      target_(target),
      model_(std::move(model)),
      file_links_(file_links),
      marker_(*this) {}

Resolved TargetResolver::find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  if (auto in_target = find_in_target(site, slice)) return std::move(*in_target);
  if (file_links_ == FileLinks::refused) refuse_location(target_, site, slice.location);
  return model_->find(site, slice);
}

std::optional<Resolved> TargetResolver::find_in_target(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
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

Resolved TargetResolver::kept(const ArchiveEntry& entry, Bytes part, std::optional<std::string_view> checksum) const {
  Payload payload = onnxar::payload_of(ByteSpan::borrow(part, target_.owner()));
  const bool is_whole = part.size() == entry.size;
  const auto offset = static_cast<std::uint64_t>(part.data() - target_.bytes(entry).data());
  onnx::ExternalLink link{std::string(entry.name), offset, part.size()};
  if (checksum && is_whole) link.checksum = parse_checksum(*checksum).value_or("");
  payload.kept_link = std::make_shared<const onnx::ExternalLink>(std::move(link));
  return {std::move(payload), is_whole};
}

bool TargetResolver::is_link_to(const std::string& archive) {
  if (!link_to_) link_to_ = LinkMarker::archives(model());
  return link_to_->contains(archive);
}

bool TargetResolver::is_target_file(const std::string& location) {
  if (os::path_of(location) == target_.path().filename()) return true;
  // The caller may have opened the archive by a symbolic link; links to it may use either name.
  if (real_target_name_.empty()) real_target_name_ = os::text_of(base::real_path(target_.path()).filename());
  return location == real_target_name_;
}

}  // namespace onnxar
