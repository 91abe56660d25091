#include "sink/side_files.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "archive/keys.h"
#include "base/announced_size.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "source/payload.h"

namespace onnxar {

SideFile added_file(const AddedFile& added) {
  if (is_identifier(added.name)) {
    throw Error(Code::usage_argument,
                base::concat("a side file cannot be named ", base::quoted(added.name),
                             ": C identifiers are keys of tensors; give it an extension"),
                {added.name, std::nullopt}, added.path);
  }
  if (added.source) return {added.name, added.source};
  // Opened now, so that a missing file ends the verb before its output is opened. The source keeps the mapping.
  const auto file = std::make_shared<const base::MappedFile>(base::MappedFile::open(added.path));
  return {added.name, payload_of(ByteSpan::borrow(file->bytes(), file), file->origin()).source};
}

void reserve_names(KeyMaker& keys, const std::vector<SideFile>& side_files) {
  for (const SideFile& file : side_files) keys.reserve(file.name);
}

std::uint64_t size_of(const std::vector<SideFile>& side_files) {
  std::uint64_t size = 0;
  for (const SideFile& file : side_files)
    size = base::add_announced(size, file.source->size(), {file.name, std::nullopt});
  return size;
}

void check_folders(const std::vector<SideFile>& files, const std::filesystem::path& output) {
  // Names cost few bytes in an archive, and each folder costs the file system a block. Without this limit, a small
  // hostile archive could fill a disk with empty folders.
  constexpr std::uint64_t always = 4096, folder_bytes = 4096, times = 8;
  std::uint64_t bytes = size_of(files);
  std::vector<std::string_view> names;
  for (const SideFile& file : files) {
    bytes += file.name.size();
    names.push_back(file.name);
  }
  const std::uint64_t most = always + bytes / folder_bytes * times;
  std::ranges::sort(names);
  std::uint64_t folders = 0;
  std::string_view before, beyond;             // `beyond` needs the first folder over the limit
  for (const std::string_view name : names) {  // sorted neighbours: common folders count once
    const auto [end, ignored] = std::ranges::mismatch(name, before);
    folders += static_cast<std::uint64_t>(std::count(end, name.end(), '/'));
    before = name;
    if (beyond.empty() && folders > most) beyond = name;
  }
  if (folders <= most) return;
  throw Error(Code::zip_limit_folders,
              base::concat("its side files would be in ", folders, " folders, over the limit of ", most,
                           " for files of ", base::human_size(bytes)),
              {std::string(beyond), std::nullopt}, output, {Hint::unpack_model_alone});
}

}  // namespace onnxar
