// Lists the models and side files of a folder, and decides which file is the model.
#include "convert/model_folder.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "archive/file_kind.h"
#include "archive/keys.h"
#include "archive/renames.h"
#include "base/beneath.h"
#include "base/glob.h"
#include "base/mapped_file.h"
#include "base/open_file.h"
#include "base/paths.h"
#include "base/text.h"
#include "convert/model_source.h"
#include "convert/whole_file.h"
#include "onnxar/archive.h"
#include "os/error.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// The name that exporters give to a single model, and its path in Hugging Face repositories.
constexpr std::array<std::string_view, 2> usual_models = {"model.onnx", "onnx/model.onnx"};

bool is_in_root(const std::string& name) { return name.find('/') == std::string::npos; }

/// Opens a file of the folder by a path that does not leave it. `blobs` is the folder of a model's own file.
OpenedInput open_beneath(const fs::path& folder, const fs::path& blobs, const std::string& name) {
  std::error_code failed;
  const fs::path path = folder / os::path_of(name);
  const Advice advice{Hint::leave_out, escaped(name)};
  os::File file = base::open_beneath(folder, blobs, os::path_of(name), failed);
  if (!failed) {
    try {
      return {std::move(file), path};
    } catch (const Error& error) {
      throw Error(error.code(), error.message(), {}, path, advice);  // such as a pipe
    }
  }
  const os::Reason reason = os::reason_of(failed);
  if (reason == os::Reason::outside || reason == os::Reason::too_many_links) {
    throw Error(Code::usage_argument, "leads out of the folder by a link, or in a circle; replace it by a copy", {},
                path, advice);
  }
  const Error error = base::system_error(failed, "cannot open", path);
  throw Error(error.code(), error.message(), {}, path, advice);
}

/// Collects the files of a folder and of the folders below it, in any order.
class FolderWalk {
 public:
  FolderWalk(fs::path root, const std::vector<std::string>& patterns) : root_(std::move(root)) {
    for (const std::string& pattern : patterns) patterns_.push_back({base::Glob(pattern)});
  }

  void run() {
    folders_.emplace_back();
    while (!folders_.empty()) {
      const std::string folder = std::move(folders_.back());
      folders_.pop_back();
      const fs::path path = folder.empty() ? root_ : root_ / os::path_of(folder);
      for (const fs::directory_entry& each : base::entries_in(path)) add(folder, each);
    }
    for (auto* list : {&files, &hidden, &excluded}) std::ranges::sort(*list);
  }

  [[nodiscard]] bool has_matched(std::size_t pattern) const { return patterns_[pattern].has_matched; }

  std::vector<std::string> files, hidden, excluded;

 private:
  struct Pattern {
    base::Glob glob;
    bool has_matched = false;
  };

  bool is_excluded(const std::string& name) {
    bool is_any = false;
    for (Pattern& pattern : patterns_) {
      const bool matches = pattern.glob.matches(name);
      pattern.has_matched = pattern.has_matched || matches;
      is_any = is_any || matches;
    }
    return is_any;
  }

  void add(const std::string& folder, const fs::directory_entry& entry) {
    const std::string own = os::text_of(entry.path().filename());
    std::string name = folder.empty() ? own : base::concat(folder, "/", own);
    if (own.starts_with('.')) return hidden.push_back(std::move(name));
    if (is_excluded(name)) return excluded.push_back(std::move(name));
    std::error_code ignored;  // opening refuses files that cannot be examined
    if (!entry.is_directory(ignored)) return files.push_back(std::move(name));
    if (!entry.is_symlink(ignored)) return folders_.push_back(std::move(name));
    throw Error(Code::usage_argument, "is a link to a folder, which is not followed; replace it by a copy", {},
                entry.path(), {Hint::leave_out, escaped(name)});
  }

  fs::path root_;
  std::vector<Pattern> patterns_;
  std::vector<std::string> folders_;
};

}  // namespace

bool ModelFolder::is_one(const fs::path& path) {
  return base::is_folder(path) && !base::status_if_there(path / model_entry_name);
}

void ModelFolder::list(const SaveOptions& save) {
  FolderWalk listing(path_, save.exclude);
  listing.run();
  for (std::size_t i = 0; i < save.exclude.size(); ++i)
    if (!listing.has_matched(i)) unmatched_.push_back(save.exclude[i]);
  hidden_ = std::move(listing.hidden);
  excluded_ = std::move(listing.excluded);
  for (const RenamedEntry& rename : save.rename)
    if (!std::ranges::binary_search(listing.files, rename.from)) other_renames_.push_back(rename);
  Renames renames(save.rename);
  for (std::string& name : listing.files) {
    std::string entry(renames(name));
    auto& files = is_graph_name(entry) ? models_ : others_;
    files.push_back({std::move(name), std::move(entry)});
  }
}

std::string ModelFolder::first_variant() const {
  for (const Package::Component& component : package_.components()) {
    for (const Package::Variant& variant : component.list)
      if (std::ranges::binary_search(models_, variant.graph, {}, &FolderFile::name)) return variant.graph;
  }
  return {};
}

void ModelFolder::note_data_folders() {
  constexpr std::size_t most = 16;  // for one model: each folder is searched for each data file
  for (const FolderFile& model : models_) {
    const std::size_t slash = model.name.rfind('/');
    data_folders_[model.name] = {slash == std::string::npos ? std::string() : model.name.substr(0, slash)};
  }
  for (const Package::Component& component : package_.components()) {
    for (const Package::Variant& variant : component.list) {
      const auto found = data_folders_.find(variant.graph);
      if (found == data_folders_.end() || !variant.data_folder || found->second.size() == most) continue;
      std::vector<std::string>& folders = found->second;
      if (std::ranges::find(folders, *variant.data_folder) == folders.end()) folders.push_back(*variant.data_folder);
    }
  }
}

void ModelFolder::put_first(const std::string& first) {
  if (!first.empty()) {
    const std::array<std::string, 3> names = {first, first + std::string(graph_suffix), first + "/model.onnx"};
    for (const std::string& name : names) {
      const auto found = std::ranges::find(models_, name, &FolderFile::entry);
      if (found != models_.end()) return static_cast<void>(std::rotate(models_.begin(), found, found + 1));
    }
    throw Error(
        Code::usage_argument,
        base::concat("has no model ", base::quoted(first), " that could be the first one; the first model by name is ",
                     base::quoted(models_.front().entry)),
        {}, path_);
  }
  const std::string variant = first_variant();
  const bool has_only_root =
      std::ranges::count_if(models_, [](const FolderFile& model) { return is_in_root(model.name); }) == 1;
  const auto rank = [&](const FolderFile& model) {
    const bool is_only_root = has_only_root && is_in_root(model.name);
    return model.name == usual_models[0]   ? 0
           : is_only_root                  ? 1
           : model.name == variant         ? 2
           : model.name == usual_models[1] ? 3
                                           : 4;
  };
  const auto found = std::ranges::min_element(models_, {}, rank);
  is_first_by_name_ = rank(*found) == 4;
  std::rotate(models_.begin(), found, found + 1);
}

ModelFolder ModelFolder::read(const fs::path& path, const SaveOptions& save) {
  ModelFolder folder(base::real_path(path));
  folder.list(save);
  if (folder.models_.empty()) {
    throw Error(Code::io_not_a_file,
                folder.excluded_.empty() ? "is a folder; name a file, or a folder with .onnx files in it"
                                         : "has no .onnx file left after the exclusions; a model is needed",
                {}, path);
  }
  folder.package_ = Package::read([&folder](const std::string& name) { return folder.text_of(name); });
  folder.changed_ = folder.package_.without_data_folders();
  folder.note_data_folders();
  folder.put_first(save.first);
  return folder;
}

fs::path ModelFolder::path_of(const std::string& name) const { return path_ / os::path_of(name); }

fs::path ModelFolder::blobs() const { return base::real_path(path_of(models_.front().name)).parent_path(); }

OpenedInput ModelFolder::open(const std::string& name) const { return open_beneath(path_, blobs(), name); }

std::optional<std::string> ModelFolder::text_of(const std::string& name) const {
  if (!std::ranges::binary_search(others_, name, {}, &FolderFile::name)) return std::nullopt;
  const OpenedInput input = open(name);
  return std::string(as_text(input.file()->bytes()).substr(0, Package::most_bytes + 1));
}

std::vector<SideFile> ModelFolder::side_files(const base::KeyedSet<std::string>& data, const fs::path& output) const {
  const auto roots = std::make_shared<const std::pair<fs::path, fs::path>>(path_, blobs());
  std::vector<SideFile> files;
  for (const auto& [name, entry] : others_) {
    const fs::path path = path_of(name);
    if (data.contains(os::slashed_text_of(path))) continue;
    const auto open = [roots, name] { return open_beneath(roots->first, roots->second, name).file(); };
    auto file = open();
    if (base::are_same(path, output)) continue;
    if (is_lfs_pointer(file->bytes())) {
      throw Error(Code::usage_argument, "it would be packed in place of the file", {}, path,
                  advice_on_kind(file->bytes()));
    }
    const auto changed = changed_.find(name);
    if (changed == changed_.end()) {
      files.push_back({entry, whole_file(std::move(file), open)});
    } else {
      const Bytes text = as_bytes(changed->second);
      files.push_back({entry, payload_of(ByteSpan::own({text.begin(), text.end()})).source});
    }
  }
  return files;
}

std::vector<Finding> ModelFolder::remarks() const {
  const auto note = [](Severity severity, std::string message) {
    return Finding{severity, Code::zip_foreign, {}, std::move(message)};
  };
  std::string message = base::concat("the input was read as a folder of ", models_.size(),
                                     models_.size() == 1 ? " model and its files" : " models and their files");
  if (models_.size() > 1) {
    message += base::concat("; ", base::quoted(models_.front().entry), " is the first model",
                            is_first_by_name_ ? ", by its name (the option `first` chooses another)" : "");
  }
  const auto add = [&message](const std::vector<std::string>& names, std::string_view why) {
    if (!names.empty())
      message += base::concat("; left out: ", names.size(), why, ", such as ", base::quoted(names.front()));
  };
  add(hidden_, " with a name that begins with a dot");
  add(excluded_, " that a pattern matches");
  std::vector<Finding> remarks = {note(Severity::note, std::move(message))};
  for (const std::string& pattern : unmatched_)
    remarks.push_back(
        note(Severity::warning, base::concat("nothing is left out by the pattern ", base::quoted(pattern))));
  std::ranges::copy(package_.warnings(), std::back_inserter(remarks));
  for (const auto& [name, text] : changed_) {
    remarks.push_back(note(Severity::note, base::concat(base::quoted(name),
                                                        " is packed without the folders of data that it names, because "
                                                        "the archive has the data")));
  }
  return remarks;
}

std::optional<Finding> remark_on_places(std::span<const SideFile> files) {
  constexpr std::string_view config = genai_config_name, list = "shared_initializers";
  constexpr std::uint64_t most = 1U << 20U;  // bytes; such files have some kilobytes
  const auto file = std::ranges::find(files, config, &SideFile::name);
  if (file == files.end() || file->source->size() > most) return std::nullopt;
  const ByteSpan text = gathered(*file->source);
  if (std::ranges::search(text.bytes(), as_bytes(list)).empty()) return std::nullopt;
  std::string message =
      base::concat(config, " lists weights with their locations and offsets in data files (", list,
                   "), which the archive does not have; replace these by the locations and offsets in a link, or "
                   "remove the list");
  return Finding{Severity::warning, Code::zip_foreign, {std::string(config), std::nullopt}, std::move(message)};
}

}  // namespace onnxar
