// Writes new files and additions to files atomically.
#include "base/output_file.h"

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

#include "base/annotated.h"
#include "base/extended_files.h"
#include "base/file_lock.h"
#include "base/file_origin.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "os/error.h"
#include "os/folder.h"
#include "os/names.h"

namespace onnxar::base {
namespace {

namespace fs = std::filesystem;

/// Returns the error for bytes, usually of a mapping, that the system could not read.
Error shortened_input(Bytes first, Bytes second, const fs::path& target) {
  std::string_view name = mapped_file_at(first.data());
  if (name.empty()) name = mapped_file_at(second.data());
  if (name.empty()) name = "an input file";
  return {Code::io_changed, concat(name, " was shortened while it was copied"), {}, target, {Hint::copy_in}};
}

}  // namespace

// --- Beginning and discarding ----------------------------------------------------------------------------------------

OutputFile OutputFile::create(const fs::path& target, Existing existing, os::File lock) {
  return create(find_target(target, existing), existing, std::move(lock));
}

OutputFile OutputFile::create(std::shared_ptr<const Folder> folder, const std::string& name, Existing existing) {
  fs::path path = folder->path() / os::path_of(name);
  return create(OutputTarget{std::move(path), std::move(folder), name}, existing);
}

OutputFile OutputFile::create(OutputTarget target, Existing existing, os::File lock) {
  expect_writable(target, existing);
  OutputFile file(target.path, existing);
  file.lock_ = std::move(lock);
  file.lock_target();
  file.name_.emplace(std::move(target));
  file.file_ = file.name_->create();
  return file;
}

OutputFile OutputFile::create_nameless(const fs::path& folder) {
  OutputFile file(folder.empty() ? "." : folder, Existing::refuse);
  file.name_.emplace(OutputTarget{file.target_, Folder::open(file.target_), "onnxar"});
  file.file_ = file.name_->create();
  file.name_->vanish();
  os::allow_holes(file.file_);  // a spool's file has the size of everything that it may have to hold
  return file;
}

OutputFile OutputFile::extend(os::File file, const fs::path& target, std::uint64_t size) {
  OutputFile extended(target, Existing::refuse);
  extended.file_ = std::move(file);
  extended.old_size_ = size;
  return extended;
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  std::construct_at(this, std::move(other));
  return *this;
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() noexcept {
  if (begun_ && old_size_ && file_.valid()) {
    // If this fails, the bytes after the old end are not a state of an archive, and recovery cuts them off later.
    static_cast<void>(os::set_size(file_, *old_size_));
    forget_extended_file(file_);
  }
  old_size_.reset();
  file_ = os::File();  // first, because removing a hidden name may need a descriptor
  name_.reset();
}

// --- Writing ---------------------------------------------------------------------------------------------------------

/// Records the extension. Called at the first change, not at the beginning: truncating a file that did not grow would
/// still change its time.
void OutputFile::begin_extension() noexcept {
  if (!old_size_ || begun_) return;
  begun_ = true;
  note_extended_file(file_, *old_size_);
}

void OutputFile::reserve(std::uint64_t size) {
  // An existing file must not grow before bytes are written to it: readers look for the end record at its end.
  const std::uint64_t begin = old_size_.value_or(0);
  if (size <= begin) return;
  begin_extension();
  const ExtendingWrite write;
  refuse_if_abandoned();
  const std::error_code failed =
      os::set_aside(file_, begin, size - begin, old_size_ ? os::FileSize::stays : os::FileSize::grows);
  const os::Reason reason = os::reason_of(failed);
  if (reason == os::Reason::disk_full && !old_size_ && os::can_share_blocks(file_)) {
    // Shared blocks may need far less room; if not, writing reports the full disk. set_size releases partly reserved
    // room.
    return set_size(0);
  }
  if (reason == os::Reason::disk_full || reason == os::Reason::too_large) {
    throw system_error(failed, concat("cannot set aside ", human_size(size - begin)), target_);
  }
}

void OutputFile::refuse_if_abandoned() const {
  if (old_size_ && is_abandoned()) throw Error(Code::io_failed, "interrupted", {}, target_);
}

void OutputFile::write_at(std::uint64_t offset, Bytes first, Bytes second) {
  begin_extension();
  const ExtendingWrite write;
  while (!first.empty() || !second.empty()) {
    refuse_if_abandoned();
    std::error_code failed;
    const std::size_t written = os::write_at(file_, offset, first, second, failed);
    // The bytes often lie in mappings. Where this process would get SIGBUS, the kernel's copy fails with EFAULT.
    if (os::reason_of(failed) == os::Reason::unreadable_bytes) {
      throw shortened_input(first, second, target_);
    }
    if (failed) throw system_error(failed, "cannot write", target_);
    offset += written;
    const std::size_t of_first = std::min(written, first.size());
    first = first.subspan(of_first);
    second = second.subspan(written - of_first);
  }
}

bool OutputFile::share_at(std::uint64_t offset, Bytes bytes, const FileOrigin& origin) {
  const auto source = origin.open(bytes);
  if (!source) return false;
  begin_extension();
  const ExtendingWrite write;
  refuse_if_abandoned();
  const std::error_code failed = os::share_blocks(file_, offset, source->file, source->offset, bytes.size());
  if (!failed) return true;
  may_share_ = os::reason_of(failed) == os::Reason::outside;  // the next source may be on the same file system
  return false;
}

void OutputFile::set_size(std::uint64_t size) {
  if (const std::error_code failed = os::set_size(file_, size)) throw system_error(failed, "cannot write", target_);
}

void OutputFile::give_back_room(std::uint64_t end) {
  if (!old_size_) return set_size(end);
  static_cast<void>(os::set_size(file_, end));
}

MappedFile OutputFile::map(const FilePart& part) const { return MappedFile::map(file_, part, target_); }

void OutputFile::start_writeback(std::uint64_t offset, std::uint64_t length) noexcept {
  os::start_writeback(file_, offset, length);
}

void OutputFile::begin_last_write() noexcept {
  if (old_size_) forget_extended_file(file_);
}

void OutputFile::sync() {
  if (const std::error_code failed = os::sync(file_)) throw system_error(failed, "cannot sync", target_);
}

// --- Publishing ------------------------------------------------------------------------------------------------------

void OutputFile::prepare(Sync sync) {
  if (prepared_) return;
  if (existing_ == Existing::replace) name_->keep_mode(file_);  // before the sync, which also makes the mode durable
  expect_written(sync);
  prepared_ = true;
}

void OutputFile::expect_written(Sync sync) {
  if (sync == Sync::full) return this->sync();
  if (const std::error_code failed = os::hand_over(file_)) throw system_error(failed, "cannot write", target_);
}

void OutputFile::stage() {
  if (existing_ == Existing::replace) name_->hide(file_);
}

void OutputFile::park(Sync sync) {
  prepare(sync);
  name_->hide(file_);
  file_ = os::File();
  lock_ = os::File();
}

void OutputFile::publish(Sync sync) {
  if (old_size_) return keep_extension(sync);
  prepare(sync);
  stage();
  lock_target();
  name_->publish(file_, existing_);
  published_ = true;
  file_ = os::File();
  lock_ = os::File();
  if (sync == Sync::full) sync_name();  // the name is durable only after its folder was synced
}

/// Waits until the disk has the name. After an error, a new file has no name, as after every other error.
void OutputFile::sync_name() {
  if (existing_ == Existing::replace) return name_->folder()->sync_replaced();
  try {
    name_->folder()->sync();
  } catch (const Error&) {
    withdraw();
    throw;
  }
}

void OutputFile::lock_target() {
  if (existing_ == Existing::replace) renew_lock(lock_, target_);
}

void OutputFile::withdraw() noexcept {
  if (std::exchange(published_, false)) name_->withdraw();
}

void OutputFile::keep_extension(Sync sync) {
  forget_extended_file(file_);
  old_size_.reset();  // readers may use it from here on, even if the sync fails
  annotated([] { return Annotation{.prefix = "the edit was written (do not repeat it) but could not be synced"}; },
            [this, sync] { expect_written(sync); });
  file_ = os::File();
}

}  // namespace onnxar::base
