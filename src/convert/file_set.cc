#include "convert/file_set.h"

#include <sys/stat.h>

#include <cerrno>
#include <ranges>

#include "base/file_status.h"
#include "base/text.h"
#include "convert/placing.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// Files that may stay open and nameless until they are published; others wait under hidden names.
constexpr std::size_t most_open = 64;

Error in_the_way(const fs::path& path, std::string_view what) {
  return {Code::usage_argument,
          base::concat(what, ", and a file of the model would be written there; choose another output folder or name"),
          {},
          path};
}

}  // namespace

FileSet::FileSet(const fs::path& model, const SaveOptions& options)
    : options_(options),
      model_(base::OutputFile::create(model, existing(options))),
      folder_(model_.target().has_parent_path() ? model_.target().parent_path() : ".") {}

FileSet::~FileSet() {
  files_.clear();
  std::error_code ignored;  // a folder that somebody uses by now stays
  for (const fs::path& folder : std::views::reverse(made_)) fs::remove(folder, ignored);
}

void FileSet::claim(const std::string& name) {
  const fs::path target = folder_ / name;
  if (target == folder_ / model_.target().filename()) throw in_the_way(target, "is the model itself");
  if (!claimed_.insert(target.string()).second) throw in_the_way(target, "is named twice");
  for (fs::path parent = target.parent_path(); parent != folder_; parent = parent.parent_path()) {
    const fs::file_status status = base::link_status(parent);
    if (fs::is_symlink(status)) throw in_the_way(parent, "is a symbolic link");
    if (fs::exists(status) && !fs::is_directory(status)) throw in_the_way(parent, "is no folder");
  }
  const fs::file_status status = base::link_status(target);
  if (fs::is_symlink(status)) throw in_the_way(target, "is a symbolic link");
  base::OutputFile::check_target(target, existing(options_));
}

void FileSet::make_folders(const fs::path& relative) {
  fs::path folder = folder_;
  for (const fs::path& part : relative) {
    folder /= part;
    if (::mkdir(folder.c_str(), 0777) == 0) {
      made_.push_back(folder);
    } else if (errno != EEXIST) {
      throw base::system_error(errno, "cannot make the folder", folder);
    } else if (fs::is_symlink(base::link_status(folder))) {
      throw in_the_way(folder, "is a symbolic link");
    }
  }
}

void FileSet::write(const std::string& name, std::uint64_t size,
                    const std::function<void(base::BufferedOutput&)>& fill) {
  make_folders(fs::path(name).parent_path());
  base::OutputFile file = base::OutputFile::create(folder_ / name, existing(options_));
  if (file.target() != folder_ / name) throw in_the_way(folder_ / name, "is a symbolic link");
  base::BufferedOutput out(std::move(file), options_.sync);
  out.reserve(size);
  fill(out);
  files_.push_back(std::move(out).finish());
  if (files_.size() > most_open) files_.back().park(sync_of(options_));
}

void FileSet::publish(const ByteSource& model) {
  base::BufferedOutput out(std::move(model_), options_.sync);
  out.reserve(model.size());
  model.read([&out](Bytes piece) { out.append(piece); });
  model_ = std::move(out).finish();
  // What needs room on the disk comes before the first name appears.
  for (base::OutputFile& file : files_) file.prepare(sync_of(options_));
  model_.prepare(sync_of(options_));
  for (base::OutputFile& file : files_) file.stage();
  model_.stage();
  publish_files();
  made_.clear();
}

void FileSet::publish_files() {
  std::size_t published = 0;
  try {
    for (; published < files_.size(); ++published) files_[published].publish(sync_of(options_));
    model_.publish(sync_of(options_));
  } catch (const Error&) {
    std::error_code ignored;
    for (std::size_t i = 0; i < published && !options_.replace; ++i) fs::remove(files_[i].target(), ignored);
    throw;
  }
}

}  // namespace onnxar
