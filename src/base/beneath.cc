#include "base/beneath.h"

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

}  // namespace

os::File open_beneath(const fs::path& folder, const fs::path& second_folder, const fs::path& relative,
                      std::error_code& failed) {
  os::File file = open_in(folder, relative, os::Links::follow, failed);
  if (os::reason_of(failed) != os::Reason::outside) return file;
  std::error_code unresolved;
  const fs::path real = os::real_path(folder / relative, unresolved);
  const fs::path in_second = real.lexically_relative(second_folder);
  // Only a link may lead out, never the text of the path. `failed` still has the reason `outside`.
  if (unresolved || relative.has_root_path()) return {};
  if (!stays_inside(relative.lexically_normal()) || !stays_inside(in_second)) return {};
  // Another process may have replaced part of the resolved path by a link since, so no link is followed any more.
  return open_in(second_folder, in_second, os::Links::refuse, failed);
}

}  // namespace onnxar::base
