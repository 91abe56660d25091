// Gives the files of an output their names together, all or none.
#include "convert/publish.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "archive/output_options.h"
#include "base/output_name.h"
#include "base/paths.h"
#include "convert/file_targets.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// The number of files that stay open and nameless until they are published. More could exceed the limit of open files,
/// often 1024 (a file that replaces another takes two), so later files are closed and wait under hidden names.
constexpr std::size_t most_open = 64;

/// Removes the folders in the folder, which contains only folders. Keeps a folder that has a file by now.
void remove_folders_in(const std::shared_ptr<const base::Folder>& folder) {
  for (const fs::directory_entry& each : base::entries_in(folder->path())) {
    const std::string name = os::text_of(each.path().filename());
    remove_folders_in(base::Folder::open_in(folder, name));
    folder->remove_folder(name);
  }
}

/// Removes the folders in a folder without files, so that files can take their names.
void clear(const std::shared_ptr<const base::Folder>& folder) {
  if (folder->is_empty()) return;
  expect_empty(*folder);
  remove_folders_in(folder);
}

}  // namespace

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
  if (base::Folder::make(*above, os::path_of(name))) {
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
