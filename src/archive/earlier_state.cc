#include <optional>
#include <utility>
#include <vector>

#include "archive/check.h"
#include "archive/opening.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "onnxar/edit.h"
#include "zip/states.h"

namespace onnxar {
namespace {

/// The state that `file` ends in, if it is whole: no error of the container, and the right CRCs of the model and of
/// what begins at `verified_from` or behind.
std::optional<EarlierState> whole_state(Bytes file, std::uint64_t verified_from) {
  try {
    const Archive archive = Archive::open(file, nullptr);
    for (const Finding& finding : check_container(archive)) {
      if (finding.severity == Severity::error) return std::nullopt;
    }
    const ArchiveEntry model = archive.entry(archive.size() - 1);
    archive.verify(model);
    for (std::size_t i = model.index; i > 0 && archive.entry(i - 1).header_offset >= verified_from; --i) {
      archive.verify(archive.entry(i - 1));
    }
    return EarlierState{0, file.size(), archive.size(), model.size, model.crc32};
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;
    return std::nullopt;
  }
}

EarlierState cut(base::FileDescriptor file, const std::filesystem::path& path, std::uint64_t file_size,
                 EarlierState state, const CutOptions& options) {
  state.file_size = file_size;
  if (options.dry_run || state.size == file_size) return state;
  base::OutputFile kept = base::OutputFile::extend(std::move(file), path, state.size);
  kept.set_size(state.size);
  kept.publish(options.sync ? base::Sync::full : base::Sync::none);
  return state;
}

}  // namespace

EarlierState recover(const std::filesystem::path& path, const CutOptions& options) {
  base::FileDescriptor file = lock_for_editing(path);
  const auto mapping = base::MappedFile::map(file, path);
  const Bytes bytes = mapping.bytes();
  const std::vector<std::uint64_t> ends = zip::state_ends(bytes);
  for (std::size_t i = ends.size(); i-- > 0;) {
    const auto state = whole_state(bytes.first(ends[i]), i == 0 ? 0 : ends[i - 1]);
    if (state) return cut(std::move(file), path, bytes.size(), *state, options);
  }
  throw Error(
      Code::archive_unrecoverable,
      "no front part of the file is a whole archive, so there is nothing to go back to: fetch it again, or make "
      "it anew with `onnxar pack` or `onnxar repack`",
      {}, path);
}

EarlierState undo(const std::filesystem::path& path, const CutOptions& options) {
  base::FileDescriptor file = lock_for_editing(path);
  const Archive archive = open_locked(file, path, {});
  const std::vector<std::uint64_t> ends = zip::state_ends(archive.file());
  if (ends.size() < 2 || ends.back() != archive.file().size()) {
    throw Error(Code::usage_nothing_to_undo, "the archive holds no edit: it is as it was written", {}, path);
  }
  const std::uint64_t end = ends[ends.size() - 2];
  const auto state = whole_state(archive.file().first(end), end);
  if (!state) {
    throw Error(Code::archive_unrecoverable,
                base::concat("the state before the last edit, the first ", end, " bytes, is damaged; nothing was cut"),
                {"", end}, path);
  }
  return cut(std::move(file), path, archive.file().size(), *state, options);
}

}  // namespace onnxar
