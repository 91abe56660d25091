// Maps the files that the links of a model name, if they lie beneath its folder.
#include "convert/external_files.h"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "archive/file_kind.h"
#include "base/beneath.h"
#include "base/byte_range.h"
#include "base/open_file.h"
#include "base/paths.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "os/error.h"
#include "os/file.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

fs::path real_folder_of(const fs::path& file) {
  const fs::path folder = base::folder_of(file);
  std::error_code failed;
  fs::path real = os::real_path(folder, failed);
  if (failed) throw base::system_error(failed, "cannot enter the folder", folder);
  return real;
}

}  // namespace

std::optional<std::string> location_fault(std::string_view location) {
  if (location.empty()) return "is empty";
  // A system call would end the name there and open a different file.
  if (location.find('\0') != std::string_view::npos) return "contains a zero byte";
  const fs::path path = os::path_of(location);
  // The same rules apply to locations in foreign zips, where no file system enforces them.
  if (path.has_root_path()) return "is an absolute path; data must lie in the model's folder";
  if (std::ranges::find(path, fs::path("..")) != path.end())
    return "goes up with `..`; data must lie in the model's folder";
  return std::nullopt;
}

ExternalFiles::ExternalFiles(const fs::path& model, const fs::path& data_dir)
    : folder_(data_dir.empty() ? real_folder_of(model) : base::real_path(data_dir)),
      link_folder_(data_dir.empty() ? base::real_path(model).parent_path() : folder_),
      has_data_dir_(!data_dir.empty()),
      root_(folder_) {}

void ExternalFiles::look_in(const fs::path& root, std::vector<std::string> folders, std::shared_ptr<Files> files) {
  root_ = base::real_path(root);
  folders_ = std::move(folders);
  files_ = std::move(files);
}

Error ExternalFiles::missing(const Wanted& wanted, std::string_view fault) const {
  return {Code::onnx_external_missing,
          base::concat("the ", wanted.what, " ", base::quoted(wanted.location), fault, escaped_path(folder_)),
          wanted.place,
          {},
          {Hint::data_folder}};
}

/// Opens the file with one call that never leaves the folder. Checking the path first would be a race with a process
/// that puts a symbolic link there, and a downloaded model must not read `/etc/passwd` as a weight. Links may also lead
/// into the folder of the model's own file, because caches of downloaded models link single files into a folder.
ExternalFiles::Mapping ExternalFiles::open_in(const std::string& folder, const Wanted& wanted) {
  const fs::path name = os::path_of(folder) / os::path_of(wanted.location), path = root_ / name;
  std::error_code failed;
  const os::File file = base::open_beneath(root_, link_folder_, name, failed);
  if (!failed) {
    try {
      auto mapping = std::make_shared<const base::MappedFile>(base::MappedFile::map(file, path));
      if (is_lfs_pointer(mapping->bytes())) {
        throw Error(Code::onnx_external_missing, "the data file is missing", {}, path,
                    advice_on_kind(mapping->bytes()));
      }
      paths_.push_back(path.lexically_normal());
      return mapping;
    } catch (const Error& error) {
      if (error.code() != Code::io_not_a_file) throw;
      throw missing(wanted, " is not a regular file in ");  // a fault of the model, as a missing name is
    }
  }
  const os::Reason reason = os::reason_of(failed);
  if (reason == os::Reason::outside || reason == os::Reason::too_many_links) {
    throw Error(Code::onnx_external_outside,
                base::concat("the ", wanted.what, " ", base::quoted(wanted.location),
                             " leads out of the model's folder by a link"),
                wanted.place);
  }
  if (reason == os::Reason::not_found || reason == os::Reason::bad_name) return nullptr;
  throw base::system_error(failed, base::concat("cannot open the ", wanted.what), path);
}

ExternalFiles::Mapping ExternalFiles::open(const Wanted& wanted) {
  const std::string& location = wanted.location;
  if (const auto fault = location_fault(location)) {
    throw Error(Code::onnx_external_bad_location, base::concat("the location ", base::quoted(location), " ", *fault),
                wanted.place);
  }
  Mapping found;
  for (const std::string& folder : folders_) {
    Mapping file = open_in(folder, wanted);
    if (found && file && !std::ranges::equal(found->bytes(), file->bytes())) {
      throw Error(Code::usage_argument,
                  base::concat("the data file ", base::quoted(location), " is in ", base::quoted(folders_.front()),
                               " and in ", base::quoted(folder), ", with different bytes; remove the wrong one"),
                  wanted.place);
    }
    if (!found) found = std::move(file);
  }
  if (!found) throw missing(wanted, " is not in ");
  return found;
}

ExternalFiles::Mapping ExternalFiles::map(const std::string& location, std::uint64_t offset, std::string_view what) {
  // Thousands of tensors may name one data file. It is opened and mapped once.
  const auto known = by_location_.find(location);
  if (known != by_location_.end()) return known->second;
  return keep(location, open({location, Place{"", offset}, what}));
}

ExternalFiles::Mapping ExternalFiles::keep(const std::string& location, Mapping file) {
  // Different names of one file share a mapping. Extents compare addresses, so equal slices are written once.
  file = files_->try_emplace(std::pair(file->identity().device, file->identity().inode), file).first->second;
  by_location_.emplace(location, file);
  return file;
}

fs::path ExternalFiles::archive_path(const std::string& name, const std::string& folder) const {
  if (folder.empty() || has_data_dir_) return folder_ / os::path_of(name);
  return (link_folder_ / os::path_of(folder) / os::path_of(name)).lexically_normal();
}

ExternalFiles::Mapping ExternalFiles::map_archive(const std::string& name, const std::string& folder,
                                                  std::uint64_t offset) {
  if (folder.empty() || has_data_dir_ || location_fault(name)) return map(name, offset, "archive");
  const fs::path path = archive_path(name, folder);
  if (base::status_if_there(path)) {
    paths_.push_back(path);
    return keep(name, std::make_shared<const base::MappedFile>(base::MappedFile::open(path)));
  }
  throw Error(
      Code::onnx_external_missing,
      base::concat("the archive ", base::quoted(name), " of the link is not in ", escaped_path(path.parent_path())),
      {"", offset}, {}, {Hint::link_again});
}

ExternalFiles::Part ExternalFiles::resolve(const onnx::ExternalSlice& slice, std::optional<std::uint64_t> expected,
                                           std::uint64_t offset) {
  const Mapping file = map(slice.location, offset);
  const Bytes all = file->bytes();
  const std::uint64_t length =
      onnx::length_in(slice, expected, all.size(), "data file", offset, ": it was cut short, or is a different file");
  return {ByteSpan::borrow(base::section(all, slice.offset, length), file), file->origin(), length == all.size()};
}

std::optional<std::uint64_t> ExternalFiles::size_of(const std::string& location) const {
  if (location_fault(location)) return std::nullopt;
  std::error_code failed;
  const os::File file = base::open_beneath(root_, link_folder_, os::path_of(folders_.front()) / location, failed);
  try {
    if (!failed) return base::examine(file, {}, folder_ / os::path_of(location)).length;
  } catch (const Error&) {
    return std::nullopt;  // not a regular file, but a folder or a pipe
  }
  return std::nullopt;
}

std::uint64_t ExternalFiles::size() const {
  std::set<const base::MappedFile*> files;
  std::uint64_t size = 0;
  for (const auto& [location, file] : by_location_)
    if (files.insert(file.get()).second) size += file->bytes().size();
  return size;
}

}  // namespace onnxar
