// Writes, reads and forgets the files of a target through os/, in a folder of its own.
#include "fuzz/scratch.h"

#include <system_error>

#include "fuzz/fuzz.h"
#include "os/error.h"
#include "os/file.h"
#include "os/folder.h"
#ifdef ONNXAR_FUZZ_IN_MEMORY
#include "fuzz/memory_os/files.h"
#else
#include "support/temp_dir.h"
#endif

namespace onnxar::fuzz {
namespace {

namespace fs = std::filesystem;

void succeed(const std::error_code& failed) { require(!failed, "the target's own files: " + failed.message()); }

os::File file_for_writing(const fs::path& path) {
  std::error_code failed;
  os::File file = os::open(path, os::Access::read_and_write, failed);
  if (os::reason_of(failed) != os::Reason::not_found) return succeed(failed), std::move(file);
  const os::File folder = os::open_folder(path.parent_path(), failed);
  succeed(failed);
  file = os::create_new(folder, path.filename(), failed);
  succeed(failed);
  return file;
}

}  // namespace

const fs::path& scratch() {
#ifdef ONNXAR_FUZZ_IN_MEMORY
  static const fs::path folder = "/scratch";
  static const bool made [[maybe_unused]] = (os::memory::make_root(folder), true);
  return folder;
#else
  static const testing::TempDir folder;
  return folder.path();
#endif
}

fs::path scratch_folder(std::string_view name) {
  fs::path path = scratch();
  for (const fs::path& part : fs::path(name)) {
    std::error_code failed;
    const os::File folder = os::open_folder(path, failed);
    succeed(failed);
    failed = os::make_folder(folder, part);
    if (os::reason_of(failed) != os::Reason::exists) succeed(failed);
    path /= part;
  }
  return path;
}

fs::path put(std::string_view name, Bytes bytes) {
  const fs::path relative(name);
  if (relative.has_parent_path()) scratch_folder(relative.parent_path().native());
  fs::path path = scratch() / relative;
  const os::File file = file_for_writing(path);
  std::error_code failed = os::set_size(file, bytes.size());
  succeed(failed);
  for (std::size_t done = 0; done < bytes.size();) {
    done += os::write_at(file, done, bytes.subspan(done), {}, failed);
    succeed(failed);
  }
  return path;
}

std::vector<std::byte> get(std::string_view name) {
  std::error_code failed;
  const os::File file = os::open(scratch() / name, os::Access::read, failed);
  succeed(failed);
  std::vector<std::byte> bytes(os::status_of(file, failed).size);
  require(os::read_fully_at(file, bytes, 0, failed) == bytes.size() && !failed, "the target's own file can be read");
  return bytes;
}

void forget_files() {
#ifdef ONNXAR_FUZZ_IN_MEMORY
  os::memory::forget_files();
#endif
}

}  // namespace onnxar::fuzz
