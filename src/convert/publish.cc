// Gives the files of an output their names together, all or none.
#include "convert/publish.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "archive/keys.h"
#include "archive/output_options.h"
#include "base/open_file.h"
#include "base/output_name.h"
#include "base/paths.h"
#include "base/text.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// The number of files that stay open and nameless until they are published. More could exceed the limit of open files,
/// often 1024 (a file that replaces another takes two), so later files are closed and wait under hidden names.
constexpr std::size_t most_open = 64;

Error in_the_way(const fs::path& path, std::string_view what) {
  return {
      Code::usage_argument,
      base::concat(what, ", and a file of the model would be written there; choose a different output folder or name"),
      {},
      path};
}

/// True if the folder contains only folders, at any depth: a killed command leaves such a tree.
bool has_only_folders(const fs::path& folder) {
  std::error_code failed;
  fs::recursive_directory_iterator each(folder, failed);
  for (; !failed && each != fs::recursive_directory_iterator(); each.increment(failed)) {
    if (!fs::is_directory(each->symlink_status(failed)) || failed) return false;
  }
  if (failed) throw base::system_error(failed, "cannot list the folder", folder);
  return true;
}

/// Removes the folders in the folder, which contains only folders. Keeps a folder that has a file by now.
void remove_folders_in(const std::shared_ptr<const base::Folder>& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  fs::directory_iterator each(folder->path(), failed);
  for (; !failed && each != fs::directory_iterator(); each.increment(failed))
    names.push_back(os::text_of(each->path().filename()));
  if (failed) throw base::system_error(failed, "cannot list the folder", folder->path());
  for (const std::string& name : names) {
    remove_folders_in(base::Folder::open_in(folder, name));
    folder->remove_folder(name);
  }
}

/// Refuses a folder that contains anything except folders.
void expect_empty(const base::Folder& folder) {
  if (folder.is_empty() || has_only_folders(folder.path())) return;
  throw Error(Code::output_not_empty,
              "the folder is not empty, and a model and its side files must not be mixed with other files; name a new "
              "or empty folder, or a file for the model alone",
              {}, folder.path());
}

/// Removes the folders in a folder without files, so that files can take their names.
void clear(const std::shared_ptr<const base::Folder>& folder) {
  if (folder->is_empty()) return;
  expect_empty(*folder);
  remove_folders_in(folder);
}

}  // namespace

Destination Destination::of(const fs::path& output, const fs::path& name, Format format) {
  const bool is_folder = !output.has_filename() || base::is_folder(output);
  if (output.empty() || !is_folder || format == Format::archive) return {output, {}};
  const fs::path stem = name.stem().empty() ? "model" : name.parent_path() / name.stem();
  return {base::named_folder(output),
          base::concat(os::slashed_text_of(stem), format == Format::textproto ? ".textproto" : graph_suffix)};
}

fs::path Destination::folder_above() const { return base::folder_of(path); }

FileTargets::FileTargets(const Destination& destination, const OutputOptions& options)
    : is_folder_(destination.is_folder()), existing_(is_folder_ ? base::Existing::refuse : existing_of(options)) {
  const fs::path& path = destination.path;
  if (is_folder_) {
    find_folder(path);
    root_ = path;
    model_.path = path / os::path_of(destination.model);
    model_.name = destination.model;
    expect_possible(os::path_of(model_.name));
  } else {
    model_ = base::find_target(path, existing_);
    root_ = model_.path.parent_path();
  }
  model_name_ = base::folded_copy(is_folder_ ? model_.name : os::text_of(model_.path.filename()));
  claim_folded(model_name_);
}

void FileTargets::find_folder(const fs::path& path) {
  if (base::is_folder(path)) {
    model_.folder = base::Folder::open(path);
    return expect_empty(*model_.folder);
  }
  model_.folder = base::Folder::open(base::folder_of(path));
  base::expect_no_file(path);
  to_make_ = path;
}

void FileTargets::expect_possible(const fs::path& name) const {
  for (const fs::path& part : name) static_cast<void>(base::link_status(model_.folder->path() / part));
}

void FileTargets::claim(const std::string& name) {
  const fs::path path = root_ / os::path_of(name);
  // On some file systems, names that differ only in case are one file.
  const std::string small = base::folded_copy(name);
  const std::size_t slash = small.find('/');
  // A file and a folder cannot share a path, so the first folder of a name is claimed with it.
  const std::string first = small.substr(0, slash);
  if (small == model_name_) throw in_the_way(path, "is the model itself");
  if (files_claimed_.contains(small)) throw in_the_way(path, "is named twice");
  if (files_claimed_.contains(first)) throw in_the_way(path, "is in a folder with the name of another file");
  if (slash == std::string::npos && folders_claimed_.contains(small)) throw in_the_way(path, "is also a folder");
  claim_folded(small);
  if (is_folder_) return expect_possible(os::path_of(name));  // it is new or empty, so no file is in the way
  const fs::file_status status = base::link_status(path);
  // The user chose only the path of the model. A link at any other name would lead to a file that the user did not
  // name.
  if (fs::is_symlink(status)) throw in_the_way(path, "is a symbolic link");
  base::expect_writable(path, existing_);
}

void FileTargets::claim_folded(const std::string& small) {
  files_claimed_.insert(small);
  if (const std::size_t slash = small.find('/'); slash != std::string::npos)
    folders_claimed_.insert(small.substr(0, slash));
}

/// Delegates to the other constructor, so that the object counts as constructed and the destructor cleans up if this
/// throws.
FileSet::FileSet(const FileTargets& targets, const OutputOptions& options) : FileSet(options, targets.existing()) {
  const base::OutputTarget& model = targets.model();
  const std::string folder = os::text_of(targets.folder_to_make().filename());
  if (folder.empty()) {
    root_.folder = model.folder;
    if (!targets.is_folder()) {
      model_ = base::OutputFile::create(model, existing_);
      return;
    }
  } else {
    make_folder(model.folder, folder);  // it may have appeared since the plan
  }
  clear(root_.folder);
  const fs::path path = os::path_of(model.name);
  model_ = base::OutputFile::create(folder_for(path.parent_path()), os::text_of(path.filename()), existing_);
}

FileSet::~FileSet() {
  // Looking up folders, below, may need the descriptors.
  spare_ = {};
  model_.reset();
  for (base::OutputFile& file : files_) file.close();
  if (existing_ == base::Existing::refuse) {
    for (std::size_t i = 0; i < published_; ++i) files_[i].withdraw();
    for (std::size_t i = 0; i < published_links_; ++i) links_[i].withdraw();
  }
  links_.clear();
  // Removes files before folders: a file that waits under a hidden name would prevent the removal of its folder.
  files_.clear();
  remove_folders();
  if (above_) above_->remove_folder(made_root_);
}

void FileSet::make_folder(std::shared_ptr<const base::Folder> above, const std::string& name) {
  if (base::Folder::make(*above, name)) {
    above_ = above;
    made_root_ = name;
  }
  root_.folder = base::Folder::open_in(std::move(above), name);
}

/// Removes the folders that were made in a folder; `here` is a descriptor of it. Keeps a folder that is not empty.
/// Moves one descriptor down and up, because one per level could exceed the limit of open files. Returns false if
/// `here` is no longer that folder, because a folder was moved meanwhile.
bool FileSet::remove_within(const Made& made, os::File& here) {
  for (const auto& [name, within] : made.within) {
    if (!within.within.empty() && within.folder->enter(here)) {
      if (!remove_within(within, here) || !within.folder->leave(here)) return false;
    }
    if (!within.was_there) base::Folder::remove_folder_at(here, name);
  }
  return true;
}

void FileSet::remove_folders() noexcept {
  if (root_.within.empty()) return;
  try {
    os::File here = root_.folder->reopen();
    static_cast<void>(remove_within(root_, here));
  } catch (const Error&) {
    return;  // no descriptor is free, so the empty folders stay; a destructor cannot report that
  }
}

void FileSet::keep_spare_descriptors() {
  for (os::File& file : spare_) {
    if (!file.valid()) file = root_.folder->reopen();
  }
}

std::shared_ptr<const base::Folder> FileSet::folder_for(const fs::path& relative) {
  Made* made = &root_;
  os::File here;  // of `made`, once a folder is to be made in it
  for (const fs::path& part : relative) {
    const std::string name = os::text_of(part);
    auto within = made->within.find(name);
    if (within == made->within.end()) {
      keep_spare_descriptors();
      if (!here.valid()) here = made->folder->reopen();
      auto folder = base::Folder::make_in(made->folder, name, here);
      const bool was_there = !folder;
      if (was_there && !made->was_there) {
        throw Error(Code::io_changed, "was put into the new folder while files were written to it", {},
                    made->folder->path() / part);
      }
      if (was_there) {
        folder = base::Folder::open_in(made->folder, name);
        here = folder->reopen();
      }
      within = made->within.emplace(name, Made{std::move(folder), {}, was_there}).first;
    }
    made = &within->second;
  }
  return made->folder;
}

void FileSet::write(const std::string& name, std::uint64_t size, const Fill& fill) {
  const fs::path path = os::path_of(name);
  write(base::OutputFile::create(folder_for(path.parent_path()), os::text_of(path.filename()), existing_), size, fill);
}

void FileSet::write(base::OutputTarget target, std::uint64_t size, const Fill& fill) {
  write(base::OutputFile::create(std::move(target), existing_), size, fill);
}

void FileSet::write_link(const std::string& name, const fs::path& leads_to) {
  const fs::path path = os::path_of(name);
  auto folder = folder_for(path.parent_path());
  fs::path whole = folder->path() / path.filename();
  base::OutputName link({std::move(whole), std::move(folder), os::text_of(path.filename())});
  link.create_link(leads_to);
  links_.push_back(std::move(link));
}

void FileSet::write_model(const ByteSource& model) {
  write(std::move(*model_), model.size(), [&model](base::BufferedOutput& out) { out.append(model); });
}

void FileSet::write(base::OutputFile file, std::uint64_t size, const Fill& fill) {
  base::BufferedOutput out(std::move(file), options_.sync);
  // A full disk is noticed before the copy begins.
  out.reserve(size);
  fill(out);
  files_.push_back(std::move(out).finish());
  if (files_.size() > most_open) files_.back().park(sync_of(options_));
}

void FileSet::publish() {
  // `prepare` and `stage` may fail on a full disk, so they run for all files before the first gets its name.
  for (base::OutputFile& file : files_) file.prepare(sync_of(options_));
  for (base::OutputFile& file : files_) file.stage();
  Folders folders;
  add_with_new_names(folders, root_);
  for (base::OutputFile& file : files_) {
    if (&file == &files_.back()) sync_names(folders);
    folders.insert(file.folder());
    // Its name is synced below. If a sync failed in this call, it would be unknown if the file has its name.
    file.publish(base::Sync::none);
    ++published_;
  }
  for (base::OutputName& link : links_) {
    folders.insert(link.folder());
    link.publish(os::Handle::none, existing_);
    ++published_links_;
  }
  sync_names(folders);
  if (above_ && options_.sync) above_->sync();
  // The destructor must not remove published files.
  published_ = published_links_ = 0;
  root_.within.clear();
  above_ = nullptr;
}

void FileSet::add_with_new_names(Folders& folders, const Made& made) {
  if (made.within.empty()) return;
  folders.insert(made.folder);
  for (const auto& [name, within] : made.within) add_with_new_names(folders, within);
}

/// Waits until the disk has all names in the folders. Syncs each folder once, however many files are in it.
void FileSet::sync_names(Folders& folders) const {
  for (const auto& folder : std::exchange(folders, {})) {
    if (!options_.sync) continue;
    // After the last name, the error message says that all files are in place.
    existing_ == base::Existing::replace&& published_ == files_.size() ? folder->sync_replaced() : folder->sync();
  }
}

}  // namespace onnxar
