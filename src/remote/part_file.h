// A file that is being downloaded, and the list of what it already has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/byte_range.h"
#include "base/output_file.h"
#include "base/output_target.h"
#include "base/range_set.h"
#include "onnxar/bytes.h"
#include "os/file.h"

namespace onnxar {

/// The hidden files `.NAME.part` and `.NAME.part.list` beside an output. They stay when the process ends, even if it is
/// killed, and the next object for the same version of the same file goes on with them. The list has the ranges that
/// came from the server, and is written after the data, so it never names a range that is not there; after a failure of
/// the machine it may, which the proof of the whole finds. Threads: `write` may run concurrently on ranges that do not
/// overlap; one thread calls the others.
class PartFile {
 public:
  /// Opens the files, or makes them. Other versions' ranges are forgotten. `version` also identifies the file, and has
  /// no line breaks; empty: nothing of an earlier object is kept. Until `publish`, only this user may read the files.
  /// With Room::sparse, only what is written takes room on the disk. Throws archive.busy (another object has them
  /// open), io.disk_full or what `Folder::open_own` throws. With Sync::full, `publish` waits until the disk has the
  /// file, and the system begins to write it to the disk at once, which shortens that wait.
  enum class Room : std::uint8_t { whole, sparse };
  PartFile(base::OutputTarget place, const std::string& version, std::uint64_t size, base::Sync sync,
           Room room = Room::whole);

  /// The ranges that it has: from the server, or copied.
  [[nodiscard]] const base::RangeSet& ranges() const noexcept { return ranges_; }
  /// True if it has ranges that were copied.
  [[nodiscard]] bool has_copies() const noexcept { return copied_.bytes() != 0; }
  [[nodiscard]] os::Handle handle() const noexcept { return data_; }
  /// The path of the hidden file that has the data.
  [[nodiscard]] std::filesystem::path path() const;
  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_.path; }

  void write(std::uint64_t offset, Bytes bytes) const;
  /// Writes those of the bytes that it does not have, and returns their ranges: what was verified is never overwritten.
  /// Lists them once they are `piece_size` bytes.
  std::vector<base::ByteRange> receive(std::uint64_t offset, Bytes bytes);
  /// Lists all ranges that were received.
  void list();
  /// Notes that the bytes of this range were written, and come from another file.
  void note_copy(const base::ByteRange& range);
  /// Forgets the ranges that were copied.
  void forget_copies();
  /// Cuts the file to `size`, for a file whose size was not known before.
  void set_size(std::uint64_t size) const;
  /// Gives the file the output's name. `lock` is that on the file it replaces. Throws output.exists, archive.busy (that
  /// one is being edited), io.changed (another process took the place of the hidden file) or io.*.
  void publish(base::Existing existing, os::File lock = {});
  /// Removes both files, if they are still those that were opened.
  void discard() noexcept;

 private:
  [[nodiscard]] std::error_code set_mode(base::Existing existing) const;
  [[nodiscard]] bool has_name(os::Handle file, const std::string& suffix) const;
  [[nodiscard]] std::string name_of(const std::string& suffix) const { return "." + target_.name + suffix; }
  void read_list(const std::string& head);
  void note(const std::string& line);
  void begin_to_sync(const base::ByteRange& range) const noexcept;

  base::OutputTarget target_;
  std::uint64_t size_;
  base::Sync sync_;
  os::File data_;
  os::File list_;
  std::uint64_t list_end_ = 0;
  base::RangeSet ranges_;
  base::RangeSet copied_;    // some may have been received before
  base::RangeSet unlisted_;  // received
  std::uint64_t list_head_ = 0;
};

}  // namespace onnxar
