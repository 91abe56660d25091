// A model of several files, which appear together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/buffered_output.h"
#include "base/keyed_hash.h"
#include "base/output_file.h"
#include "onnxar/byte_source.h"
#include "onnxar/options.h"

namespace onnxar {

/// The model's file and others beneath its folder. All targets are claimed first, which finds those that cannot be;
/// then the others are written, then the model; `publish` gives them their names, the model's last, so that whoever
/// sees it finds its data, too. A destructor discards what was not published, and the folders that were made for it.
/// Not synchronised.
class FileSet {
 public:
  /// Errors: as OutputFile::create.
  FileSet(const std::filesystem::path& model, const SaveOptions& options);
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;
  ~FileSet();

  /// Makes `name`, a path beneath the model's folder, one of the files.
  /// Errors: output.exists; usage.argument (it is the model's name, is claimed twice, or a link stands in its way);
  /// io.not_a_file.
  void claim(const std::string& name);
  /// Writes a claimed file of `size` bytes. Errors: io.*.
  void write(const std::string& name, std::uint64_t size, const std::function<void(base::BufferedOutput&)>& fill);
  /// Writes the model and publishes all. Errors: io.*, output.exists (a target appeared meanwhile).
  void publish(const ByteSource& model);

  /// Where the model goes: links are followed.
  [[nodiscard]] const std::filesystem::path& model() const noexcept { return model_.target(); }

 private:
  void make_folders(const std::filesystem::path& relative);
  void publish_files();

  const SaveOptions& options_;
  base::OutputFile model_;
  std::filesystem::path folder_;
  base::KeyedSet<std::string> claimed_;
  std::vector<base::OutputFile> files_;
  std::vector<std::filesystem::path> made_;  // folders, outer ones first
};

}  // namespace onnxar
