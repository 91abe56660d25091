// Opens files by paths that do not leave a folder, even through links.
#include "base/beneath.h"

#include "base/paths.h"
#include "os/error.h"
#include "os/folder.h"

namespace onnxar::base {
namespace {

namespace fs = std::filesystem;

os::File open_in(const fs::path& folder, const fs::path& relative, os::Links links, std::error_code& failed) {
  const os::File directory = os::open_folder(folder, failed);
  return directory.valid() ? os::open_beneath(directory, relative, links, failed) : os::File();
}

bool stays_inside(const fs::path& relative) { return !relative.empty() && *relative.begin() != ".."; }

/// Returns the first part of the path that is a link; empty if none is.
fs::path first_link(const fs::path& path) {
  fs::path here;
  for (const fs::path& part : path) {
    here /= part;
    std::error_code missing;
    if (fs::symlink_status(here, missing).type() == fs::file_type::symlink) return here;
  }
  return {};
}

/// True if `path`, which leads to nothing, would be in the folder. Follows its links as far as they lead.
bool would_be_in(const fs::path& folder, fs::path path) {
  std::error_code failed;
  for (int i = 0; i < most_links && !failed; ++i) {
    path = fs::weakly_canonical(path, failed);  // follows links up to the first one that leads to nothing
    const fs::path link = first_link(path);
    if (link.empty()) return !failed && stays_inside(path.lexically_relative(folder));
    path = link.parent_path() / fs::read_symlink(link, failed) / path.lexically_relative(link);
  }
  return false;
}

}  // namespace

os::File open_beneath(const fs::path& folder, const fs::path& second_folder, const fs::path& relative,
                      std::error_code& failed) {
  os::File file = open_in(folder, relative, os::Links::follow, failed);
  if (os::reason_of(failed) != os::Reason::outside) return file;
  std::error_code unresolved;
  const fs::path real = os::real_path(folder / relative, unresolved);
  const fs::path in_second = real.lexically_relative(second_folder);
  // Only a link may lead out of the folder, never the text of the path. `failed` still has the reason `outside`.
  if (relative.has_root_path() || !stays_inside(relative.lexically_normal())) return {};
  // Systems that open a path part by part do not report where a link leads.
  if (os::reason_of(unresolved) == os::Reason::not_found && would_be_in(folder, folder / relative)) failed = unresolved;
  if (unresolved || !stays_inside(in_second)) return {};
  // Another process may have replaced part of the resolved path by a link since, so no link is followed any more.
  return open_in(second_folder, in_second, os::Links::refuse, failed);
}

}  // namespace onnxar::base
