#include "sink/file_set.h"

#include <utility>

#include "archive/output_options.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// The number of files that stay open and nameless until they are published. More could exceed the limit of open files,
/// often 1024, so later files are closed and wait under hidden names.
constexpr std::size_t most_open = 64;

}  // namespace

FileSet::FileSet(const OutputOptions& options, base::Existing existing) : options_(options), existing_(existing) {}

/// Delegates to the other constructor: the object then counts as constructed, so the destructor cleans up if this
/// throws.
FileSet::FileSet(const FileTargets& targets, const OutputOptions& options) : FileSet(options, targets.existing()) {
  const base::OutputTarget& model = targets.model();
  const std::string folder = os::text_of(targets.folder_to_make().filename());
  if (folder.empty()) {
    root_.folder = model.folder;
    model_ = base::OutputFile::create(model, existing_);
  } else {
    make_folder(model.folder, folder);
    model_ = base::OutputFile::create(root_.folder, model.name, existing_);
  }
}

void FileSet::make_folder(std::shared_ptr<const base::Folder> above, const std::string& name) {
  // The folder may have appeared since the plan, so it is checked again once it is open.
  if (base::Folder::make(*above, name)) {
    above_ = above;
    made_root_ = name;
  }
  root_.folder = base::Folder::open_in(std::move(above), name);
  expect_empty(*root_.folder);
}

FileSet::~FileSet() {
  spare_ = {};
  // Files go first: one that waits under a hidden name would keep its folder from being removed. The model's file is
  // open, so it gives up a descriptor that removing the others may need.
  model_.reset();
  files_.clear();
  remove_folders();
  if (above_) above_->remove_folder(made_root_);
}

/// Removes the folders that were made in a folder, of which `here` is a descriptor. A folder that is not empty stays.
/// Moves one descriptor down and up again, since one for each level could exceed the limit of open files. Returns false
/// if `here` is no longer that folder, because one was moved meanwhile.
bool FileSet::remove_within(const Made& made, os::File& here) {
  for (const auto& [name, within] : made.within) {
    if (!within.within.empty() && within.folder->enter(here)) {
      if (!remove_within(within, here) || !within.folder->leave(here)) return false;
    }
    base::Folder::remove_folder_at(here, name);
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
      if (!folder) {
        throw Error(Code::io_changed, "was put into the new folder while files were written to it", {},
                    made->folder->path() / part);
      }
      within = made->within.emplace(name, Made{std::move(folder), {}}).first;
    }
    made = &within->second;
  }
  return made->folder;
}

void FileSet::write(const std::string& name, std::uint64_t size,
                    const std::function<void(base::BufferedOutput&)>& fill) {
  const fs::path path = os::path_of(name);
  base::BufferedOutput out(
      base::OutputFile::create(folder_for(path.parent_path()), os::text_of(path.filename()), existing_), options_.sync);
  // A full disk is noticed before the copy begins.
  out.reserve(size);
  fill(out);
  files_.push_back(std::move(out).finish());
  if (files_.size() > most_open) files_.back().park(sync_of(options_));
}

void FileSet::publish(const ByteSource& model) {
  base::BufferedOutput out(std::move(*model_), options_.sync);
  out.reserve(model.size());
  out.append(model);
  model_ = std::move(out).finish();
  // `prepare` and `stage` may fail on a full disk, so all files pass them before the first gets its name.
  for (base::OutputFile& file : files_) file.prepare(sync_of(options_));
  model_->prepare(sync_of(options_));
  for (base::OutputFile& file : files_) file.stage();
  model_->stage();
  publish_files();
  // The destructor must not remove folders that hold published files.
  root_.within.clear();
  above_ = nullptr;
}

void FileSet::note_folders(const Made& made, Publication& publication) {
  if (made.within.empty()) return;
  publication.note_folder(made.folder);
  for (const auto& [name, within] : made.within) note_folders(within, publication);
}

void FileSet::publish_files() {
  // Given up before names change: taking names away again may need the descriptors.
  spare_ = {};
  Publication publication(existing_, sync_of(options_));
  for (base::OutputFile& file : files_) publication.publish(file);
  note_folders(root_, publication);
  // The model comes last, when the disk has the names of the others: a reader that finds it, even after a crash, also
  // finds the data files, side files and graphs beside it.
  publication.sync_names();
  publication.publish(*model_);
  publication.sync_names();
  if (above_ && options_.sync) above_->sync();
  publication.keep();
}

}  // namespace onnxar
