// Cuts a file back to an earlier state of its archive: `recover` and `undo`.
#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/container_check.h"
#include "archive/file_kind.h"
#include "archive/graphs.h"
#include "archive/opening.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "onnxar/archive_writer.h"
#include "zip/states.h"

namespace onnxar {
namespace {

using base::concat;

/// Returns the result of `action`, which reads bytes in memory `without_limits`, or false if the bytes are not an
/// archive. Rethrows the error of more entries than an index has numbers for, which does not prove that: nothing may be
/// cut off for it.
template <typename Action>
bool passes(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    if (error.code() == Code::zip_limit_entries) throw;
    return false;
  }
}

EarlierState state_of(const Archive& archive) {
  const ArchiveEntry model = own_model_entry(archive);
  return {
      .size = archive.file().size(), .entries = archive.size(), .model_size = model.size, .model_crc32 = model.crc32};
}

/// Returns the state that `file` ends with. Throws its first fault: in the container, in the model, or in another entry
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

/// True if the container of a state has no error. `sound` holds the ends of the earlier states without errors. A gap
/// between entries must end at one of these, because a superseded tail does.
bool is_sound(Bytes file, const std::vector<std::uint64_t>& sound, zip::KnownZeros& zeros) {
  return passes([&] {
    const Archive archive = ArchiveAccess::open({.file = ArchiveFile(file), .zeros = &zeros}, without_limits);
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

/// Verifies the entries that the last edit of a sound state added, which begin at or after `begin`. Every state has its
/// own model, because nothing may lie between a model and the directory. Earlier entries are verified with earlier
/// states, so no byte is summed twice.
std::optional<EarlierState> verified_state(Bytes file, std::uint64_t begin, zip::KnownZeros& zeros) {
  std::optional<EarlierState> state;
  passes([&] {
    const Archive archive = ArchiveAccess::open({.file = ArchiveFile(file), .zeros = &zeros}, without_limits);
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

/// Truncates the file after `state`. The state before an edit is a prefix of the file, so nothing is rewritten.
/// REQUIRES: this process has no mapping of the file, because Windows does not truncate a mapped file.
EarlierState cut(os::File file, const std::filesystem::path& path, EarlierState state, const OutputOptions& options) {
  if (options.dry_run || state.size == state.file_size) return state;
  base::OutputFile kept = base::OutputFile::extend(std::move(file), path, state.size);
  kept.set_size(state.size);
  kept.publish(options.sync ? base::Sync::full : base::Sync::none);
  return state;
}

/// Returns the message of an error about a state of a file, without the path.
std::string text_of(const Error& error) { return Error(error.code(), error.message(), error.finding().place).what(); }

/// Returns what is wrong with the last complete state of the file; empty if no complete state ends after the first
/// `whole` bytes, which are a valid state.
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

/// Returns the state that `recover` restores, with the size of the file. Throws archive.unrecoverable and io.*.
EarlierState last_whole_state(os::Handle file, const std::filesystem::path& path, bool overwrite) {
  const auto mapping = base::MappedFile::map(file, path);
  const Bytes bytes = mapping.bytes();
  const std::vector<std::uint64_t> ends = zip::state_ends(bytes);
  zip::KnownZeros zeros;
  const std::vector<std::uint64_t> sound = sound_states(bytes, ends, zeros);
  // Takes the last complete state, because it has the most edits.
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

/// Returns the state that `undo` restores, with the size of the file. Throws usage.nothing_to_undo,
/// archive.unrecoverable, and what opening throws.
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
    end = tails.back();  // the bytes that the last edit appended begin here
    // Verifies the state before truncating: the last edit may be the only valid state of a damaged file. Of its data,
    // reads only the model.
    EarlierState state = proved_state(archive->file().first(base::in_memory(*end)), *end);
    state.file_size = archive->file().size();
    return state;
  } catch (const Error& error) {
    // If the end of an earlier state is damaged, a gap remains there.
    const bool is_of_earlier = archive ? kind(error.code()) == Kind::format : error.code() == Code::zip_entry_gap;
    if (!is_of_earlier) throw;
    throw Error(Code::archive_unrecoverable,
                concat("the state before the last edit cannot be restored, because it is damaged, so nothing was cut: ",
                       text_of(error)),
                {"", end ? end : error.offset()}, path, {Hint::repack_keeps});
  }
}

/// Locks the file for `cut`. A dry run does not need write permission.
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
    // A dry run needs no write permission; a complete archive is not truncated.
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
