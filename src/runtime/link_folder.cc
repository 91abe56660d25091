// Writes a folder of links: an archive's graphs and side files, whose weights stay in the archive.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/entry_source.h"
#include "archive/keys.h"
#include "archive/output_options.h"
#include "base/annotated.h"
#include "base/buffered_output.h"
#include "base/checked.h"
#include "base/file_origin.h"
#include "base/folder.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/output_target.h"
#include "base/paths.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/companions.h"
#include "convert/model_source.h"
#include "convert/package.h"
#include "convert/publish.h"
#include "onnx/rope.h"
#include "onnxar/link.h"
#include "onnxar/listing.h"
#include "os/error.h"
#include "os/folder.h"
#include "os/names.h"
#include "runtime/copied_archive.h"
#include "runtime/link_configs.h"
#include "runtime/linking.h"
#include "runtime/moved_archive.h"
#include "zip/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// Returns the path of `target` relative to the real folder `from`. Throws usage.argument if they are on different
/// drives of Windows.
fs::path path_from(const fs::path& from, const fs::path& target) {
  fs::path path = target.lexically_relative(from);
  if (!path.empty()) return path;
  throw Error(Code::usage_argument,
              "the archive and the folder are on different drives; copy the archive into the folder", {}, from);
}

/// Returns true if a file in this folder can share blocks with the archive.
bool can_share(const fs::path& folder, const Archive& archive) {
  const base::FileOrigin* const origin = ArchiveAccess::origin(archive);
  if (origin == nullptr || archive.file().size() < base::shared_block) return false;
  return base::OutputFile::create_nameless(folder).share_at(0, archive.file().first(base::shared_block), *origin);
}

/// Writes a tree of links. Folders of the tree are named by their path with `/` at the end; the root has the empty
/// name.
class FolderLinks {
 public:
  FolderLinks(const fs::path& archive, const LinkOptions& options)
      : options_(options), linking_(archive, options, {}), graphs_(linking_.graphs()) {}

  FolderLinkReport run(const fs::path& archive, const fs::path& folder, ArchivePlace place) {
    if (place == ArchivePlace::copied || place == ArchivePlace::moved) refuse_part(archive);
    find_root(folder);
    list_files();
    read_package();
    expect_few_folders(folder);
    put_archive(archive, place);
    claim_all();
    edit_configs();
    return write_all();
  }

 private:
  [[nodiscard]] fs::path archive_name() const { return linking_.path().filename(); }
  [[nodiscard]] base::Existing existing() const { return existing_of(options_.output); }
  /// Returns the real path of a folder of the tree.
  [[nodiscard]] fs::path real(const std::string& folder) const {
    return (root_ / os::path_of(folder)).lexically_normal();
  }
  /// Returns true if links in this folder have the archive beside them.
  [[nodiscard]] bool has_archive(const std::string& folder) const {
    return copies_.contains(folder) || base::are_same(real(folder), home_) || (moves_to_ && real(folder) == home_);
  }

  /// Refuses an archive that is a part of a file: a link has one offset for the archive's file and for copies of it.
  void refuse_part(const fs::path& archive) const {
    if (options_.offset == 0 && !options_.length) return;
    throw Error(Code::usage_argument,
                "contains the archive only as a part, so it cannot be moved or copied for a folder of links", {},
                archive);
  }

  void find_root(const fs::path& folder) {
    shown_ = base::named_folder(folder);
    if (base::is_folder(shown_)) {
      root_ = base::real_path(shown_);
      return;
    }
    base::expect_no_file(shown_);
    root_ = base::real_path(base::folder_of(shown_)) / shown_.filename();
    is_new_ = true;
  }

  void list_files() {
    for (const auto& [graph, path] : graphs_) {
      folders_.emplace(folder_of_name(path));
      graph_paths_.insert(path);
    }
    for (const ArchiveEntry& file : side_files(linking_.archive()))
      files_.push_back({std::string(file.name), std::make_shared<EntrySource>(linking_.archive(), file)});
    for (const SideFile& file : files_) file_names_.insert(file.name);
    std::ranges::sort(files_, {}, &SideFile::name);
  }

  [[nodiscard]] const SideFile* file_named(std::string_view name) const {
    const auto found = std::ranges::lower_bound(files_, name, {}, &SideFile::name);
    return found == files_.end() || found->name != name ? nullptr : &*found;
  }

  void read_package() {
    package_ = Package::read([this](const std::string& name) -> std::optional<std::string> {
      const SideFile* const file = file_named(name);
      if (file == nullptr) return std::nullopt;
      if (file->source->size() > Package::most_bytes) return std::string(Package::most_bytes + 1, ' ');
      const ByteSpan text = gathered(*file->source);
      return std::string(as_text(text.bytes()));
    });
    report_.remarks = package_.warnings();
    for (const Package::Component& component : package_.components()) {
      // ONNX Runtime refuses a package that lacks a folder of a variant, and an archive has no empty folders.
      for (const Package::Variant& variant : component.list) {
        if (!variant.folder.empty()) zip::check_name(variant.folder, {variant.folder, std::nullopt});
        declared_.insert(variant.folder);
      }
    }
  }

  void expect_package(const fs::path& given) const {
    if (package_.is_one()) return;
    throw Error(Code::usage_argument, "has no model package: no manifest.json with `schema_version` and `components`",
                {std::string(manifest_name), std::nullopt}, given);
  }

  void expect_few_folders(const fs::path& output) const {
    const auto nothing = std::make_shared<onnx::Rope>();
    std::vector<SideFile> all = files_;
    for (const auto& [graph, path] : graphs_) all.push_back({path, nothing});
    for (const std::string& folder : declared_) all.push_back({folder + "/", nothing});
    check_folders(all, output);
  }

  /// Decides where the archive will be, and which folders get copies of it.
  void put_archive(const fs::path& given, ArchivePlace place) {
    home_ = linking_.folder();
    if (place == ArchivePlace::installed) return expect_package(given);
    const std::string& first = *folders_.begin();
    if (folders_.size() == 1 && base::are_same(real(first), home_)) return;
    if (place == ArchivePlace::copied && package_.is_one() && folders_.size() > 1) {
      copies_.insert("");
      home_ = root_;
    } else if (place == ArchivePlace::copied) {
      for (const std::string& folder : folders_) {
        if (!base::are_same(real(folder), home_)) copies_.insert(folder);
      }
    } else if (place == ArchivePlace::moved) {
      if (fs::is_symlink(base::link_status(given))) {
        throw Error(Code::usage_argument,
                    base::concat("is a symbolic link, which would lead nowhere; move the file itself, ",
                                 escaped_path(linking_.path())),
                    {}, given);
      }
      moves_to_ = folders_.size() == 1 ? first : "";
      home_ = real(*moves_to_);
    } else if (folders_.size() == 1 && options_.offset == 0 && !options_.length &&
               can_share(is_new_ ? root_.parent_path() : root_, linking_.archive())) {
      copies_.insert(first);
      report_.shares_blocks = linking_.archive().file().size() >= base::BufferedOutput::shared_from;
    }
  }

  /// Chooses the names of the link files beside the archive, and finds all faults of the paths that will be written.
  void claim_all() {
    for (const auto& [graph, path] : graphs_) claim(path);
    for (const SideFile& file : files_) claim(file.name);
    if (moves_to_) claim(*moves_to_ + os::text_of(archive_name()));
    for (const std::string& folder : copies_) claim_archive(folder);
    if (package_.is_one()) return;
    for (const std::string& folder : folders_) {
      if (!copies_.contains(folder) && (!moves_to_ || *moves_to_ != folder)) claim_archive(folder);
    }
    for (const auto& [graph, path] : graphs_) {
      if (!has_archive(std::string(folder_of_name(path)))) name_link_beside(path);
    }
  }

  /// Claims the archive's name in a folder that gets the archive, a copy of it, or a link to it.
  void claim_archive(const std::string& folder) {
    const std::string name = folder + os::text_of(archive_name());
    if (!base::are_same(real(folder), home_)) return claim(name);
    if (!claimed_.insert(base::folded_copy(name)).second) throw is_archive(root_ / os::path_of(name));
  }

  static Error is_archive(const fs::path& path) {
    return {Code::usage_argument,
            "would be both a file of the archive and the archive itself; rename one of them",
            {},
            path};
  }

  void claim(const std::string& name) {
    const fs::path path = root_ / os::path_of(name);
    if (!claimed_.insert(base::folded_copy(name)).second) throw is_archive(path);
    if (is_new_) return;
    if (fs::is_regular_file(base::link_status(path)) && base::are_same(path, linking_.path())) throw is_archive(path);
    fs::path folder = root_;
    for (const fs::path& part : os::path_of(name).parent_path()) {
      folder /= part;
      const fs::file_status status = base::link_status(folder);
      if (!fs::exists(status)) return;
      if (fs::is_directory(status)) continue;
      throw Error(Code::usage_argument,
                  "is not a folder, but files would be written into it; choose a different output", {}, folder);
    }
    if (base::is_folder(path)) base::expect_writable(path, existing());
    if (existing() == base::Existing::refuse && fs::exists(base::link_status(path))) throw base::already_exists(path);
  }

  /// Names the link of a graph: `unet/model.onnx` of `pipe.onnxar` is `pipe.unet--model.onnx`.
  void name_link_beside(const std::string& path) {
    std::string name = os::text_of(linking_.path().stem()) + ".";
    for (const char c : stem_of_graph(path)) c == '/' ? name += "--" : name += c;
    std::string free = name;
    // In the root of the tree, a graph or a side file may have the name.
    base::KeyedSet<std::string>& claimed = moves_to_ || root_ == home_ ? claimed_ : claimed_beside_;
    const auto whole = [&free] { return free + std::string(graph_suffix); };
    for (int i = 2; !claimed.insert(base::folded_copy(whole())).second; ++i) free = base::concat(name, "-", i);
    beside_.emplace(path, home_ / os::path_of(whole()));
  }

  /// Returns the path of the archive's folder relative to a folder of the tree, with `/`; `.` if they are the same.
  [[nodiscard]] std::string way_to_archive(const std::string& folder) const {
    return os::slashed_text_of(path_from(real(folder), home_));
  }

  void edit_configs() {
    std::map<std::string, std::string> edited;
    if (package_.is_one()) {
      edited = base::annotated(linking_.path(), [&] {
        return installed_package(
            package_,
            [this](const auto& from, const auto& graph) {
              return is_linked_afar(graph) ? way_to_archive(from) : std::string();
            },
            [this](const std::string& path) { return has_path(path); });
      });
    } else if (const SideFile* const genai = file_named(genai_config_name); genai != nullptr && !beside_.empty()) {
      const ByteSpan text = gathered(*genai->source);
      auto config = base::annotated(
          linking_.path(), [&] { return genai_with_folder(std::string(as_text(text.bytes())), way_to_archive("")); });
      if (config) edited.emplace(genai_config_name, std::move(*config));
    }
    for (SideFile& file : files_) {
      const auto found = edited.find(file.name);
      if (found == edited.end()) continue;
      const Bytes text = as_bytes(found->second);
      file.source = payload_of(ByteSpan::own({text.begin(), text.end()})).source;
    }
  }

  /// Returns true if the archive is not beside the link of this graph.
  [[nodiscard]] bool is_linked_afar(const std::string& path) const {
    return graph_paths_.contains(path) && !has_archive(std::string(folder_of_name(path)));
  }

  [[nodiscard]] bool has_path(const std::string& path) const {
    const auto is_in = [&path, in = path + "/"](const auto& names) {
      const auto first = names.lower_bound(in);
      return names.contains(path) || (first != names.end() && first->starts_with(in));
    };
    return is_in(graph_paths_) || is_in(file_names_);
  }

  FolderLinkReport write_all() {
    FileSet files(options_.output, existing_of(options_.output));
    if (!options_.output.dry_run) enter(files);
    for (const std::string& folder : copies_) copy_archive(files, folder);
    for (const std::string& folder : declared_) {
      if (!options_.output.dry_run) static_cast<void>(files.folder_for(os::path_of(folder)));
    }
    for (const SideFile& file : files_) write(files, file.name, *file.source);
    for (const auto& [graph, path] : graphs_) add_link(files, graph, path);
    report_.side_files = files_.size();
    report_.copies = copies_.size();
    report_.archive =
        copies_.empty() ? home_ / archive_name() : shown_ / os::path_of(*copies_.begin()) / archive_name();
    if (options_.output.dry_run) return std::move(report_);
    std::optional<MovedArchive> moved;
    if (moves_to_) moved.emplace(linking_.path(), files.folder_for(os::path_of(*moves_to_).parent_path()));
    files.publish();
    if (moved) moved->keep(options_.output.sync);
    return std::move(report_);
  }

  void enter(FileSet& files) const {
    if (is_new_) {
      files.make_folder(base::Folder::open(root_.parent_path()), os::text_of(root_.filename()));
    } else {
      files.set_folder(base::Folder::open(root_));
    }
  }

  void write(FileSet& files, const std::string& name, const ByteSource& source) const {
    if (options_.output.dry_run) return;
    files.write(name, source.size(), [&source](base::BufferedOutput& out) { out.append(source); });
  }

  void copy_archive(FileSet& files, const std::string& folder) const {
    write(files, folder + os::text_of(archive_name()), CopiedArchive(linking_.archive()));
  }

  void add_link(FileSet& files, const std::string& graph, const std::string& path) {
    const std::string folder(folder_of_name(path));
    const bool is_afar = package_.is_one() && !has_archive(folder);
    linking_.select(graph, is_afar ? way_to_archive(folder) : "");
    report_.links.push_back(linking_.report(shown_ / os::path_of(path)));
    const auto beside = beside_.find(path);
    if (beside == beside_.end()) return write(files, path, linking_.model());
    report_.beside.push_back(beside->second);
    write_beside(files, beside->second);
    if (options_.output.dry_run) return;
    const auto lead = [&](const std::string& name, const fs::path& target) {
      files.write_link(name, path_from(real(folder), target));
    };
    lead(path, beside->second);
    if (linked_.insert(folder).second) lead(folder + os::text_of(archive_name()), home_ / archive_name());
  }

  /// Writes the link beside the archive, unless an earlier call wrote the same one.
  void write_beside(FileSet& files, const fs::path& path) const {
    const ByteSource& model = linking_.model();
    if (fs::is_regular_file(base::link_status(path))) {
      const base::MappedFile file = base::MappedFile::open(path);
      if (file.bytes().size() == model.size() && base::has_bytes(model, file.bytes())) return;
    }
    if (moves_to_) return write(files, path.lexically_relative(root_).generic_string(), model);
    base::OutputTarget target{path, base::Folder::open(home_), os::text_of(path.filename())};
    base::expect_writable(target, existing());
    if (options_.output.dry_run) return;
    files.write(std::move(target), model.size(), [&model](base::BufferedOutput& out) { out.append(model); });
  }

  LinkOptions options_;
  Linking linking_;
  std::vector<std::pair<std::string, std::string>> graphs_;  // as Linking::graphs returns them
  std::vector<SideFile> files_;
  Package package_;
  std::set<std::string> declared_;  // folders of the package's variants, without `/` at the end
  std::set<std::string> folders_;   // folders of the graphs
  std::set<std::string> graph_paths_, file_names_;
  fs::path shown_;  // the output as the caller named it
  fs::path root_;   // the real path of the output, which may be new
  bool is_new_ = false;
  fs::path home_;                                         // the real folder of the archive, after it was moved
  std::optional<std::string> moves_to_;                   // the folder of the tree
  std::set<std::string> copies_;                          // the folders of the tree
  std::map<std::string, fs::path> beside_;                // link files beside the archive, by the paths of their graphs
  std::set<std::string> linked_;                          // folders with a symbolic link to the archive
  base::KeyedSet<std::string> claimed_, claimed_beside_;  // in lower case
  FolderLinkReport report_;
};

}  // namespace

FolderLinkReport link_folder(const fs::path& archive, const fs::path& folder, const LinkOptions& options,
                             ArchivePlace place) {
  return FolderLinks(archive, options).run(archive, folder, place);
}

}  // namespace onnxar
