#include "archive/archive_directory.h"

#include <string>
#include <utility>

#include "archive/file_kind.h"
#include "archive/keys.h"
#include "base/text.h"
#include "zip/directory.h"

namespace onnxar {

static_assert(OpenOptions().max_entries == zip::Limits().entries);
static_assert(OpenOptions().max_directory_size == zip::Limits().directory_size);

namespace {

void check_reserved_names(const zip::Directory& directory) {
  for (const zip::DirectoryEntry& entry : directory.entries()) {
    if (entry.name != model_entry_name && is_reserved_name(entry.name)) {
      throw Error(Code::archive_name_reserved,  // N13
                  "this version does not know the meaning of this reserved name; a newer reader is needed",
                  {std::string(entry.name), entry.central_offset});
    }
  }
}

void check_model(const zip::Directory& directory, const OpenOptions& options) {
  // The checks of spec/checking.md, steps 41 to 43, which need the directory only: the model itself is not read.
  const auto model = directory.find(model_entry_name);
  const zip::DirectoryEntry& last = directory.entries().back();
  if (!model) {
    throw Error(Code::archive_model_missing,  // P6
                base::concat("no entry is named ", model_entry_name, ": this zip file holds no ONNX model"),
                {"", directory.offset()});
  }
  const zip::DirectoryEntry& entry = directory.entries()[*model];
  if (*model + 1 != directory.entries().size()) {
    throw Error(Code::archive_model_not_last,  // P7
                base::concat("the model must be the last entry, but ", base::quoted(last.name), " follows it"),
                {std::string(entry.name), entry.central_offset});
  }
  if (entry.size > options.max_model_size) {
    throw Error(Code::archive_model_too_large,  // P8
                base::concat("a model of ", base::human_size(entry.size), " is over the limit of ",
                             base::human_size(options.max_model_size)),
                {std::string(entry.name), entry.central_offset});
  }
}

}  // namespace

zip::Directory read_directory(Bytes file, const base::RangedMemory* ranges, const OpenOptions& options) {
  try {
    zip::DirectoryReader reader(file.size(), {options.max_entries, options.max_directory_size});
    while (!reader.is_done()) {
      if (ranges != nullptr) ranges->need(reader.wants());
      reader.step(file);
    }
    zip::Directory directory = std::move(reader).take();
    // In the order of spec/checking.md, steps 41 to 44.
    check_model(directory, options);
    check_reserved_names(directory);
    return directory;
  } catch (const Error& error) {
    throw with_foreign_hint(error, file, ranges);
  }
}

}  // namespace onnxar
