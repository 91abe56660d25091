#include "archive/foreign_zip.h"

#include <optional>
#include <string>

#include "base/checked.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "zip/format.h"
#include "zip/names.h"

namespace onnxar {
void ZipExpansion::add(const zip::ForeignEntry& entry) {
  if (budget_.add(entry.size)) return;
  // The sum does not wrap: sizes are at most a thousand times the stored ones, and entries do not overlap.
  refuse(budget_.made() + entry.size, {std::string(entry.name), entry.central_offset});
}

void ZipExpansion::check(std::uint64_t bytes) const {
  if (!budget_.allows(bytes)) refuse(bytes, {});
}

void ZipExpansion::refuse(std::uint64_t bytes, const Place& place) const {
  const std::uint64_t needed = (bytes - 1) / budget_.input() + 1;
  throw Error(Code::zip_limit_expansion,  // F35
              base::concat("a zip file of ", base::human_size(budget_.input()), " would expand to ",
                           base::human_size(bytes), " or more, and the limit is ", budget_.times(), " times the file"),
              place, {}, {Hint::max_expansion_of, std::to_string(needed)});
}

void Spool::make_file() {
  base::OutputFile file = base::OutputFile::create_nameless(folder_);
  // A sparse file of the whole capacity can be mapped once. Growing it would need new mappings and move the bytes.
  file.set_size(capacity_);
  mapping_.emplace(file.map());
  file_.emplace(std::move(file));
}

Bytes Spool::place_of(std::uint64_t header_offset, std::uint64_t size) {
  const std::scoped_lock lock(mutex_);
  if (!file_) make_file();
  const auto [place, added] = places_.try_emplace(header_offset, Place{end_, size, false});
  if (added) end_ = base::align_up(end_ + size, zip::alignment_minimum);
  return base::section(mapping_->bytes(), place->second.offset, size);
}

Bytes Spool::bytes(std::uint64_t header_offset, const Fill& fill) {
  const std::scoped_lock lock(mutex_);
  Place& place = places_.at(header_offset);
  if (!place.filled) {
    std::uint64_t offset = place.offset;
    // Written by system calls: if the disk is full, they fail, while a store to the mapping raises SIGBUS.
    fill([&](Bytes piece) {
      file_->write_at(offset, piece);
      offset += piece.size();
    });
  }
  place.filled = true;  // not reached if `fill` threw, so the next call fills again
  return base::section(mapping_->bytes(), place.offset, place.size);
}

namespace {

using base::concat;

constexpr std::string_view tf2onnx_model_name = "__MODEL_PROTO.onnx";
constexpr std::string_view finder_folder = "__MACOSX/";

bool has_onnx_suffix(std::string_view name) {
  constexpr std::string_view suffix = ".onnx";
  return name.size() > suffix.size() && zip::equal_folded(name.substr(name.size() - suffix.size()), suffix);
}

/// Returns the top-level folder that contains all files; empty if the files have no common folder.
std::string common_folder(const zip::ForeignDirectory& directory) {
  std::optional<std::string_view> folder;
  for (const zip::ForeignEntry& entry : directory.entries()) {
    if (is_left_out(entry)) continue;
    const std::string_view here = entry.name.substr(0, entry.name.find('/') + 1);
    if (folder && *folder != here) return "";
    folder = here;
  }
  return std::string(folder.value_or(""));
}

[[noreturn]] void refuse_many(const zip::ForeignEntry& first, const zip::ForeignEntry& second) {
  throw Error(Code::archive_model_missing,  // F39
              concat("the zip contains two models, ", base::quoted(first.name), " and this one: remove one of them"),
              {std::string(second.name), second.central_offset});
}

[[noreturn]] void refuse_none(const zip::ForeignDirectory& directory) {
  throw Error(Code::archive_model_missing,  // F39
              concat("no ", model_entry_name, ", ", tf2onnx_model_name,
                     " or .onnx file is in the root of this zip file, or in its only folder: it holds no ONNX model"),
              {"", directory.offset()});
}

/// Returns the only `*.onnx` directly in `folder`, the common folder of all files. Errors: archive.model.missing (none,
/// or several).
std::size_t find_onnx_file(const zip::ForeignDirectory& directory, std::string_view folder) {
  const auto entries = directory.entries();
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_left_out(entries[i])) continue;
    const std::string_view rest = entries[i].name.substr(folder.size());
    if (rest.find('/') != std::string_view::npos || !has_onnx_suffix(rest)) continue;
    if (found) refuse_many(entries[*found], entries[i]);
    found = i;
  }
  if (!found) refuse_none(directory);
  return *found;
}

}  // namespace

std::string_view to_string(Dialect dialect) noexcept {
  switch (dialect) {
    case Dialect::archive: return "a zip with the entries of an archive";
    case Dialect::pytorch: return "a PyTorch export (ZIP_ARCHIVE)";
    case Dialect::tf2onnx: return "a tf2onnx export (--large_model)";
    case Dialect::files: return "a zip of a .onnx file and its data files";
  }
  return "a zip";
}

bool is_left_out(const zip::ForeignEntry& entry) noexcept {  // F8
  return entry.folder || entry.name.starts_with(finder_folder);
}

ForeignModel find_foreign_model(Bytes file, const zip::ForeignDirectory& directory, ZipExpansion& expansion,
                                const HasStandIns& has_stand_ins) {
  std::string folder = common_folder(directory);
  const auto plain = directory.find(folder + std::string(model_entry_name));
  const auto suffixed = directory.find(folder + std::string(tf2onnx_model_name));
  const auto entries = directory.entries();
  if (plain && suffixed) refuse_many(entries[*plain], entries[*suffixed]);
  // The fixed names come first: an archive or an export may also contain `.onnx` files, which are not its model.
  const std::size_t index = suffixed ? *suffixed : plain ? *plain : find_onnx_file(directory, folder);
  expansion.add(entries[index]);
  Dialect dialect = suffixed ? Dialect::tf2onnx : Dialect::files;
  if (plain) dialect = has_stand_ins(*zip::data_source(file, entries[index])) ? Dialect::pytorch : Dialect::archive;
  return {index, dialect, std::move(folder)};
}

}  // namespace onnxar
