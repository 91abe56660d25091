#include "onnxar/link.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/opening.h"
#include "archive/output_options.h"
#include "base/buffered_output.h"
#include "base/file_origin.h"
#include "base/folder.h"
#include "base/open_file.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/utf8.h"
#include "onnx/rewrite.h"
#include "os/names.h"
#include "sink/payload_layout.h"
#include "sink/publication.h"
#include "skeleton/expansion.h"
#include "source/graph_rules.h"
#include "source/link_marker.h"
#include "source/open.h"
#include "verbs/followed_links.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// Why readers of external data would refuse this name as a location; absent if they accept it.
std::optional<std::string_view> name_fault(std::string_view name) {
  if (name.starts_with('#')) return "begins with `#`, which to them names memory";
  if (name.find("..") != std::string_view::npos) return "has `..` in it, which to them leaves the folder";
  if (!base::is_utf8(name)) return "is not UTF-8";
  return std::nullopt;
}

/// Smaller data is put inline: the fields of a link take about as many bytes, and ONNX Runtime copies small data.
constexpr std::size_t smallest_linked = 128;

/// Opens the file, or the part of it that the range names. Local headers are read at once: the links need the place of
/// every entry's data and none of the data.
Archive open_archive(const fs::path& path, const ArchiveRange& range) {
  if (range.offset == 0 && !range.length) return open_at_rest(path, {}, LocalHeaders::read_at_once);
  const os::File file = base::open_file(path, os::Access::read);
  return open_range(file, {range.offset, range.length}, {}, path, LocalHeaders::read_at_once);
}

/// Rewrites the model of an archive so that its links lead to ranges of the archive's file.
class Linking {
 public:
  /// The link is to the archive in its own file, or to a copy of the archive as a file named `copy`.
  Linking(const fs::path& archive, const ArchiveRange& range, std::optional<std::string_view> copy = std::nullopt)
      : path_(base::real_path(archive)),
        begin_(copy ? 0 : range.offset),
        source_(resolver_of(open_archive(path_, range), {})),
        expansion_(source_->input_size(), LoadOptions().max_expansion, Hint::none) {
    // The name of the real file: the link must be in its folder, and symbolic links may go by other names.
    const std::string name = copy ? std::string(*copy) : archive_name();
    if (const auto fault = name_fault(name)) {
      throw Error(Code::usage_argument,
                  base::concat("ONNX's readers of external data would refuse the archive because its name ", *fault,
                               "; rename it"),
                  {}, path_);
    }
    refuse_own_name(this->archive(), copy ? os::path_of(name) : path_);
    const LinkMarker marker = LinkMarker::of(this->archive(), begin_, name);
    try {
      model_ = onnx::rewrite_tensors(source_->model(), [&](const onnx::TensorSite& site) { return edit(site, name); },
                                     {}, {link_key_prefix, marker.fields(), model_name_key});
    } catch (const Error& error) {
      throw source_->with_place(error);
    }
    check_model_size(model_.size(), path_, Hint::pack_threshold);
  }

  [[nodiscard]] const fs::path& path() const noexcept { return path_; }
  [[nodiscard]] fs::path folder() const { return path_.parent_path(); }
  [[nodiscard]] std::string archive_name() const { return os::text_of(path_.filename()); }
  [[nodiscard]] const Archive& archive() const noexcept { return *source_->archive(); }
  [[nodiscard]] const wire::Rope& model() const noexcept { return model_; }
  [[nodiscard]] std::uint64_t tensors() const noexcept { return tensors_; }
  /// The bytes of the archive alone.
  [[nodiscard]] base::MappedSource copied() const { return {archive().file(), ArchiveAccess::origin(archive())}; }
  [[nodiscard]] LinkReport report() const { return {tensors_, nested_, model_.size()}; }

 private:
  onnx::TensorEdit edit(const onnx::TensorSite& site, const std::string& name) {
    if (!site.tensor.is_external()) return onnx::TensorEdit::keep();
    Payload payload = source_->payload_of(site);
    const Bytes bytes = payload.bytes();
    if (bytes.size() < smallest_linked || !followed_.follows(site)) {
      expansion_.add(payload);  // a million attributes may name one entry, and each gets a copy
      return onnx::TensorEdit::put_inline(std::move(payload.source));
    }
    ++tensors_;
    if (!site.is_main_initializer()) ++nested_;
    // Entries are stored, so every payload is a range of the archive's mapping.
    const auto offset = static_cast<std::uint64_t>(bytes.data() - archive().file().data());
    return onnx::TensorEdit::link_to({name, begin_ + offset, bytes.size()});
  }

  fs::path path_;
  std::uint64_t begin_;  // offset of the archive in the file
  std::unique_ptr<Resolver> source_;
  FollowedLinks followed_;
  Expansion expansion_;
  wire::Rope model_;
  std::uint64_t tensors_ = 0;
  std::uint64_t nested_ = 0;  // of these, not initializers of the main graph
};

void check_place(const fs::path& target, const Linking& linking) {
  const fs::path folder = base::folder_of(target);
  // Paths may differ for one folder, so folders are compared by device and inode.
  if (!base::are_same(folder, linking.folder())) {
    throw Error(Code::usage_argument,
                base::concat("a link must be in the folder of its archive, because runtimes open external data only "
                             "beneath the folder of the model; write it to ",
                             escaped_path(linking.folder() / target.filename())),
                {}, target);
  }
  if (base::are_same(target, linking.path())) {
    throw Error(Code::usage_argument, "is the archive that the link needs; choose a different name", {}, target);
  }
}

/// The folder into which an archive and its link are written.
class HubFolder {
 public:
  HubFolder(const fs::path& path, const OutputOptions& options)
      : path_(path), folder_(base::Folder::open(path)), options_(options) {}

  void expect_writable(const char* name) const {
    base::expect_writable(base::OutputTarget{path_ / name, folder_, name}, existing_of(options_));
  }
  /// Returns the complete file, which has no name yet.
  [[nodiscard]] base::OutputFile write(const char* name, const ByteSource& bytes) const {
    base::BufferedOutput out(base::OutputFile::create(folder_, name, existing_of(options_)), options_.sync);
    out.reserve(bytes.size());
    out.append(bytes);
    return std::move(out).finish();
  }
  /// Gives the files their names. The last one is the link: a reader that finds it finds its archive.
  void publish(std::vector<base::OutputFile>& files) const {
    for (base::OutputFile& file : files) file.prepare(sync_of(options_));
    for (base::OutputFile& file : files) file.stage();
    Publication publication(existing_of(options_), sync_of(options_));
    for (base::OutputFile& file : files) {
      publication.publish(file);
      publication.sync_names();
    }
    publication.keep();
  }

 private:
  fs::path path_;
  std::shared_ptr<const base::Folder> folder_;
  const OutputOptions& options_;
};

/// The judgement; false for a model as text, which is refused without a parser: links are binary.
template <typename Judge>
bool unless_text(const Judge& judge) {
  try {
    return judge();
  } catch (const Error& error) {
    if (error.code() != Code::usage_no_text_parser) throw;
    return false;
  }
}

/// Returns whether a tensor is linked to an archive. Every tensor is asked, because each may name a different archive,
/// which has to be there.
bool is_link(Resolver& source) {
  bool linked = false;
  const auto look = [&](const onnx::TensorSite& site) {
    if (!site.tensor.is_external() || !site.tensor.external.location) return;
    const std::string location(*site.tensor.external.location);
    linked = source.linked_archive(location, site.tensor.range.begin) != nullptr || linked;
  };
  try {
    onnx::walk_tensors(source.model(), look);
  } catch (const Error& error) {
    throw source.with_place(error);
  }
  return linked;
}

}  // namespace

Link make_link(const fs::path& archive, const ArchiveRange& range) {
  const Linking linking(archive, range);
  return {linking.model().flat(), linking.folder(), linking.archive_name(), linking.archive().file().size(),
          linking.tensors()};
}

LinkReport link(const fs::path& archive, const fs::path& output, const LinkOptions& options) {
  const Linking linking(archive, options.range);
  // Found before a dry run ends, so that it reports a target that cannot be written.
  base::OutputTarget target = base::find_target(output, existing_of(options.output));
  check_place(target.path, linking);
  const LinkReport report = linking.report();
  if (options.output.dry_run) return report;
  auto file = base::OutputFile::create(std::move(target), existing_of(options.output));
  base::BufferedOutput out(std::move(file), options.output.sync);
  out.reserve(report.model_bytes);
  out.append(linking.model());
  std::move(out).finish().publish(sync_of(options.output));
  return report;
}

LinkReport link_for_hub(const fs::path& archive, const fs::path& folder, const LinkOptions& options) {
  const Linking linking(archive, options.range, hub_data_name);
  const bool is_there = base::are_same(folder / hub_data_name, linking.path());
  if (is_there && options.range.offset != 0) {
    throw Error(Code::usage_argument, "is the file that has the archive in it; choose a different folder", {},
                folder / hub_data_name);
  }
  const HubFolder into(folder, options.output);
  into.expect_writable(hub_model_name);
  if (!is_there) into.expect_writable(hub_data_name);
  if (options.output.dry_run) return linking.report();
  std::vector<base::OutputFile> files;
  if (!is_there) files.push_back(into.write(hub_data_name, linking.copied()));
  files.push_back(into.write(hub_model_name, linking.model()));
  into.publish(files);
  return linking.report();
}

bool verify_link(const fs::path& model) {
  return unless_text([&] { return is_link(*open_resolver(model, {})); });
}

bool verify_link(Bytes model, const fs::path& folder) {
  LoadOptions options;
  options.external_data_dir = folder;
  return unless_text([&] { return is_link(*resolver_of(model, nullptr, options)); });
}

}  // namespace onnxar
