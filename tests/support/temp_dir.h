// A temporary folder for one test.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onnxar::testing {

/// In the folder of the system for temporary files. The destructor removes the folder and its contents, even if a
/// test changed permissions.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const;

  /// Writes or replaces a file, with the folders above it. Returns its path.
  std::filesystem::path write_file(std::string_view name, std::span<const std::byte> bytes) const;
  std::filesystem::path write_file(std::string_view name, std::string_view text) const;
  [[nodiscard]] std::vector<std::byte> read_file(std::string_view name) const;
  [[nodiscard]] std::string read_text(std::string_view name) const;

  /// Everything in the folder and below, hidden files too: paths relative to the folder, sorted, folders with
  /// a slash at the end. Shows files that remain.
  [[nodiscard]] std::vector<std::string> file_names() const;

 private:
  std::filesystem::path path_;
};

/// The bytes of a file anywhere. Throws std::runtime_error when it cannot be read.
std::vector<std::byte> read_file(const std::filesystem::path& path);

}  // namespace onnxar::testing
