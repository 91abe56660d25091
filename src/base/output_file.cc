#include "base/output_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <random>
#include <utility>

#include "base/extended_files.h"
#include "base/text.h"

namespace onnxar::base {
namespace {

namespace fs = std::filesystem;

constexpr int attempts_at_a_free_name = 100;

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

/// Where the bytes will really go.
struct Target {
  fs::path path;
  std::shared_ptr<const Folder> folder;
  std::string name;
};

/// What the link holds; nothing where `name` is not a link. Errors: io.permission (may_follow_link).
std::optional<fs::path> link_target(const Folder& folder, const std::string& name) {
  const FileDescriptor here = folder.descriptor();
  struct stat link{};
  struct stat around{};
  if (::fstatat(here.get(), name.c_str(), &link, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(link.st_mode)) return {};
  if (::fstat(here.get(), &around) != 0) throw system_error(errno, "cannot write", folder.path() / name);
  if (!may_follow_link(around.st_mode, around.st_uid, link.st_uid, ::geteuid())) {
    throw Error(Code::io_permission,
                "is a symbolic link that another user made in a folder that all may write to, so it is not followed; "
                "choose another output",
                {}, folder.path() / name);
  }
  std::array<char, PATH_MAX> text{};
  const ssize_t length = ::readlinkat(here.get(), name.c_str(), text.data(), text.size());
  if (length < 0) throw system_error(errno, "cannot write", folder.path() / name);
  return fs::path(text.data(), text.data() + length);
}

/// Symbolic links are followed by hand, because the last one may point to nothing yet.
Target follow_links(fs::path path) {
  constexpr int most_links = 40;  // as the kernel has it
  for (int i = 0; i < most_links; ++i) {
    Target target{path, Folder::open(folder_of(path)), path.filename().string()};
    const auto next = link_target(*target.folder, target.name);
    if (!next) return target;
    path = next->is_absolute() ? *next : folder_of(path) / *next;
  }
  throw system_error(ELOOP, "cannot write", path);
}

std::string random_name(const std::string& target) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string name = concat(".", target.substr(0, 200), ".");
  for (int i = 0; i < 6; ++i) name += letters[random() % letters.size()];
  return name + ".tmp";
}

Error already_exists(const fs::path& target) {
  return {Code::output_exists, "the output exists already; choose another name, or --force to replace it", {}, target};
}

/// What `lstat` said of a target, or failed with.
void check_status(int result, const struct stat& status, const fs::path& target, Existing existing) {
  if (result != 0) {
    if (errno == ENOENT) return;
    throw system_error(errno, "cannot write", target);
  }
  if (S_ISDIR(status.st_mode)) {
    throw Error(Code::io_not_a_file, "is a folder; name the file to write", {}, target);
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(Code::io_not_a_file, "is not a regular file and cannot be replaced; name a file", {}, target);
  }
  if (existing == Existing::refuse) throw already_exists(target);
}

/// rename(2) would silently replace a target that appeared meanwhile.
void rename_to_free_name(int folder, const std::string& from, const std::string& to, const fs::path& target) {
  if (::renameat2(folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno == EINVAL && ::linkat(folder, from.c_str(), folder, to.c_str(), 0) == 0) {
    ::unlinkat(folder, from.c_str(), 0);  // a file system without that flag
    return;
  }
  throw errno == EEXIST ? already_exists(target) : system_error(errno, "cannot rename to", target);
}

}  // namespace

bool may_follow_link(std::uint32_t folder_mode, std::uint32_t folder_owner, std::uint32_t link_owner,
                     std::uint32_t user) noexcept {
  const bool shared = (folder_mode & S_ISVTX) != 0 && (folder_mode & S_IWOTH) != 0;
  return !shared || link_owner == user || link_owner == folder_owner;
}

void OutputFile::check_target(const fs::path& target, Existing existing) {
  struct stat status{};
  check_status(::lstat(target.c_str(), &status), status, target, existing);
}

OutputFile OutputFile::create(const fs::path& target, Existing existing) {
  if (!target.has_filename()) throw Error(Code::io_not_a_file, "is a folder; name the file to write", {}, target);
  Target followed = follow_links(target);
  OutputFile file(std::move(followed.path), existing);
  file.open_in(std::move(followed.folder), std::move(followed.name));
  return file;
}

OutputFile OutputFile::create(std::shared_ptr<const Folder> folder, const std::string& name, Existing existing) {
  OutputFile file(folder->path() / name, existing);
  file.open_in(std::move(folder), name);
  return file;
}

void OutputFile::open_in(std::shared_ptr<const Folder> folder, std::string name) {
  folder_ = std::move(folder);
  name_ = std::move(name);
  struct stat status{};
  const FileDescriptor here = folder_->descriptor();
  check_status(::fstatat(here.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW), status, target_, existing_);
  open();
}

OutputFile OutputFile::create_nameless(const fs::path& folder) {
  OutputFile file(folder.empty() ? "." : folder, Existing::refuse);
  file.folder_ = Folder::open(file.target_);
  file.name_ = "onnxar";
  file.open();
  if (!file.temporary_.empty()) ::unlinkat(file.folder_->descriptor().get(), file.temporary_.c_str(), 0);
  file.temporary_.clear();
  return file;
}

OutputFile OutputFile::extend(FileDescriptor file, const fs::path& target, std::uint64_t size) {
  OutputFile extended(target, Existing::refuse);
  extended.file_ = std::move(file);
  extended.kept_size_ = size;
  return extended;
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  discard();
  target_ = std::move(other.target_);
  folder_ = std::move(other.folder_);
  name_ = std::move(other.name_);
  temporary_ = std::exchange(other.temporary_, {});
  existing_ = other.existing_;
  kept_size_ = std::exchange(other.kept_size_, {});
  touched_ = other.touched_;
  file_ = std::move(other.file_);
  prepared_ = other.prepared_;
  may_share_ = other.may_share_;
  spoiled_ = std::move(other.spoiled_);
  return *this;
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() noexcept {
  if (kept_size_ && touched_ && file_.valid()) {
    // Where even that fails, what stands there is no state of the file, and can be cut off later.
    [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), static_cast<off_t>(*kept_size_));
    forget_extended_file(file_.get());
  }
  if (folder_ && !temporary_.empty()) remove_temporary();
  temporary_.clear();
  file_ = FileDescriptor();
}

void OutputFile::remove_temporary() const noexcept { folder_->remove_file(temporary_); }

void OutputFile::withdraw() const noexcept { folder_->remove_file(name_); }

void OutputFile::open() {
  open_nameless();
  if (!file_.valid()) open_named();
}

void OutputFile::open_nameless() {
  const FileDescriptor here = folder_->descriptor();
  file_ = FileDescriptor(::openat(here.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  if (file_.valid() && ::access(concat("/proc/self/fd/", file_.get()).c_str(), F_OK) != 0) {
    file_ = FileDescriptor();  // without /proc a nameless file cannot be given a name
    return;
  }
  const bool unsupported = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
  if (!file_.valid() && !unsupported) {
    throw system_error(errno, "cannot write into the folder", folder_->path());
  }
}

void OutputFile::open_named() {
  const FileDescriptor here = folder_->descriptor();
  for (int i = 0; i < attempts_at_a_free_name; ++i) {
    const std::string name = random_name(name_);
    file_ = FileDescriptor(::openat(here.get(), name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666));
    if (file_.valid()) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST) break;
  }
  throw system_error(errno, "cannot write into the folder", folder_->path());
}

/// A file to which nothing was added is not cut, either: that would set its time.
void OutputFile::touch() noexcept {
  if (!kept_size_ || touched_) return;
  touched_ = true;
  note_extended_file(file_.get(), *kept_size_);
}

void OutputFile::reserve(std::uint64_t size) {
  // An existing file must not grow before there is something in it.
  const std::uint64_t begin = kept_size_.value_or(0);
  if (size <= begin) return;
  if (!std::in_range<off_t>(size)) {  // the system would take it for a negative number, and nothing would be told
    throw system_error(EFBIG, concat("cannot set aside ", human_size(size - begin)), target_);
  }
  touch();
  const int mode = kept_size_ ? FALLOC_FL_KEEP_SIZE : 0;
  if (::fallocate(file_.get(), mode, static_cast<off_t>(begin), static_cast<off_t>(size - begin)) == 0) return;
  const int reason = errno;
  const bool no_room = reason == ENOSPC || reason == EDQUOT;
  if (no_room && !kept_size_ && shares_blocks()) {
    // It may need far less. Should it not, writing finds the disk full. What was set aside is given back.
    return set_size(0);
  }
  if (no_room || reason == EFBIG) {
    throw system_error(reason, concat("cannot set aside ", human_size(size - begin)), target_);
  }
}

/// Asked to share nothing with itself, a file says whether its file system knows how to.
bool OutputFile::shares_blocks() const noexcept {
  const file_clone_range nothing{file_.get(), 0, 0, 0};
  return ::ioctl(file_.get(), FICLONERANGE, &nothing) == 0;
}

void OutputFile::refuse_if_abandoned() const {
  if (kept_size_ && is_abandoned()) throw Error(Code::io_failed, "interrupted", {}, target_);
}

void OutputFile::refuse_if_spoiled() const {
  if (!spoiled_.is_set()) return;
  throw Error(Code::usage_writer_failed, "writing failed before, so what is there is not published; write it anew", {},
              target_);
}

template <typename Action>
void OutputFile::spoiling(const Action& action) {
  refuse_if_spoiled();
  try {
    action();
  } catch (...) {
    spoil();
    throw;
  }
}

void OutputFile::write_at(std::uint64_t offset, Bytes first, Bytes second) {
  spoiling([&] { write_all_at(offset, first, second); });
}

void OutputFile::write_all_at(std::uint64_t offset, Bytes first, Bytes second) {
  touch();
  while (!first.empty() || !second.empty()) {
    refuse_if_abandoned();
    // iovec serves reading too, so it has no const; writing leaves the bytes alone.
    const std::array parts{iovec{const_cast<std::byte*>(first.data()), first.size()},
                           iovec{const_cast<std::byte*>(second.data()), second.size()}};
    const ssize_t written = ::pwritev(file_.get(), parts.data(), parts.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      // What is written comes from mappings: the kernel says EFAULT where a read of ours would be a SIGBUS.
      if (errno == EFAULT) throw Error(Code::io_failed, "an input file was shortened while it was copied", {}, target_);
      throw system_error(errno, "cannot write", target_);
    }
    offset += static_cast<std::uint64_t>(written);
    const auto of_first = std::min(static_cast<std::size_t>(written), first.size());
    first = first.subspan(of_first);
    second = second.subspan(static_cast<std::size_t>(written) - of_first);
  }
}

bool OutputFile::share_at(std::uint64_t offset, Bytes bytes, const FileOrigin& origin) {
  const auto source = origin.open(bytes);
  if (!source) return false;
  touch();
  refuse_if_abandoned();
  const file_clone_range range{source->file.get(), source->offset, bytes.size(), offset};
  if (::ioctl(file_.get(), FICLONERANGE, &range) == 0) return true;
  may_share_ = errno == EXDEV;  // the next file may lie on this file system
  return false;
}

void OutputFile::set_size(std::uint64_t size) {
  spoiling([&] {
    if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0) throw system_error(errno, "cannot write", target_);
  });
}

MappedFile OutputFile::map(const FilePart& part) const { return MappedFile::map(file_.get(), part, target_); }

void OutputFile::start_writeback(std::uint64_t offset, std::uint64_t length) noexcept {
  ::sync_file_range(file_.get(), static_cast<off_t>(offset), static_cast<off_t>(length), SYNC_FILE_RANGE_WRITE);
}

void OutputFile::keep_mode() const {
  struct stat status{};
  const FileDescriptor here = folder_->descriptor();
  if (::fstatat(here.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)) {
    // Failing to keep the mode (a foreign file system) must not lose the output. The new file is ours, whoever owned
    // the old one: a set-user-ID bit of somebody else's would have the new bytes run in our name.
    [[maybe_unused]] const int ignored = ::fchmod(file_.get(), status.st_mode & 0777);
  }
}

void OutputFile::begin_last_write() noexcept {
  if (kept_size_) forget_extended_file(file_.get());
}

void OutputFile::sync() {
  spoiling([&] {
    if (::fsync(file_.get()) != 0) throw system_error(errno, "cannot sync", target_);
  });
}

void OutputFile::prepare(Sync sync) {
  refuse_if_spoiled();
  if (prepared_) return;
  if (existing_ == Existing::replace) keep_mode();
  if (sync == Sync::full) this->sync();
  prepared_ = true;
}

void OutputFile::link_to(const std::string& name) const {
  const std::string self = concat("/proc/self/fd/", file_.get());
  if (::linkat(AT_FDCWD, self.c_str(), folder_->descriptor().get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
  if (errno == EEXIST) throw already_exists(folder_->path() / name);
  throw system_error(errno, "cannot name the output", folder_->path() / name);
}

void OutputFile::stage() {
  // A link cannot replace a file, a rename can: so the file gets a hidden name first.
  if (existing_ == Existing::replace) hide();
}

void OutputFile::hide() {
  if (!temporary_.empty()) return;
  const std::string name = random_name(name_);
  link_to(name);
  temporary_ = name;
}

void OutputFile::park(Sync sync) {
  prepare(sync);
  hide();
  file_ = FileDescriptor();
}

void OutputFile::publish(Sync sync) {
  refuse_if_spoiled();
  if (kept_size_) {
    forget_extended_file(file_.get());
    kept_size_.reset();  // readers may have it from here on, whatever becomes of the sync
    if (sync == Sync::full) this->sync();
    file_ = FileDescriptor();
    return;
  }
  prepare(sync);
  stage();
  const FileDescriptor here = folder_->descriptor();
  if (existing_ == Existing::replace) {
    if (::renameat(here.get(), temporary_.c_str(), here.get(), name_.c_str()) != 0) {
      throw system_error(errno, "cannot rename to", target_);
    }
  } else if (temporary_.empty()) {
    link_to(name_);
  } else {
    rename_to_free_name(here.get(), temporary_, name_, target_);
  }
  temporary_.clear();
  file_ = FileDescriptor();
  if (sync == Sync::full) folder_->sync();
}

}  // namespace onnxar::base
