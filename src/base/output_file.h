// A file, or what is added to one, that appears whole or not at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/extension.h"
#include "base/file_descriptor.h"
#include "base/folder.h"
#include "base/mapped_file.h"
#include "base/output_name.h"
#include "base/output_target.h"
#include "onnxar/bytes.h"
#include "os/file.h"

namespace onnxar::base {

enum class Sync : std::uint8_t { none, full };

/// Writes to a nameless file in the target's folder and gives it the target's name in `publish`.
///
/// Until then nothing is seen under any name where the file system has O_TMPFILE (so a killed process leaves nothing);
/// elsewhere a hidden temporary name `.NAME.XXXXXX.tmp` stands in. A destructor discards. A target that exists is
/// replaced atomically and keeps its permissions, but no set-ID bits; a new one follows the umask. The folder is opened
/// once, and all names are looked up in that: what is put in its place meanwhile sees nothing of the file.
///
/// `extend` writes behind the end of an existing file instead: publishing keeps that, a destructor cuts it off again.
/// After an error of `write_at`, `set_size` or `sync` nobody knows what the file holds (a second fsync says yes where
/// the first has lost pages), so it is spoiled: from then on these, `prepare`, `park` and `publish` throw
/// usage.writer_failed.
/// Move-only. Threads: `write_at` on ranges that do not overlap may run concurrently.
class OutputFile {
 public:
  /// A target that is a symbolic link is followed, so what it points to is replaced; but not where the kernel would
  /// not (may_follow_link).
  /// Errors: output.exists (refuse), io.not_a_file (target is a folder or device), io.not_found (no such folder),
  /// io.permission.
  static OutputFile create(const std::filesystem::path& target, Existing existing);

  /// The file `name`, no path, in an open folder; a link of that name is not followed. Errors: as the other.
  static OutputFile create(std::shared_ptr<const Folder> folder, const std::string& name, Existing existing);

  /// What `find_target` found, perhaps some time ago: what has the name by now is looked at again. Errors: as the
  /// first.
  static OutputFile create(OutputTarget target, Existing existing);

  /// A file that never gets a name, in a folder with room for it: whatever is in the folder does not matter.
  /// Errors: io.not_found (no such folder), io.permission.
  static OutputFile create_nameless(const std::filesystem::path& folder);

  /// The file at `target`, open for writing, of which the first `size` bytes, which is all of it, stay as they are.
  static OutputFile extend(os::File file, const std::filesystem::path& target, std::uint64_t size);

  OutputFile(OutputFile&& other) noexcept = default;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Sets room for `size` bytes aside, so that a full disk is noticed before anything is written. A file system that
  /// cannot promise room is not an error, nor is a lack of room for a new file where files can share blocks.
  void reserve(std::uint64_t size);
  /// Writes `first`, then `second` right behind it, in as few calls as the system allows.
  void write_at(std::uint64_t offset, Bytes first, Bytes second = {});
  /// Puts bytes that are mapped from another file here without copying them: the two files then share the blocks on
  /// the disk until one of them is changed, which the other does not see. Returns whether that was done. File systems
  /// that can (XFS, btrfs) want whole blocks (of 4096 bytes as a rule) of the same file system.
  bool share_at(std::uint64_t offset, Bytes bytes, const FileOrigin& origin);
  /// Whether it is worth a try: once the file system has said that it cannot, it is not asked again.
  [[nodiscard]] bool may_share() const noexcept { return may_share_; }
  /// What is written is not what it should be: it must never be published. Threads: any.
  void spoil() noexcept { spoiled_.set(); }
  /// Cuts what `reserve` set aside beyond `size`.
  void set_size(std::uint64_t size);
  /// Waits until the disk has all that was written so far.
  void sync();
  /// What is written next makes what was added count: from here on a signal does not cut it off any more
  /// (extended_files.h). An error still does.
  void begin_last_write() noexcept;
  /// Asks the system to begin writing the range back, so that a later sync has less to wait for.
  void start_writeback(std::uint64_t offset, std::uint64_t length) noexcept;
  /// Syncs. Several files are published together by preparing all, staging all, then publishing.
  void prepare(Sync sync);
  /// Where an existing target is to be replaced: gives the file a hidden name in its folder, so that publishing is a
  /// rename, which needs no room on the disk.
  void stage();
  /// For sets of many files: prepares the complete file, gives it a hidden name and closes it until it is published.
  void park(Sync sync);
  /// Gives the file its name. Calls `prepare` and `stage` where that was not done. Errors: output.exists if the target
  /// appeared meanwhile and must not be replaced.
  void publish(Sync sync);

  /// What was written so far, or a part of it, mapped; the mapping outlives the file, which may be discarded without
  /// ever having had a name.
  [[nodiscard]] MappedFile map(const FilePart& part = {}) const;

  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }
  /// The folder that it is, or will be, in; null of a file that is extended.
  [[nodiscard]] std::shared_ptr<const Folder> folder() const noexcept { return name_ ? name_->folder() : nullptr; }
  /// Takes the published file away again.
  void withdraw() const noexcept { name_->withdraw(); }

 private:
  OutputFile(std::filesystem::path target, Existing existing) : target_(std::move(target)), existing_(existing) {}

  /// Is set by any thread, and stays so.
  class Flag {
   public:
    Flag() = default;
    Flag(Flag&& other) noexcept : set_(other.set_.load()) {}
    Flag& operator=(Flag&& other) noexcept {
      set_ = other.set_.load();
      return *this;
    }
    Flag(const Flag&) = delete;
    Flag& operator=(const Flag&) = delete;
    ~Flag() = default;

    void set() noexcept { set_ = true; }
    [[nodiscard]] bool is_set() const noexcept { return set_; }

   private:
    std::atomic<bool> set_ = false;
  };

  template <typename Action>
  void spoiling(const Action& action);
  void refuse_if_spoiled() const;
  void refuse_if_abandoned() const;
  void write_all_at(std::uint64_t offset, Bytes first, Bytes second);
  void begin_extension() noexcept;
  void keep_extension(Sync sync);
  void discard() noexcept;

  std::filesystem::path target_;  // for messages
  Existing existing_;
  std::optional<OutputName> name_;      // of a new file
  std::optional<Extension> extension_;  // of a file that is extended, until that is published
  os::File file_;
  bool prepared_ = false;
  bool may_share_ = true;
  Flag spoiled_;
};

}  // namespace onnxar::base
