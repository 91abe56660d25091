// Writes files, and additions to files, that appear whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/folder.h"
#include "base/mapped_file.h"
#include "base/open_file.h"
#include "base/output_target.h"
#include "onnxar/bytes.h"
#include "os/file.h"

namespace onnxar::base {

// Keeps track of files that are being extended, so that a signal handler can cut them back.

/// Cuts all files back that are being extended (at most 16 at a time are known; further ones stay extended); from then
/// on `is_abandoned` is true. First waits until the `ExtendingWrite`s of other threads have ended, for 2 s at most.
/// Safe in signal handlers: it only makes system calls and uses lock-free atomics.
void cut_back_extended_files() noexcept;
/// Whether the process is about to end. A thread that writes to a noted file must then stop.
bool is_abandoned() noexcept;

/// Must live from before `is_abandoned` is asked until the write has ended. A thread has one at a time. More
/// than 64 threads at a time are not waited for.
class ExtendingWrite {
 public:
  ExtendingWrite() noexcept;
  ExtendingWrite(const ExtendingWrite&) = delete;
  ExtendingWrite& operator=(const ExtendingWrite&) = delete;
  ~ExtendingWrite();
};

enum class Sync : std::uint8_t { none, full };

/// Writes to a nameless file in the target's folder and gives it the target's name in `publish`.
///
/// Until then the file has no name, so that a killed process leaves nothing; on file systems without nameless files it
/// has a hidden temporary name, `.NAME.XXXXXX.tmp`. The destructor discards it. A target that exists is replaced
/// atomically and keeps its permissions, except set-ID bits; a new one follows the umask. It is locked against edits
/// from `create` to `publish`, which would be lost (lock_for_replacing). The folder is opened once,
/// and all names are looked up in it: if a different folder takes over its path, the file does not appear there.
///
/// `extend` writes after the end of an existing file instead: `publish` keeps the new bytes, the destructor cuts them
/// off. If a signal ends the process before, `cut_back_extended_files` does.
///
/// After an error of any call the contents are unknown (after an fsync that lost pages, for example, a second fsync
/// succeeds), so the caller must not publish the file: base::Steps sees to that for writers that users call.
///
/// Move-only. Threads: `write_at` on ranges that do not overlap may run concurrently.
class OutputFile {
 public:
  /// Follows a target that is a symbolic link, and replaces the file it points to. A link that a different user made in
  /// a shared folder is refused (os::may_follow_link). Errors: output.exists (refuse), io.not_a_file (target is a
  /// folder or device), io.not_found (no such folder), io.permission; archive.busy (the file that it points to is being
  /// edited). `lock` is one that the caller has on that file, if any.
  static OutputFile create(const std::filesystem::path& target, Existing existing, os::File lock = {});

  /// Creates the file `name`, which is not a path, in an open folder; a link of that name is not followed. Errors: as
  /// above.
  static OutputFile create(std::shared_ptr<const Folder> folder, const std::string& name, Existing existing);

  /// Creates the file at a target that `find_target` found. Time may have passed since, so the name is checked again.
  /// Errors: as above.
  static OutputFile create(OutputTarget target, Existing existing, os::File lock = {});

  /// Creates a file that never gets a name, on the file system of the folder.
  /// Errors: io.not_found (no such folder), io.permission.
  static OutputFile create_nameless(const std::filesystem::path& folder);

  /// Extends the file at `target`, which is open for writing. Its `size` bytes stay as they are.
  static OutputFile extend(os::File file, const std::filesystem::path& target, std::uint64_t size);

  OutputFile(OutputFile&& other) noexcept = default;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Reserves room for a file of `size` bytes, so that a full disk is noticed before anything is written. File systems
  /// that cannot reserve room are not an error, nor is missing room for a new file where files can share blocks.
  /// Errors: io.disk_full, io.failed (the file system has no files of this size).
  void reserve(std::uint64_t size);
  /// Writes `first`, immediately followed by `second`, in as few calls as the system allows.
  void write_at(std::uint64_t offset, Bytes first, Bytes second = {});
  /// Adds bytes that are mapped from a different file without copying them: both files share blocks on the disk until
  /// either is changed, which does not affect the other. False if the file system refuses. File systems that support it
  /// (XFS, btrfs) require whole blocks, usually of 4096 bytes, of the same file system.
  bool share_at(std::uint64_t offset, Bytes bytes, const FileOrigin& origin);
  /// Whether `share_at` is worth a try: false once the file system has said that it does not support it.
  [[nodiscard]] bool may_share() const noexcept { return may_share_; }
  /// Cuts the file to `size` and gives back the room that `reserve` set aside beyond it.
  void set_size(std::uint64_t size);
  /// As `set_size`, after the last write, which ended at `end`. The room of an extension stays reserved if it cannot be
  /// given back: readers may use the extension already, so it must not be cut off for that.
  void give_back_room(std::uint64_t end);
  /// Waits until the disk has all bytes that were written so far.
  void sync();
  /// Must be called before the write that makes the added bytes visible to readers. From here on a signal does not cut
  /// them off; an error still does.
  void begin_last_write() noexcept;
  /// Asks the system to begin writing the range to the disk, so that a later sync takes less time.
  void start_writeback(std::uint64_t offset, std::uint64_t length) noexcept;
  /// Takes over the permissions of a replaced target, and syncs with Sync::full; otherwise asks the file system for
  /// writes that failed late (os::hand_over). To publish several files together,
  /// prepare all of them, stage all, then publish all.
  void prepare(Sync sync);
  /// If an existing target is to be replaced, gives the file a hidden name in its folder. Publishing is then a rename,
  /// which needs no room on the disk.
  void stage();
  /// For sets of many files: prepares the complete file, gives it a hidden name and closes it until it is published.
  /// The lock on the target is given up until then.
  void park(Sync sync);
  /// Gives the file its name. Calls `prepare` and `stage` unless the caller did. Errors: output.exists (the target
  /// appeared meanwhile and must not be replaced); archive.busy (it was replaced meanwhile, and is being edited); io.*
  /// (if the folder cannot be synced, a new file has lost its name again, and one that replaced another stays).
  void publish(Sync sync);

  /// Maps the bytes written so far, or a part of them. The mapping stays valid after this object is destroyed, even if
  /// the file never gets a name.
  [[nodiscard]] MappedFile map(const FilePart& part = {}) const;

  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }
  /// The folder of the target; null for a file that is extended.
  [[nodiscard]] std::shared_ptr<const Folder> folder() const noexcept { return name_ ? name_->folder() : nullptr; }
  /// Gives the descriptor back. The file can only be withdrawn or destroyed now.
  void close() noexcept { file_ = os::File(); }
  /// Removes the file again if it was published, also where `publish` failed after that.
  void withdraw() noexcept;

 private:
  OutputFile(std::filesystem::path target, Existing existing) : target_(std::move(target)), existing_(existing) {}

  void refuse_if_abandoned() const;
  void begin_extension() noexcept;
  void expect_written(Sync sync);
  void lock_target();
  void sync_name();
  void keep_extension(Sync sync);
  void discard() noexcept;

  std::filesystem::path target_;  // for messages
  Existing existing_;
  std::optional<OutputName> name_;         // of a new file
  std::optional<std::uint64_t> old_size_;  // of a file that is extended, until it is published
  bool begun_ = false;                     // whether the extension is noted
  os::File file_;
  os::File lock_;  // on the file that is replaced
  bool prepared_ = false;
  bool published_ = false;
  bool may_share_ = true;
};

}  // namespace onnxar::base
