// Finds the data of a model that replaces one: in the archive that it is written into, or in files beside it.
#include "convert/target_source.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "archive/access.h"
#include "archive/entry_uses.h"
#include "archive/external_tensor.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/checked.h"
#include "base/paths.h"
#include "base/text.h"
#include "convert/checksum.h"
#include "convert/links.h"
#include "convert/open.h"
#include "os/names.h"

namespace onnxar {
namespace {

[[noreturn]] void refuse_location(const Archive& target, const onnx::TensorSite& site, const std::string& location) {
  throw Error(Code::onnx_external_missing,
              base::concat("it refers to ", base::quoted(location), ", which is not a weight entry of ",
                           base::quoted(os::text_of(target.path().filename()))),
              {"", site.tensor.range.begin}, {}, {Hint::data_beside});
}

/// Resolves links to weights of the target, to ranges of its file or, if the model has files, to data files. A payload
/// in the target carries the link that the model keeps.
class TargetSource final : public ModelSource {
 public:
  /// Without ExternalFiles of `model`, links to data files are refused.
  TargetSource(const Archive& target, std::unique_ptr<FileSource> model, const LoadOptions& options)
      : ModelSource(options, model->path(), model->graph()),
        target_(ArchiveAccess::share(target)),
        model_(std::move(model)) {}

  [[nodiscard]] std::uint64_t input_size() const override { return model_->input_size() + target_.file().size(); }

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override {
    if (auto in_target = find_in_target(site, slice)) return std::move(*in_target);
    if (model_->files() == nullptr) refuse_location(target_, site, slice.location);
    return model_->find(site, slice);
  }

  [[nodiscard]] std::optional<Resolved> find_in_target(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
    // A location that the marker names means the archive's file, even if an entry has the same name: the bytes differ.
    const auto entry = is_link_to(slice.location) ? std::nullopt : target_.find(slice.location);
    // The old model is also an entry, but the edit replaces it.
    if (entry && entry->name != model_entry_name) {
      const bool is_file = is_file_beside(slice.location);
      if (!is_weight(*entry)) {
        if (is_file) refuse_two_meanings(site, *entry, false);
        refuse_location(target_, site, slice.location);
      }
      const Bytes part = part_of(target_, *entry, site.tensor, slice);
      if (is_file && !has_bytes_beside(site, slice, part)) refuse_two_meanings(site, *entry, true);
      return kept(*entry, part, site.tensor.external.checksum);
    }
    if (!is_target_file(slice.location)) return std::nullopt;
    // The offsets of a link belong to the state that it was made from. One proof is enough, because the target does not
    // change.
    if (marker_.of(*this, slice.location) != nullptr && !std::exchange(is_state_proved_, true)) {
      static_cast<void>(marker_.open(*this, target_.file(), nullptr, target_.path(), ArchiveAccess::origin(target_)));
    }
    const auto [in, part] = part_of_file(target_, 0, target_.size() - 1, site, slice);
    if (!is_weight(in)) refuse_location(target_, site, std::string(in.name));
    // A marker identifies its file. Without a marker, a file of this name beside the model may be a different one.
    if (marker_.of(*this, slice.location) == nullptr && is_file_beside(slice.location) &&
        !has_bytes_beside(site, slice, part)) {
      refuse_two_meanings(site, in, true);
    }
    return kept(in, part, std::nullopt);  // a checksum in a link to the file covers the file, not the entry
  }

  [[nodiscard]] Resolved kept(const ArchiveEntry& entry, Bytes part, std::optional<std::string_view> checksum) const {
    Payload payload = onnxar::payload_of(ByteSpan::borrow(part, target_.owner()));
    const bool is_whole = part.size() == entry.size;
    const auto offset = static_cast<std::uint64_t>(part.data() - target_.bytes(entry).data());
    onnx::ExternalLink link{std::string(entry.name), offset, part.size()};
    if (checksum && is_whole) link.checksum = parse_checksum(*checksum).value_or("");
    payload.kept_link = std::make_shared<const onnx::ExternalLink>(std::move(link));
    return {std::move(payload), is_whole};
  }

  [[nodiscard]] bool is_link_to(const std::string& archive) {
    if (!link_to_) link_to_ = LinkMarker::archives(model());
    return link_to_->contains(archive);
  }

  [[nodiscard]] bool is_target_file(const std::string& location) {
    if (os::path_of(location) == target_.path().filename()) return true;
    // The caller may have opened the archive by a symbolic link; links to it may use either name.
    if (real_target_name_.empty()) real_target_name_ = os::text_of(base::real_path(target_.path()).filename());
    return location == real_target_name_;
  }

  /// True if tensors may link to the entry. A link to a side file or a graph would make it a weight, which no edit can
  /// remove.
  [[nodiscard]] bool is_weight(const ArchiveEntry& entry) {
    if (is_key(entry.name)) return true;
    if (!uses_) {
      uses_.emplace(target_);
      for (const ArchiveEntry& graph : all_graphs(target_)) {
        is_all_read_ = note_as_far_as_read(*uses_, target_, graph) && is_all_read_;
      }
    }
    const EntryKind kind = uses_->kind_of(entry.index);
    // A graph that cannot be read may name any entry, and the edit may replace that graph.
    return kind == EntryKind::weight || (kind == EntryKind::side_file && !is_all_read_);
  }

  /// True if the location is also that of a file beside the model, which ONNX's own readers read.
  [[nodiscard]] bool is_file_beside(const std::string& location) {
    if (path().empty() && options().external_data_dir.empty()) return false;
    std::error_code failed;
    const std::filesystem::path& folder = options().external_data_dir;
    const auto file = (folder.empty() ? base::folder_of(path()) : folder) / os::path_of(location);
    return std::filesystem::is_regular_file(file, failed);
  }

  [[nodiscard]] bool has_bytes_beside(const onnx::TensorSite& site, const onnx::ExternalSlice& slice, Bytes bytes) {
    if (!beside_) beside_.emplace(path(), options().external_data_dir);
    try {
      const auto part = beside_->resolve(slice, site.tensor.expected_size(), site.tensor.range.begin);
      return std::ranges::equal(part.bytes.bytes(), bytes);
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
      return false;  // such as a file that is shorter, or that leads out of the folder
    }
  }

  [[noreturn]] void refuse_two_meanings(const onnx::TensorSite& site, const ArchiveEntry& entry, bool weight) const {
    throw Error(
        Code::usage_argument,
        base::concat("it refers to ", base::quoted(*site.tensor.external.location),
                     ", which is a file beside the model, but also leads to the entry ", base::quoted(entry.name),
                     " of ", base::quoted(os::text_of(target_.path().filename())), ", ",
                     weight ? "whose bytes differ: move the file away to use the entry, or" : "which is not a weight:",
                     " `pack` the model, and pass that archive as the new model, to use the file"),
        {"", site.tensor.range.begin});
  }

  Archive target_;
  std::unique_ptr<FileSource> model_;
  ModelMarker marker_;
  std::optional<ExternalFiles> beside_;           // the files beside the model; opened at their first use
  std::optional<EntryUses> uses_;                 // set at its first use
  bool is_all_read_ = true;                       // true if every graph was read to its end for `uses_`
  bool is_state_proved_ = false;                  // true if the marker is that of a state of the target
  std::string real_target_name_;                  // set at its first use
  std::optional<std::set<std::string>> link_to_;  // archives that the marker names; set at its first use
};

}  // namespace

std::unique_ptr<ModelSource> open_source_for(const Archive& target, const std::filesystem::path& path,
                                             FileLinks file_links, const LoadOptions& options) {
  const OpenedInput input(path);
  if (input.is_zip()) return source_of(input.archive(), options);
  return std::make_unique<TargetSource>(target, file_source_of(input, options, file_links), options);
}

std::unique_ptr<ModelSource> source_for(const Archive& target, Bytes model, FileLinks file_links,
                                        const LoadOptions& options) {
  return std::make_unique<TargetSource>(target, file_source_of(model, nullptr, options, file_links), options);
}

}  // namespace onnxar
