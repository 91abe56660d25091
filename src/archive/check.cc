// Checks headers and superseded tails of an archive, and cuts a file back to an earlier state.
#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/file_kind.h"
#include "archive/opening.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "onnxar/archive_writer.h"
#include "zip/directory.h"
#include "zip/end_records.h"

namespace onnxar {
namespace {

using base::concat;

/// For states that are judged: an edit may have raised the limits, and a state beyond them is whole, too. 2^32 - 1
/// entries are what an index of names can number. Memory stays in proportion to the file (E10).
constexpr OpenOptions without_limits{.max_entries = ~std::uint32_t{0}, .max_directory_size = ~std::uint64_t{0}};

/// The ends of the superseded tails between the entries of an archive. Errors: as Archive::locate.
std::vector<std::uint64_t> tails_of(const Archive& archive) {
  std::vector<std::uint64_t> ends;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    const std::uint64_t limit = ArchiveAccess::directory(archive).limit_of(i);
    if (archive.locate(entry).offset + entry.size != limit) ends.push_back(limit);
  }
  return ends;
}

class ContainerCheck {
 public:
  ContainerCheck(const Archive& archive, zip::KnownZeros& zeros)
      : archive_(archive), directory_(ArchiveAccess::directory(archive)), zeros_(zeros) {}

  std::vector<Finding> run() {
    if (directory_.unneeded_zip64()) {  // R1
      remark(Severity::warning, Code::zip_zip64_unneeded, {"", directory_.offset()},
             "the zip64 end records are not needed; some tools warn about them");
    }
    if (ArchiveAccess::ranges(archive_) != nullptr) ArchiveAccess::entry_ranges(archive_).read_headers();
    for (std::size_t i = 0; i < archive_.size(); ++i) check_entry(archive_.entry(i));
    return std::move(findings_);
  }

 private:
  void check_entry(const ArchiveEntry& entry) {
    try {
      const zip::LocalEntry local = ArchiveAccess::local(archive_, entry.index);
      if (local.unneeded_zip64 || directory_.entries()[entry.index].unneeded_zip64) {  // R1, once for both headers
        remark(Severity::warning, Code::zip_zip64_unneeded, {std::string(entry.name), entry.header_offset},
               "the zip64 field is not needed; some tools warn about it");
      }
      check_tail(entry, local.data_offset + entry.size);
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
      findings_.push_back(error.finding());
    }
  }

  void check_tail(const ArchiveEntry& entry, std::uint64_t data_end) {
    const std::uint64_t limit = directory_.limit_of(entry.index);
    if (data_end == limit) return;
    remark(Severity::note, Code::archive_tail_superseded, {std::string(entry.name), data_end},  // R10
           concat(limit - data_end, " bytes of an earlier state of the model follow this entry"));
    if (false_tail_) return;  // T2 is reported once, because later states may build on the broken one
    try {
      check_states(limit);
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;  // a failed read says nothing about the tail
      false_tail_ = true;
      throw Error(Code::archive_tail_prefix,  // T2
                  concat("the bytes that follow this entry are not the end of an earlier state: ", error.line("")),
                  {std::string(entry.name), data_end});
    }
  }

  /// Checks that the prefix of the file that ends at `end` is an archive, and every earlier state too. Each state is
  /// opened once. Each has a separate directory, and they share `zeros_`, so the total cost is linear in the file's
  /// size.
  void check_states(std::uint64_t end) {
    for (std::vector<std::uint64_t> ends = {end}; !ends.empty();) {
      const std::uint64_t state_end = ends.back();
      ends.pop_back();
      if (!states_seen_.insert(state_end).second) continue;
      const Bytes state = archive_.file().first(base::in_memory(state_end));
      const Archive earlier = ArchiveAccess::open(
          {.file = state, .owner = archive_.owner(), .ranges = ArchiveAccess::ranges(archive_), .zeros = &zeros_},
          without_limits);
      std::ranges::copy(tails_of(earlier), std::back_inserter(ends));
    }
  }

  void remark(Severity severity, Code code, Place place, std::string message) {
    findings_.push_back({severity, code, std::move(place), std::move(message)});
  }

  const Archive& archive_;
  const zip::Directory& directory_;
  zip::KnownZeros& zeros_;
  std::vector<Finding> findings_;
  base::KeyedSet<std::uint64_t> states_seen_;
  bool false_tail_ = false;
};

}  // namespace

std::vector<Finding> check_container(const Archive& archive, zip::KnownZeros* zeros) {
  zip::KnownZeros own;
  return ContainerCheck(archive, zeros != nullptr ? *zeros : own).run();
}

namespace {

/// Returns the result of `action`, which reads bytes in memory, or false if they are not those of an archive. A limit
/// says nothing about that, so its error passes: nothing is cut off for it.
template <typename Action>
bool passes(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    if (error.code() == Code::zip_limit_entries || error.code() == Code::zip_limit_directory) throw;
    return false;
  }
}

EarlierState state_of(const Archive& archive) {
  const ArchiveEntry model = archive.entry(archive.size() - 1);
  return {
      .size = archive.file().size(), .entries = archive.size(), .model_size = model.size, .model_crc32 = model.crc32};
}

/// Returns the state that `file` ends with. Throws its first fault: of its container, of its model, or of another entry
/// at or after `begin`.
EarlierState proved_state(Bytes file, std::uint64_t begin) {
  const Archive archive = Archive::open(file, nullptr, without_limits);
  for (const Finding& finding : check_container(archive)) {
    if (finding.severity == Severity::error) throw Error(finding.code, finding.message, finding.place);
  }
  std::size_t i = archive.size() - 1;
  archive.verify(archive.entry(i));
  while (i > 0 && archive.entry(i - 1).header_offset >= begin) archive.verify(archive.entry(--i));
  return state_of(archive);
}

/// Whether the container of a state has no error. `sound` holds the ends of the earlier states without errors. A gap
/// between entries must end at one of these, because a superseded tail does.
bool is_sound(Bytes file, const std::vector<std::uint64_t>& sound, zip::KnownZeros& zeros) {
  return passes([&] {
    const Archive archive = ArchiveAccess::open({.file = file, .zeros = &zeros}, without_limits);
    return std::ranges::all_of(tails_of(archive),
                               [&sound](std::uint64_t end) { return std::ranges::binary_search(sound, end); });
  });
}

/// Returns the ends of the states whose containers have no error. Checks the states in ascending order, so that each is
/// opened only once. Each has a separate directory, and they share `zeros`, so the total cost is linear in the file's
/// size.
std::vector<std::uint64_t> sound_states(Bytes file, const std::vector<std::uint64_t>& ends, zip::KnownZeros& zeros) {
  std::vector<std::uint64_t> sound;
  for (const std::uint64_t end : ends) {
    if (is_sound(file.first(base::in_memory(end)), sound, zeros)) sound.push_back(end);
  }
  return sound;
}

/// Verifies the entries that the last edit of a sound state added, which begin at or after `begin`. Every state has
/// a model of its own, because nothing may follow a model before the directory. Earlier entries belong to earlier
/// states, so that no byte is summed twice.
std::optional<EarlierState> verified_state(Bytes file, std::uint64_t begin, zip::KnownZeros& zeros) {
  std::optional<EarlierState> state;
  passes([&] {
    const Archive archive = ArchiveAccess::open({.file = file, .zeros = &zeros}, without_limits);
    std::size_t added = archive.size();
    for (; added > 0 && archive.entry(added - 1).header_offset >= begin; --added) {
      const ArchiveEntry entry = archive.entry(added - 1);
      if (base::crc32(0, archive.bytes(entry)) != entry.crc32) return false;
    }
    state = state_of(archive);
    return true;
  });
  return state;
}

/// Cuts the file off after `state`. The state before an edit is a prefix of the file, so nothing has to be rewritten.
/// REQUIRES: this process has no mapping of the file left, since Windows does not cut a mapped file.
EarlierState cut(os::File file, const std::filesystem::path& path, EarlierState state, const OutputOptions& options) {
  if (options.dry_run || state.size == state.file_size) return state;
  base::OutputFile kept = base::OutputFile::extend(std::move(file), path, state.size);
  kept.set_size(state.size);
  kept.publish(options.sync ? base::Sync::full : base::Sync::none);
  return state;
}

/// Returns the message of an error about a state of a file, without the path.
std::string text_of(const Error& error) { return Error(error.code(), error.message(), error.finding().place).what(); }

/// Returns what is wrong with the last complete state of the file, of which the first `whole` bytes are whole; empty if
/// no complete state ends after them.
std::string fault_of_last(Bytes file, std::uint64_t whole) {
  const auto end = zip::last_end_after(file, whole);
  if (!end) return {};
  try {
    proved_state(file.first(base::in_memory(*end)), whole);
  } catch (const Error& error) {
    return text_of(error);
  }
  return "an earlier state is damaged";
}

/// The state that `recover` restores, with the size of the file. Errors: archive.unrecoverable, io.*.
EarlierState last_whole_state(os::Handle file, const std::filesystem::path& path, bool overwrite) {
  const auto mapping = base::MappedFile::map(file, path);
  const Bytes bytes = mapping.bytes();
  const std::vector<std::uint64_t> ends = zip::state_ends(bytes);
  zip::KnownZeros zeros;
  const std::vector<std::uint64_t> sound = sound_states(bytes, ends, zeros);
  // The last state that is complete wins, because it holds the most edits.
  for (const std::uint64_t end : std::views::reverse(sound)) {
    const auto at = std::ranges::lower_bound(ends, end);
    auto state = verified_state(bytes.first(base::in_memory(end)), at == ends.begin() ? 0 : *std::prev(at), zeros);
    if (!state) continue;
    const std::string fault = overwrite ? std::string() : fault_of_last(bytes, end);
    if (!fault.empty()) {
      throw Error(
          Code::archive_unrecoverable,
          concat("the last edit is complete but damaged, so nothing was cut: ", fault, "; the last whole state has ",
                 end, " of ", bytes.size(), " bytes and ", state->entries, " entries"),
          {"", end}, path, {Hint::recover_overwrite});
    }
    state->file_size = bytes.size();
    return *state;
  }
  const std::string fault = fault_of_last(bytes, 0);
  const Advice other = advice_on_kind(bytes);
  throw Error(Code::archive_unrecoverable,
              concat("no prefix of the file is a whole archive, so nothing can be recovered",
                     fault.empty() ? "" : "; the last state is damaged: ", fault),
              {}, path, other.hint == Hint::none ? Advice{Hint::make_anew} : other);
}

/// The state that `undo` restores, with the size of the file. Errors: usage.nothing_to_undo, archive.unrecoverable,
/// those of opening.
EarlierState state_before_last_edit(os::Handle file, const std::filesystem::path& path) {
  std::optional<Archive> archive;
  std::optional<std::uint64_t> end;
  try {
    archive = open_locked(file, path, without_limits);
    const std::vector<std::uint64_t> tails = tails_of(*archive);
    if (tails.empty()) {
      throw Error(Code::usage_nothing_to_undo,
                  "the file holds no earlier state: the archive was not edited since it was written, or the edit kept "
                  "no entry in place and rewrote the file",
                  {}, path);
    }
    end = tails.back();  // what the last edit appended begins here
    // Verified before anything is cut: the last edit may be the only whole state of a damaged file. Of its data, only
    // the model is read.
    EarlierState state = proved_state(archive->file().first(base::in_memory(*end)), *end);
    state.file_size = archive->file().size();
    return state;
  } catch (const Error& error) {
    // A gap remains where the end of an earlier state is damaged.
    const bool is_of_earlier = archive ? kind(error.code()) == Kind::format : error.code() == Code::zip_entry_gap;
    if (!is_of_earlier) throw;
    throw Error(Code::archive_unrecoverable,
                concat("the state before the last edit cannot be restored, because it is damaged, so nothing was cut: ",
                       text_of(error)),
                {"", end ? end : error.offset()}, path, {Hint::repack_keeps});
  }
}

/// Locks the file for `cut`. A dry run, and a file without anything to cut, need no right to write.
os::File lock_for_cutting(const std::filesystem::path& path, const OutputOptions& options) {
  return options.dry_run ? lock_for_planning(path) : lock_for_editing(path);
}

}  // namespace

EarlierState recover(const std::filesystem::path& path, const OutputOptions& options) {
  try {
    os::File file = lock_for_cutting(path, options);
    const EarlierState state = last_whole_state(file, path, options.overwrite);
    return cut(std::move(file), path, state, options);
  } catch (const Error& error) {
    if (error.code() != Code::io_permission || options.dry_run) throw;
    // Without the right to write: a complete archive needs nothing to be cut.
    const EarlierState state = recover(path, {.overwrite = options.overwrite, .dry_run = true});
    if (state.size != state.file_size) throw;
    return state;
  }
}

EarlierState undo(const std::filesystem::path& path, const OutputOptions& options) {
  os::File file = lock_for_cutting(path, options);
  const EarlierState state = state_before_last_edit(file, path);
  return cut(std::move(file), path, state, options);
}

}  // namespace onnxar
