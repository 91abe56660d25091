// Opens and makes folders by handles, and the files in them.
#include "os/folder.h"

#include <new>
#include <optional>
#include <ranges>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/annotated.h"
#include "base/folder.h"
#include "base/open_file.h"
#include "base/text.h"
#include "os/error.h"
#include "os/names.h"

namespace onnxar::base {
namespace {

namespace fs = std::filesystem;

Error swapped(const fs::path& path) {
  return {
      Code::io_changed,
      "the folder was moved or replaced by another process while files were written to it; choose a folder that only "
      "you may write to",
      {},
      path};
}

/// Returns what is wrong with a file that has a name of this library; empty if nothing is wrong.
std::string_view fault_of(os::Ownership ownership) noexcept {
  switch (ownership) {
    case os::Ownership::own: return {};
    case os::Ownership::not_regular: return "is not a regular file";
    case os::Ownership::several_names:
      return "has a second name (a hard link), under which its content would change, too";
    case os::Ownership::other_owner: return "belongs to another user, who could change what is written to it";
    case os::Ownership::other_writers: return "may be written by other users, who could change what is written to it";
  }
  return {};
}

Error not_own(os::Ownership ownership, const fs::path& path) {
  return {ownership == os::Ownership::not_regular ? Code::io_not_a_file : Code::io_permission,
          concat(fault_of(ownership),
                 "; a temporary file needs this name, so remove the file or choose a different output"),
          {},
          path};
}

/// Returns the identity of the file; nothing if the file cannot be examined.
std::optional<os::FileIdentity> identity_of(os::Handle file) noexcept {
  std::error_code failed;
  const os::FileStatus status = os::status_of(file, failed);
  return failed ? std::nullopt : std::optional(status.identity);
}

/// Makes the folder in `parent`, which `here` is a handle of. Returns false if the name already exists.
bool make_at(os::Handle here, const Folder& parent, const fs::path& name, os::Users users = os::Users::all) {
  const std::error_code failed = os::make_folder(here, name, users);
  if (failed && os::reason_of(failed) != os::Reason::exists) {
    throw system_error(failed, "cannot make the folder", parent.path() / name);
  }
  return !failed;
}

}  // namespace

std::shared_ptr<const Folder> Folder::open(const fs::path& path) {
  std::shared_ptr<Folder> folder(new Folder(nullptr, path));
  std::error_code failed;
  folder->held_ = os::open_folder(path, failed);
  if (failed) throw system_error(failed, cannot_write_into, path);
  return folder;
}

bool Folder::make(const Folder& parent, const fs::path& name, os::Users users) {
  return make_at(parent.handle(), parent, name, users);
}

std::shared_ptr<const Folder> Folder::make_in(std::shared_ptr<const Folder> parent, const std::string& name,
                                              os::File& here) {
  if (!make_at(here, *parent, os::path_of(name))) return nullptr;
  std::shared_ptr<Folder> folder(new Folder(std::move(parent), os::path_of(name)));
  try {
    std::error_code failed;
    os::File made = os::open_folder_in(here, os::path_of(name), failed);
    if (failed) throw folder->not_opened(failed);
    folder->identity_ = folder->identity_in(made);
    here = std::move(made);
  } catch (const Error&) {
    remove_folder_at(here, name);  // the caller does not know about it
    throw;
  }
  return folder;
}

bool Folder::enter(os::File& here) const noexcept {
  std::error_code ignored;
  os::File inner = os::open_folder_in(here, name_, ignored);
  if (!is(inner)) return false;
  here = std::move(inner);
  return true;
}

bool Folder::leave(os::File& here) const noexcept {
  std::error_code ignored;
  os::File outer = os::open_folder_in(here, "..", ignored);
  if (!parent_->is(outer)) return false;
  here = std::move(outer);
  return true;
}

bool Folder::is(os::Handle file) const noexcept {
  const auto identity = identity_of(file);
  return identity && identity == (parent_ ? identity_ : identity_of(held_));
}

std::shared_ptr<const Folder> Folder::open_in(std::shared_ptr<const Folder> parent, const std::string& name) {
  std::shared_ptr<Folder> folder(new Folder(std::move(parent), os::path_of(name)));
  std::error_code failed;
  const os::File opened = folder->open_from_root(failed);
  if (failed) throw folder->not_opened(failed);
  folder->identity_ = folder->identity_in(opened);
  return folder;
}

/// Returns the error for a folder that cannot be opened: io.changed if its path leads to something else, otherwise the
/// system's error.
Error Folder::not_opened(const std::error_code& failed) const {
  switch (os::reason_of(failed)) {
    case os::Reason::not_found:
    case os::Reason::outside:
    case os::Reason::too_many_links: return swapped(path());
    default: return system_error(failed, "cannot open the folder", path());
  }
}

os::FileIdentity Folder::identity_in(os::Handle opened) const {
  std::error_code failed;
  const os::FileIdentity identity = os::status_of(opened, failed).identity;
  if (failed) throw system_error(failed, "cannot examine the folder", path());
  return identity;
}

/// Opens this folder from the outermost one. Returns an invalid file if a step of the path is a link, is missing or is
/// not a folder.
os::File Folder::open_from_root(std::error_code& failed) const {
  std::vector<const fs::path*> names;
  const Folder* root = this;
  for (; root->parent_; root = root->parent_.get()) names.push_back(&root->name_);
  fs::path way;
  for (const fs::path* name : std::views::reverse(names)) way /= *name;
  return os::open_folder_beneath(root->held_, way, failed);
}

FolderHandle Folder::handle() const { return parent_ ? FolderHandle(reopen()) : FolderHandle(held_.get()); }

os::File Folder::reopen() const {
  std::error_code failed;
  os::File opened = parent_ ? open_from_root(failed) : os::duplicate(held_, failed);
  if (failed) throw not_opened(failed);
  if (parent_ && identity_in(opened) != identity_) throw swapped(path());
  return opened;
}

bool Folder::is_empty() const {
  std::error_code failed;
  const bool empty = os::is_empty(handle(), failed);
  if (failed) throw system_error(failed, "cannot look into the folder", path());
  return empty;
}

os::File Folder::open_own(const std::string& name) const {
  constexpr int attempts = 100;  // another process may make and remove the file in turn
  const FolderHandle here = handle();
  const fs::path file_name = os::path_of(name), file_path = path() / file_name;
  std::error_code failed;
  for (int i = 0; i < attempts; ++i) {
    os::File file = os::create_new(here, file_name, failed, os::Users::owner);
    if (!failed) return file;
    if (os::reason_of(failed) != os::Reason::exists) throw system_error(failed, "cannot make", file_path);
    file = os::open_existing(here, file_name, failed);
    if (!failed) {
      const os::Ownership ownership = os::ownership_of(file, failed);
      if (failed) throw system_error(failed, "cannot examine", file_path);
      if (ownership != os::Ownership::own) throw not_own(ownership, file_path);
      return file;
    }
    if (os::reason_of(failed) != os::Reason::not_found) break;
  }
  std::error_code unknown;
  const os::FileKind kind = os::status_in(here, file_name, unknown).kind;
  if (!unknown && kind != os::FileKind::regular) throw not_own(os::Ownership::not_regular, file_path);
  throw system_error(failed, "cannot open", file_path);
}

void Folder::sync() const {
  if (const std::error_code failed = os::sync_folder(handle())) {
    throw system_error(failed, "cannot sync the folder", path());
  }
}

void Folder::sync_replaced() const {
  annotated(
      [] { return Annotation{.prefix = "the new file was written (do not repeat this) but could not be synced"}; },
      [this] { sync(); });
}

template <typename Remove>
void Folder::remove(const Remove& remove, const std::string& name) const noexcept {
  try {
    static_cast<void>(remove(handle(), os::path_of(name)));
  } catch (const Error&) {
    return;  // the folder was moved; removing by path could remove someone else's file
  } catch (const std::bad_alloc&) {
    return;  // leaving a file is better than ending the process
  }
}

void Folder::remove_file(const std::string& name) const noexcept { remove(os::remove_file, name); }

void Folder::remove_folder(const std::string& name) const noexcept { remove(os::remove_folder, name); }

void Folder::remove_folder_at(os::Handle here, const std::string& name) noexcept {
  try {
    static_cast<void>(os::remove_folder(here, os::path_of(name)));
  } catch (const std::bad_alloc&) {
    return;  // as above
  }
}

fs::path Folder::path() const { return parent_ ? parent_->path() / name_ : name_; }

}  // namespace onnxar::base
