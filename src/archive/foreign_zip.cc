// Finds the model in a foreign zip by its name, and the exporter by what is in the model.
#include "archive/foreign_zip.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/wire.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "zip/names.h"

namespace onnxar {
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

/// Returns the only `*.onnx` directly in `folder`, the common folder of all files. Throws archive.model.missing if
/// there is none, or if there are several.
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

/// Describes the dialect: `a PyTorch export (ZIP_ARCHIVE)`.
std::string_view text_of(Dialect dialect) noexcept {
  switch (dialect) {
    case Dialect::archive: return "a zip with the entries of an archive";
    case Dialect::pytorch: return "a PyTorch export (ZIP_ARCHIVE)";
    case Dialect::tf2onnx: return "a tf2onnx export (--large_model)";
    case Dialect::files: return "a zip of a .onnx file and its data files";
  }
  return "a zip";
}

}  // namespace

bool may_be_foreign_zip(Code code) noexcept {
  if (code == Code::zip_data_crc) return false;  // the data is damaged, but the file is a valid zip
  return id(code).starts_with("zip.") || code == Code::archive_model_missing || code == Code::archive_model_not_last;
}

std::string read_as(Dialect dialect) {
  return concat("the input is not an archive; it was read as ", text_of(dialect));
}

// Searches the pieces as they come, because the model may be deflated. Parsing would need the whole model in memory
// before the zip is even accepted.
bool may_have_stand_ins(const ByteSource& model) {
  std::string field;
  onnx::append_bytes_field(field, onnx::tensor_field::raw_data, stand_in);
  return has_text(model, field);
}

bool has_text(const ByteSource& source, std::string_view text) {
  constexpr std::size_t step = 64U << 10U;
  const std::boyer_moore_horspool_searcher wanted(text.begin(), text.end());
  std::string window;  // the next bytes, after the last ones that were searched: pieces may split the text
  bool found = false;
  source.read([&](Bytes piece) {
    while (!found && !piece.empty()) {
      const Bytes next = piece.first(std::min(piece.size(), step));
      window += as_text(next);
      found = std::search(window.begin(), window.end(), wanted) != window.end();
      window.erase(0, window.size() - std::min(window.size(), text.size() - 1));
      piece = piece.subspan(next.size());
    }
  });
  return found;
}

bool is_left_out(const zip::ForeignEntry& entry) noexcept {  // F8
  return entry.folder || entry.name.starts_with(finder_folder);
}

ForeignModel find_foreign_model(Bytes file, const zip::ForeignDirectory& directory, ZipExpansion& expansion) {
  std::string folder = common_folder(directory);
  const auto plain = directory.find(folder + std::string(model_entry_name));
  const auto suffixed = directory.find(folder + std::string(tf2onnx_model_name));
  const auto entries = directory.entries();
  if (plain && suffixed) refuse_many(entries[*plain], entries[*suffixed]);
  // The fixed names come first: an archive or an export may also contain `.onnx` files, which are not its model.
  const std::size_t index = suffixed ? *suffixed : plain ? *plain : find_onnx_file(directory, folder);
  expansion.add(entries[index]);
  Dialect dialect = suffixed ? Dialect::tf2onnx : Dialect::files;
  if (plain)
    dialect = may_have_stand_ins(*zip::data_source(file, entries[index])) ? Dialect::pytorch : Dialect::archive;
  return {index, dialect, std::move(folder)};
}

}  // namespace onnxar
