#include "base/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include "base/beneath.h"
#include "base/text.h"

namespace onnxar::base {
namespace {

namespace fs = std::filesystem;

Error swapped(const fs::path& path) {
  return {Code::io_changed,
          "the folder was moved or replaced while files were written to it; somebody else is at work there: choose a "
          "folder that only you may write to",
          {},
          path};
}

/// Whether there was nothing of this name in `parent`, which `here` is a descriptor of.
bool make_at(const FileDescriptor& here, const Folder& parent, const std::string& name) {
  if (::mkdirat(here.get(), name.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  throw system_error(errno, "cannot make the folder", parent.path() / name);
}

FileDescriptor open_folder_at(const FileDescriptor& here, const char* name) noexcept {
  return FileDescriptor(::openat(here.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

std::shared_ptr<const Folder> Folder::open(const fs::path& path) {
  std::shared_ptr<Folder> folder(new Folder(nullptr, path));
  folder->held_ = FileDescriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder->held_.valid()) throw system_error(errno, "cannot write into the folder", path);
  return folder;
}

bool Folder::make(const Folder& parent, const std::string& name) { return make_at(parent.descriptor(), parent, name); }

std::shared_ptr<const Folder> Folder::make_in(std::shared_ptr<const Folder> parent, const std::string& name,
                                              FileDescriptor& here) {
  if (!make_at(here, *parent, name)) return nullptr;
  std::shared_ptr<Folder> folder(new Folder(std::move(parent), name));
  FileDescriptor made = open_folder_at(here, name.c_str());
  const auto identity = identity_of(made);
  if (!identity) throw swapped(folder->path());
  folder->identity_ = *identity;
  here = std::move(made);
  return folder;
}

bool Folder::enter(FileDescriptor& here) const noexcept {
  FileDescriptor inner = open_folder_at(here, name_.c_str());
  if (!is(inner)) return false;
  here = std::move(inner);
  return true;
}

bool Folder::leave(FileDescriptor& here) const noexcept {
  FileDescriptor outer = open_folder_at(here, "..");
  if (!parent_->is(outer)) return false;
  here = std::move(outer);
  return true;
}

bool Folder::is(const FileDescriptor& file) const noexcept {
  const auto identity = identity_of(file);
  return identity && identity == (parent_ ? identity_ : identity_of(held_));
}

std::shared_ptr<const Folder> Folder::open_in(std::shared_ptr<const Folder> parent, const std::string& name) {
  std::shared_ptr<Folder> folder(new Folder(std::move(parent), name));
  const auto identity = identity_of(folder->open_from_root());
  if (!identity) throw swapped(folder->path());
  folder->identity_ = *identity;
  return folder;
}

/// Invalid where something on the way is a link, is not there or is not a folder.
FileDescriptor Folder::open_from_root() const {
  std::vector<const fs::path*> names;
  const Folder* root = this;
  for (; root->parent_; root = root->parent_.get()) names.push_back(&root->name_);
  fs::path way;
  for (const fs::path* name : std::views::reverse(names)) way /= *name;
  return open_folder_beneath(root->held_, way);
}

FileDescriptor Folder::descriptor() const {
  if (!parent_) return held_.duplicate();
  FileDescriptor opened = open_from_root();
  if (identity_of(opened) != identity_) throw swapped(path());
  return opened;
}

bool Folder::is_empty() const {
  FileDescriptor file(::openat(descriptor().get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseFolder> names(file.valid() ? ::fdopendir(file.get()) : nullptr);
  if (!names) throw system_error(errno, "cannot look into the folder", path());
  static_cast<void>(file.release());
  while (const dirent* entry = ::readdir(names.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return false;
  }
  return true;
}

void Folder::sync() const {
  const FileDescriptor file(::openat(descriptor().get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.valid()) throw system_error(errno, "cannot open the folder to sync it", path());
  // Some file systems cannot sync a folder (EINVAL); the file itself is safe by then.
  if (::fsync(file.get()) != 0 && errno != EINVAL) throw system_error(errno, "cannot sync the folder", path());
}

void Folder::remove_file(const std::string& name) const noexcept { remove(name, 0); }

void Folder::remove_folder(const std::string& name) const noexcept { remove(name, AT_REMOVEDIR); }

void Folder::remove_folder_at(const FileDescriptor& here, const std::string& name) noexcept {
  ::unlinkat(here.get(), name.c_str(), AT_REMOVEDIR);
}

void Folder::remove(const std::string& name, int flags) const noexcept {
  try {
    ::unlinkat(descriptor().get(), name.c_str(), flags);
  } catch (const Error&) {
    return;  // the folder is not where it was: nothing is searched for
  }
}

fs::path Folder::path() const { return parent_ ? parent_->path() / name_ : name_; }

}  // namespace onnxar::base
