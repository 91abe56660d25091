// Writes files, and additions to files, atomically: they appear complete or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/file_origin.h"
#include "base/folder.h"
#include "base/mapped_file.h"
#include "base/open_file.h"
#include "base/output_name.h"
#include "base/output_target.h"
#include "onnxar/bytes.h"
#include "os/file.h"

namespace onnxar::base {

enum class Sync : std::uint8_t { none, full };

/// The size in bytes of the blocks that files share on the usual file systems (XFS, btrfs).
inline constexpr std::size_t shared_block = 4096;

/// Writes to a nameless file in the target's folder, and gives it the target's name in `publish`.
///
/// Until then the file has no name, so that a killed process leaves nothing; on file systems without nameless files it
/// has a hidden temporary name, `.NAME.XXXXXX.tmp`. The destructor discards it. A target that exists is replaced
/// atomically and keeps its permissions, except set-ID bits; a new one follows the umask. It is locked from `create` to
/// `publish` against edits, which would be lost (lock_for_replacing). The folder is opened once, and all names are
/// looked up in it: if a different folder takes over its path, the file does not appear there.
///
/// `extend` writes after the end of an existing file instead: `publish` keeps the new bytes, and the destructor cuts
/// them off. If a signal ends the process first, `cut_back_extended_files` cuts them off.
///
/// After any call throws, the contents are unknown (for example, after an fsync that lost pages a second fsync
/// succeeds), so the caller must not publish the file. base::Steps ensures that for writers that users call.
///
/// Move-only. Threads: `write_at` on ranges that do not overlap may run concurrently.
class OutputFile {
 public:
  /// Creates the file. Follows a target that is a symbolic link, and replaces the file that it points to, but refuses a
  /// link that a different user made in a shared folder (os::may_follow_link). `lock` is the caller's lock on the
  /// replaced file, if any. Throws output.exists with Existing::refuse, io.not_a_file if the target is a folder or
  /// device, io.not_found if there is no such folder, io.permission, and archive.busy if the replaced file is being
  /// edited.
  static OutputFile create(const std::filesystem::path& target, Existing existing, os::File lock = {});

  /// Creates the file `name`, which is not a path, in an open folder. Does not follow a link of that name. Throws what
  /// the function above throws.
  static OutputFile create(std::shared_ptr<const Folder> folder, const std::string& name, Existing existing);

  /// Creates the file at a target that `find_target` found. Checks the name again, because it may have changed since.
  /// Throws what the first function throws.
  static OutputFile create(OutputTarget target, Existing existing, os::File lock = {});

  /// Creates a file that never gets a name, on the file system of the folder. Throws io.not_found if there is no such
  /// folder, and io.permission.
  static OutputFile create_nameless(const std::filesystem::path& folder);

  /// Extends the file at `target`, which is open for writing. Its `size` bytes stay as they are.
  static OutputFile extend(os::File file, const std::filesystem::path& target, std::uint64_t size);

  OutputFile(OutputFile&& other) noexcept = default;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Reserves room for a file of `size` bytes, so that a full disk is noticed before anything is written. Does nothing
  /// if the file system cannot reserve room. Ignores missing room for a new file if files can share blocks. Throws
  /// io.disk_full, and io.failed if the file system does not support files of this size.
  void reserve(std::uint64_t size);
  /// Writes `first`, immediately followed by `second`, in as few calls as the system allows.
  void write_at(std::uint64_t offset, Bytes first, Bytes second = {});
  /// Adds bytes that are mapped from a different file without copying them: both files share blocks on the disk until
  /// one of them is changed, which does not affect the other. Returns false if the file system refuses. File systems
  /// that support it (XFS, btrfs) require whole blocks, usually of `shared_block` bytes, of the same file system.
  bool share_at(std::uint64_t offset, Bytes bytes, const FileOrigin& origin);
  /// True unless the file system has reported that it does not support `share_at`.
  [[nodiscard]] bool may_share() const noexcept { return may_share_; }
  /// Truncates the file to `size`, and releases the room that `reserve` reserved beyond it.
  void set_size(std::uint64_t size);
  /// Does what `set_size` does, after the last write, which ended at `end`. If the room of an extension cannot be
  /// released, it stays reserved: readers may already use the extension, so it must not be cut off.
  void give_back_room(std::uint64_t end);
  /// Waits until the disk has all bytes that were written so far.
  void sync();
  /// Must be called before the write that makes the added bytes visible to readers. From then on a signal does not cut
  /// them off; an error still does.
  void begin_last_write() noexcept;
  /// Asks the system to begin writing the range to the disk, so that a later sync takes less time.
  void start_writeback(std::uint64_t offset, std::uint64_t length) noexcept;
  /// Copies the permissions of a replaced target, and syncs with Sync::full; otherwise asks the file system for writes
  /// that failed late (os::hand_over). To publish several files together, prepare all of them, stage all, then publish
  /// all.
  void prepare(Sync sync);
  /// Gives the file a hidden name in its folder if it will replace an existing target. Publishing is then a rename,
  /// which needs no room on the disk.
  void stage();
  /// Prepares the complete file, gives it a hidden name, and closes it until it is published. For sets of many files.
  /// Releases the lock on the target until then.
  void park(Sync sync);
  /// Gives the file its name. Calls `prepare` and `stage` unless the caller did. Throws output.exists if the target
  /// appeared meanwhile and must not be replaced, archive.busy if it was replaced meanwhile and is being edited, and
  /// io.*. If the folder cannot be synced, a new file loses its name again, and a file that replaced another one stays.
  void publish(Sync sync);

  /// Maps the bytes written so far, or a part of them. The mapping stays valid after this object is destroyed, even if
  /// the file never gets a name.
  [[nodiscard]] MappedFile map(const FilePart& part = {}) const;

  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }
  /// Returns the folder of the target; null for a file that is extended.
  [[nodiscard]] std::shared_ptr<const Folder> folder() const noexcept { return name_ ? name_->folder() : nullptr; }
  /// Closes the descriptor. Afterwards the file can only be withdrawn or destroyed.
  void close() noexcept { file_ = os::File(); }
  /// Removes the file again if it was published, even if `publish` failed afterwards.
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
  std::optional<OutputName> name_;         // set for a new file
  std::optional<std::uint64_t> old_size_;  // set for a file that is extended, until it is published
  bool begun_ = false;                     // true if the extension is recorded
  os::File file_;
  os::File lock_;  // on the file that is replaced
  bool prepared_ = false;
  bool published_ = false;
  bool may_share_ = true;
};

}  // namespace onnxar::base
