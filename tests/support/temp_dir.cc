// Makes, fills, lists and removes the temporary folder of a test.
#include "support/temp_dir.h"

#include <algorithm>
#include <fstream>
#include <ios>
#include <random>
#include <stdexcept>
#include <system_error>

#include "os/names.h"
#include "support/special_files.h"
#include "support/zip_directory.h"

namespace onnxar::testing {
namespace fs = std::filesystem;
namespace {

fs::path make_folder() {
  std::random_device random;
  while (true) {
    const fs::path folder = fs::temp_directory_path() / ("onnxar_test." + std::to_string(random()));
    if (!fs::create_directory(folder)) continue;
    fs::permissions(folder, fs::perms::owner_all);
    return folder;
  }
}

// A folder without permissions cannot be emptied, so these are given back from the top down.
void allow_everything(const fs::path& folder) {
  std::error_code ignored;
  fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, ignored);
  for (fs::directory_iterator it(folder, ignored); it != fs::directory_iterator(); it.increment(ignored)) {
    if (ignored) return;
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) allow_everything(it->path());
  }
}

}  // namespace

TempDir::TempDir() : path_(make_folder()) {}

TempDir::~TempDir() {
  allow_everything(path_);
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TempDir::operator/(std::string_view name) const { return path_ / os::path_of(name); }

fs::path TempDir::write_file(std::string_view name, std::span<const std::byte> bytes) const {
  const fs::path path = path_ / os::path_of(name);
  fs::create_directories(path.parent_path());
  make_way_for(path);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
  note_zip("written to a file", bytes);
  return path;
}

fs::path TempDir::write_file(std::string_view name, std::string_view text) const {
  return write_file(name, std::as_bytes(std::span(text)));
}

std::vector<std::byte> TempDir::read_file(std::string_view name) const {
  std::vector<std::byte> bytes = testing::read_file(path_ / os::path_of(name));
  note_zip("read from a file", bytes);
  return bytes;
}

std::string TempDir::read_text(std::string_view name) const {
  const std::vector<std::byte> bytes = read_file(name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> TempDir::file_names() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_)) {
    const bool folder = entry.is_directory() && !entry.is_symlink();
    names.push_back(os::slashed_text_of(entry.path().lexically_relative(path_)) + (folder ? "/" : ""));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || !fs::is_regular_file(path)) throw std::runtime_error("cannot read " + path.string());
  std::vector<std::byte> bytes(static_cast<std::size_t>(fs::file_size(path)));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw std::runtime_error("cannot read all of " + path.string());
  return bytes;
}

}  // namespace onnxar::testing
