#include "sink/file_set.h"

#include <utility>

#include "base/file_status.h"
#include "base/text.h"
#include "sink/payload_layout.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// Files that may stay open and nameless until they are published; others wait under hidden names.
constexpr std::size_t most_open = 64;

Error in_the_way(const fs::path& path, std::string_view what) {
  return {Code::usage_argument,
          base::concat(what, ", and a file of the model would be written there; choose another output folder or name"),
          {},
          path};
}

/// For file systems on which names that differ in the case of letters are one.
std::string folded(std::string_view name) {
  std::string small(name);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

void check_empty(const base::Folder& folder) {
  if (folder.is_empty()) return;
  throw Error(Code::output_not_empty,
              "the folder is not empty, and what is unpacked with its side files must not mix with other files; name a "
              "new or empty folder, or a file for the model alone",
              {}, folder.path());
}

}  // namespace

FileSet::FileSet(const Destination& destination, const SaveOptions& options)
    : options_(options), existing_(destination.is_folder() ? base::Existing::refuse : existing(options)) {
  if (destination.is_folder()) {
    model_path_ = destination.path / destination.model;
    open_folder(destination);
    if (root_.folder && !options.output.dry_run) {
      model_ = base::OutputFile::create(root_.folder, destination.model, existing_);
    }
  } else {
    std::error_code ignored;
    if (fs::is_directory(destination.path, ignored)) {
      throw Error(Code::io_not_a_file,
                  "is a folder; name the file to write, or end it with `/` to have the model and all side files in it",
                  {}, destination.path);
    }
    model_ = base::OutputFile::create(destination.path, existing_);
    model_path_ = model_->target();
    root_.folder = model_->folder();
  }
  files_claimed_.insert(folded(model_path_.filename().string()));
}

void FileSet::open_folder(const Destination& destination) {
  const fs::path& path = destination.path;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    root_.folder = base::Folder::open(path);
    return check_empty(*root_.folder);
  }
  auto above = base::Folder::open(destination.folder_above());
  if (fs::exists(fs::symlink_status(path, ignored))) {
    throw Error(Code::io_not_a_file, "is not a folder, and the output is to be one", {}, path);
  }
  if (options_.output.dry_run) return;
  std::string name = path.filename().string();
  if (base::Folder::make(*above, name)) {
    above_ = above;
    made_root_ = name;
  }
  root_.folder = base::Folder::open_in(std::move(above), name);
  check_empty(*root_.folder);
}

FileSet::~FileSet() {
  files_.clear();
  model_.reset();
  remove_folders();
  if (above_) above_->remove_folder(made_root_);
}

/// Removes what was made in a folder that `here` is a descriptor of; a folder in which there is something by now stays.
/// False where `here` is not of that folder any more, as somebody moved one within.
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
    os::File here = root_.folder->descriptor();
    static_cast<void>(remove_within(root_, here));
  } catch (const Error&) {
    return;  // no descriptor is free: they stay
  }
}

void FileSet::claim(const std::string& name) {
  const fs::path path = model_path_.parent_path() / name;
  const std::string small = folded(name);
  const std::size_t slash = small.find('/');
  const std::string first = small.substr(0, slash);
  if (small == folded(model_path_.filename().string())) throw in_the_way(path, "is the model itself");
  if (files_claimed_.contains(small) || files_claimed_.contains(first)) throw in_the_way(path, "is named twice");
  if (slash == std::string::npos && folders_claimed_.contains(small)) throw in_the_way(path, "is a folder, too");
  (slash == std::string::npos ? files_claimed_ : folders_claimed_).insert(first);
  if (slash != std::string::npos) files_claimed_.insert(small);
  if (!model_ || slash != std::string::npos) return;  // nothing is in a folder that is new
  const fs::file_status status = base::link_status(path);
  if (fs::is_symlink(status)) throw in_the_way(path, "is a symbolic link");
  base::OutputFile::check_target(path, existing_);
}

std::shared_ptr<const base::Folder> FileSet::folder_for(const fs::path& relative) {
  Made* made = &root_;
  os::File here;  // of `made`, once a folder is to be made in it
  for (const fs::path& part : relative) {
    const std::string name = part.string();
    auto within = made->within.find(name);
    if (within == made->within.end()) {
      if (!here.valid()) here = made->folder->descriptor();
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
  const fs::path path(name);
  base::BufferedOutput out(
      base::OutputFile::create(folder_for(path.parent_path()), path.filename().string(), existing_),
      options_.output.sync);
  out.reserve(size);
  fill(out);
  files_.push_back(std::move(out).finish());
  if (files_.size() > most_open) files_.back().park(sync_of(options_));
}

void FileSet::publish(const ByteSource& model) {
  base::BufferedOutput out(std::move(*model_), options_.output.sync);
  out.reserve(model.size());
  out.append(model);
  model_ = std::move(out).finish();
  // What needs room on the disk comes before the first name appears.
  for (base::OutputFile& file : files_) file.prepare(sync_of(options_));
  model_->prepare(sync_of(options_));
  for (base::OutputFile& file : files_) file.stage();
  model_->stage();
  publish_files();
  root_.within.clear();
  above_ = nullptr;
}

void FileSet::publish_files() {
  std::size_t published = 0;
  try {
    for (; published < files_.size(); ++published) files_[published].publish(sync_of(options_));
    model_->publish(sync_of(options_));
    if (above_ && options_.output.sync) above_->sync();
  } catch (const Error&) {
    for (std::size_t i = 0; i < published && existing_ == base::Existing::refuse; ++i) files_[i].withdraw();
    throw;
  }
}

}  // namespace onnxar
