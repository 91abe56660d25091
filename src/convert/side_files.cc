#include "convert/side_files.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/entry_source.h"
#include "archive/keys.h"
#include "archive/new_names.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "convert/archive_walk.h"
#include "onnx/string_entry.h"
#include "onnxar/listing.h"
#include "zip/names.h"
#include "zip/unique_names.h"

namespace onnxar {
namespace {

SideFile side_file(const AddedFile& added) {
  if (is_identifier(added.name)) {
    throw Error(Code::usage_argument, base::concat("a side file cannot be named ", base::quoted(added.name),
                                                   ": C identifiers are keys of tensors; give it an extension"));
  }
  auto file = std::make_shared<const base::MappedFile>(base::MappedFile::open(added.path));
  auto source = std::make_shared<SpanSource>(file->bytes());
  return {added.name, std::make_shared<OwnedSource>(std::move(source), std::move(file))};
}

/// A file that is not a zip has none.
std::vector<SideFile> side_files_of(const std::filesystem::path& path) {
  std::vector<SideFile> files;
  const base::MappedFile file = base::MappedFile::open(path);
  if (!looks_like_zip(file.bytes())) return files;
  try {
    const auto archive = std::make_shared<const Archive>(Archive::open(path));
    for (const ArchiveEntry& entry : side_files(*archive)) {
      auto source = std::make_shared<EntrySource>(*archive, entry);
      files.push_back({std::string(entry.name), std::make_shared<OwnedSource>(std::move(source), archive)});
    }
  } catch (const Error& error) {
    throw Error(error.code(), base::concat(error.message(), "; its side files are to go along, and cannot be read"),
                error.finding().place, error.path());
  }
  return files;
}

/// Files by name, in the order in which the names came.
class NamedFiles {
 public:
  explicit NamedFiles(std::vector<SideFile> files) : files_(std::move(files)) {
    for (std::size_t i = 0; i < files_.size(); ++i) places_.try_emplace(files_[i].name, i);
  }

  void add(SideFile file) {
    if (places_.try_emplace(file.name, files_.size()).second) files_.push_back(std::move(file));
  }
  void add_or_replace(SideFile file) {
    const auto [place, added] = places_.try_emplace(file.name, files_.size());
    if (added) {
      files_.push_back(std::move(file));
    } else {
      files_[place->second] = std::move(file);
    }
  }

  std::vector<SideFile> result() && { return std::move(files_); }

 private:
  std::vector<SideFile> files_;
  base::KeyedMap<std::string, std::size_t> places_;
};

void rename(std::vector<SideFile>& files, const std::vector<RenamedEntry>& list) {
  if (list.empty()) return;
  Renames renames(list);
  for (SideFile& file : files) file.name = std::string(renames(file.name));
  renames.expect_all_met("side file");
}

/// What the writer would only come to after all of the weights.
void check_names(const std::vector<SideFile>& files) {
  for (const SideFile& file : files) {
    const Place place{file.name, std::nullopt};
    check_reserved(file.name, place);
    if (const auto fault = zip::name_fault(file.name)) {
      throw Error(fault->code, base::concat(fault->message, "; --rename OLD=NEW gives it another one"), place);
    }
  }
  static_cast<void>(zip::index_of_names(
      files.size(), [&files](std::uint32_t i) { return std::string_view(files[i].name); },
      [](std::uint32_t) { return std::optional<std::uint64_t>(); }));
}

}  // namespace

std::vector<ArchiveEntry> side_files(const Archive& archive, const LoadOptions& options) {
  std::vector<bool> used(archive.size());
  walk_archive(archive, options, [&](const onnx::TensorSite& site) {
    if (!site.tensor.is_external() || !site.tensor.external.location) return;
    if (const auto entry = archive.find(*site.tensor.external.location)) used[entry->index] = true;
  });
  std::vector<ArchiveEntry> files;
  for (std::size_t i = 0; i + 1 < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    if (!used[i] && !is_identifier(entry.name)) files.push_back(entry);  // as loading has it
  }
  return files;
}

std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive& archive) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  try {
    for (const onnx::MetadataEntry& found : onnx::find_metadata(archive.model(), "")) {
      pairs.emplace_back(found.entry.key, found.entry.value);
    }
  } catch (const Error& error) {
    throw located_in_model(archive, error);
  }
  return pairs;
}

void check_folders(const std::vector<SideFile>& files) {
  constexpr std::uint64_t always = 4096, folder_bytes = 4096, times = 8;
  std::uint64_t bytes = 0;
  std::vector<std::string_view> names;
  for (const SideFile& file : files) {
    bytes += file.name.size() + file.source->size();
    names.push_back(file.name);
  }
  std::ranges::sort(names);
  std::uint64_t folders = 0;
  std::string_view before;
  for (const std::string_view name : names) {  // neighbours share most of their folders
    const auto [end, ignored] = std::ranges::mismatch(name, before);
    folders += static_cast<std::uint64_t>(std::count(end, name.end(), '/'));
    before = name;
  }
  const std::uint64_t most = always + bytes / folder_bytes * times;
  if (folders <= most) return;
  throw Error(Code::zip_limit_folders,
              base::concat("its side files would be in ", folders, " folders, more than the ", most, " that files of ",
                           base::human_size(bytes),
                           " may be in; write the model alone, with -o FILE, or take files out with a zip tool"));
}

std::vector<SideFile> side_files_to_save(std::vector<SideFile> files, const SaveOptions& options) {
  NamedFiles named(std::move(files));
  if (!options.side_files_of.empty()) {
    for (SideFile& file : side_files_of(options.side_files_of)) named.add(std::move(file));
  }
  for (const AddedFile& added : options.add) named.add_or_replace(side_file(added));
  files = std::move(named).result();
  rename(files, options.rename);
  if (options.format == Format::archive) check_names(files);
  return files;
}

}  // namespace onnxar
