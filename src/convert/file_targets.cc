// Finds and checks the places of output files without changing anything.
#include "convert/file_targets.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <system_error>

#include "archive/keys.h"
#include "archive/output_options.h"
#include "base/paths.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

Error in_the_way(const fs::path& path, std::string_view what) {
  return {
      Code::usage_argument,
      base::concat(what, ", and a file of the model would be written there; choose a different output folder or name"),
      {},
      path};
}

/// True if the folder contains only folders, at any depth: a killed command leaves such a tree.
bool has_only_folders(const fs::path& folder) {
  return base::all_entries(folder, [](const fs::directory_entry& each) {
    std::error_code failed;
    return fs::is_directory(each.symlink_status(failed)) && has_only_folders(each.path());
  });
}

}  // namespace

void expect_empty(const base::Folder& folder) {
  if (folder.is_empty() || has_only_folders(folder.path())) return;
  throw Error(Code::output_not_empty,
              "the folder is not empty, and a model and its side files must not be mixed with other files; name a new "
              "or empty folder, or a file for the model alone",
              {}, folder.path());
}

Destination Destination::of(const fs::path& output, const fs::path& name, Format format) {
  const bool is_folder = !output.has_filename() || base::is_folder(output);
  if (output.empty() || !is_folder || format == Format::archive) return {output, {}};
  const fs::path stem = name.stem().empty() ? "model" : name.parent_path() / name.stem();
  return {base::named_folder(output),
          base::concat(os::slashed_text_of(stem), format == Format::textproto ? ".textproto" : graph_suffix)};
}

fs::path Destination::folder_above() const { return base::folder_of(path); }

FileTargets::FileTargets(const Destination& destination, const OutputOptions& options)
    : is_folder_(destination.is_folder()), existing_(is_folder_ ? base::Existing::refuse : existing_of(options)) {
  const fs::path& path = destination.path;
  if (is_folder_) {
    find_folder(path);
    root_ = path;
    model_.path = path / os::path_of(destination.model);
    model_.name = destination.model;
    expect_possible(os::path_of(model_.name));
  } else {
    model_ = base::find_target(path, existing_);
    root_ = model_.path.parent_path();
  }
  model_name_ = base::folded_copy(is_folder_ ? model_.name : os::text_of(model_.path.filename()));
  claim_folded(model_name_);
}

void FileTargets::find_folder(const fs::path& path) {
  if (base::is_folder(path)) {
    model_.folder = base::Folder::open(path);
    return expect_empty(*model_.folder);
  }
  model_.folder = base::Folder::open(base::folder_of(path));
  base::expect_no_file(path);
  to_make_ = path;
}

void FileTargets::expect_possible(const fs::path& name) const {
  for (const fs::path& part : name) static_cast<void>(base::link_status(model_.folder->path() / part));
}

void FileTargets::claim(const std::string& name) {
  const fs::path path = root_ / os::path_of(name);
  // On some file systems, names that differ only in case are one file.
  const std::string small = base::folded_copy(name);
  const std::size_t slash = small.find('/');
  // A file and a folder cannot share a path, so the first folder of a name is claimed with it.
  const std::string first = small.substr(0, slash);
  if (small == model_name_) throw in_the_way(path, "is the model itself");
  if (files_claimed_.contains(small)) throw in_the_way(path, "is named twice");
  if (files_claimed_.contains(first)) throw in_the_way(path, "is in a folder with the name of another file");
  if (slash == std::string::npos && folders_claimed_.contains(small)) throw in_the_way(path, "is also a folder");
  claim_folded(small);
  if (is_folder_) return expect_possible(os::path_of(name));  // it is new or empty, so no file is in the way
  const fs::file_status status = base::link_status(path);
  // The user chose only the path of the model. A link at any other name would lead to a file that the user did not
  // name.
  if (fs::is_symlink(status)) throw in_the_way(path, "is a symbolic link");
  base::expect_writable(path, existing_);
}

void FileTargets::claim_folded(const std::string& small) {
  files_claimed_.insert(small);
  if (const std::size_t slash = small.find('/'); slash != std::string::npos)
    folders_claimed_.insert(small.substr(0, slash));
}

}  // namespace onnxar
