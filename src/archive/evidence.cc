// Explains errors of a file by its bytes, and by changes since it was opened.
#include "archive/evidence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/change_detection.h"
#include "archive/file_kind.h"
#include "base/annotated.h"
#include "base/byte_range.h"
#include "base/checked.h"
#include "base/file_lock.h"
#include "base/file_origin.h"
#include "base/open_file.h"
#include "base/text.h"
#include "os/file.h"
#include "zip/format.h"
#include "zip/records.h"
#include "zip/states.h"

namespace onnxar {
namespace {

bool opens_as_archive(Bytes file, const OpenOptions& options) {
  try {
    Archive::open(file, nullptr, options);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// True if `rest` begins with the signature of a local header, or is a prefix of that signature.
bool begins_entry(Bytes rest) {
  std::vector<std::byte> header;
  zip::append_record(header, zip::LocalFileHeader());
  const std::size_t length = std::min(rest.size(), sizeof zip::local_file_signature);
  return std::ranges::equal(rest.first(length), Bytes(header).first(length));
}

/// Returns the error for a file that begins with a complete state of an archive; nothing if it does not.
std::optional<Error> fault_of_edit(const Error& error, Bytes file, const OpenOptions& options) {
  const std::vector<std::uint64_t> ends = zip::state_ends(file);
  if (ends.empty() || !opens_as_archive(file.first(base::in_memory(ends.back())), options)) return std::nullopt;
  const std::uint64_t end = ends.back();
  const bool without_end = error.code() == Code::zip_end_missing || error.code() == Code::zip_end_not_last;
  if (without_end && begins_entry(base::section(file, end))) {
    return Error(Code::archive_torn,  // X9
                 base::concat("an edit did not finish, or a copy was cut short: ", file.size() - end,
                              " bytes follow the last complete state"),
                 {"", end}, error.path(), {Hint::recover_cuts});
  }
  return Error(error.code(), base::concat(error.message(), "; the first ", end, " bytes are an archive"),
               error.finding().place, error.path(), {Hint::recover_cuts});
}

/// Returns the advice on a fault in the entry `name`. A file that is not a graph may have the name of one by accident:
/// the advice says how to keep it as a side file. A wrong link proves that it is a graph; a wrong CRC-32 is damage.
Advice advice_on_graph(Code code, std::string_view name, Hint of_links) {
  if (kind(code) != Kind::format || code == Code::zip_data_crc) return {};
  if (id(code).starts_with("onnx.external_data.") || code == Code::archive_graph_link_marker) return {of_links};
  // A shell, or `--rename OLD=NEW`, gives other characters a special meaning.
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+@%";
  const bool is_plain = name.find_first_not_of(plain) == std::string_view::npos;
  return {Hint::repack_side_file, is_plain ? std::string(name) : "NAME.onnx"};
}

bool is_being_edited(const std::filesystem::path& path) {
  try {
    // Editors hold an exclusive lock, so a shared one fails while an edit is in progress.
    return os::try_lock(base::open_file(path, os::Access::read), os::Lock::shared) == os::Locking::busy;
  } catch (const Error&) {
    return false;  // the file can no longer be opened, which does not affect the bytes that were read
  }
}

/// Returns true if an error with this code may come from a change of the archive's file.
bool may_come_from_change(Code code, const Archive& archive) {
  // An undo and a second edit can restore the same directory; then only the file's times show that the bytes of a model
  // were different.
  const base::FileOrigin* const origin = ArchiveAccess::origin(archive);
  const bool is_of_model = origin != nullptr && !id(code).starts_with("zip.");
  return (is_of_model && !ArchiveAccess::is_edited_here(archive) && origin->is_changed()) || is_changed(archive);
}

/// Adds advice by the code and the bytes of the file.
Error advised(const Error& error, const Evidence& evidence) {
  const Hint hint = hint_on(error.code());
  const bool may_be_cut = hint == Hint::recover_cuts, may_be_other = may_be_cut || hint == Hint::kind_other;
  if (hint == Hint::none) return error;
  // If a zip of any program is refused, no verb accepts it.
  if (evidence.zip != nullptr && !(may_be_cut ? evidence.uncut.has_value() : may_be_other)) return error;
  std::optional<ArchiveFile> file = evidence.file;
  if (evidence.zip != nullptr) file = ArchiveFile(evidence.zip->bytes());
  if (evidence.archive != nullptr) file = ArchiveAccess::file(*evidence.archive);
  if (!file) return error;
  try {
    const Bytes front = file->front();
    if (may_be_cut && evidence.uncut) {
      if (auto fault = fault_of_edit(error, front, *evidence.uncut)) return *std::move(fault);
    }
    Advice advice = advice_on_kind(front, may_be_other ? Hint::none : hint);
    const bool is_unknown = advice.hint == Hint::none && !looks_like_zip(front);
    if (is_unknown && error.code() == Code::zip_end_missing) advice = {Hint::make_anew};
    return base::annotate(error, {.advice = std::move(advice)});
  } catch (const Error&) {
    return error;  // this error says more than that the front cannot be read
  }
}

}  // namespace

Hint hint_on(Code code) noexcept {
  switch (code) {
    // Records that an edit writes last, so that cutting off the edit may repair the file.
    case Code::zip_end_missing:
    case Code::zip_end_not_last:
    case Code::zip_end_multi_disk:
    case Code::zip_end_directory_bounds:
    case Code::zip_zip64_locator:
    case Code::zip_zip64_record:
    case Code::zip_zip64_disagree: return Hint::recover_cuts;
    case Code::archive_model_missing: return Hint::kind_other;
    // Rules for names that only writers of archives obey.
    case Code::zip_name_character:
    case Code::zip_name_part_too_long:
    case Code::zip_name_part_end:
    case Code::zip_name_device: return Hint::pack_names_entries;
    // Files that zip tools write usually have these faults. Damaged files have others.
    case Code::zip_end_comment:
    case Code::zip_entry_descriptor:
    case Code::zip_entry_method:
    case Code::zip_entry_sizes:
    case Code::zip_entry_flags:
    case Code::zip_entry_comment:
    case Code::zip_entry_attributes:
    case Code::zip_entry_first_offset:
    case Code::zip_entry_order:
    case Code::zip_extra_malformed:
    case Code::zip_extra_unknown:
    case Code::zip_extra_alignment:
    case Code::zip_name_directory:
    case Code::zip_padding_alignment:
    case Code::archive_model_not_last: return Hint::repack_plain_zip;
    default: return Hint::none;
  }
}

Error Evidence::operator()(const Error& error) const {
  base::Annotation context{.file = zip};
  if (archive != nullptr) context.path = archive->path();
  if (path != nullptr) context.path = *path;
  const bool may_be_explained =
      kind(error.code()) == Kind::format && (error.path().empty() || error.path() == context.path);
  // Archives are opened under the editors' lock if an edit may be in progress; other readers take no lock.
  if (may_be_explained && zip != nullptr && is_being_edited(context.path)) return base::being_edited(context.path);
  if (graph && error.path().empty() && error.entry().empty()) {
    context.entry = graph->name;
    context.base = archive->locate(*graph).offset;
  }
  if (!graph_by_name.empty() && error.entry() == graph_by_name)
    context.advice = advice_on_graph(error.code(), graph_by_name, of_links);
  Error placed = base::annotate(error, context);
  if (!may_be_explained) return placed;
  const bool changed = archive != nullptr && may_come_from_change(error.code(), *archive);
  return changed ? base::changed_while_read(context.path) : advised(placed, *this);
}

}  // namespace onnxar
