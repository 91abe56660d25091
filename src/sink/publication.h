// Gives several files their names, all or none.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "base/folder.h"
#include "base/output_file.h"

namespace onnxar {

/// Publishes files one after the other. The destructor takes their names away again unless `keep` was called, so that a
/// failure leaves no part of an output. Files that replaced others stay: the old ones are gone, and without the new
/// ones even more would be lost. The files must outlive it. Not synchronised.
class Publication {
 public:
  Publication(base::Existing existing, base::Sync sync) noexcept : existing_(existing), sync_(sync) {}
  Publication(const Publication&) = delete;
  Publication& operator=(const Publication&) = delete;
  ~Publication();

  /// Gives a file its name. Errors: as OutputFile::publish.
  void publish(base::OutputFile& file);
  /// Notes a folder that got other names, such as those of folders in it, for `sync_names`.
  void note_folder(const std::shared_ptr<const base::Folder>& folder);
  /// Waits until the disk has the names of all files that were published so far: one sync for each folder, however many
  /// files are in it. Errors: io.*.
  void sync_names();
  /// Lets the files stay.
  void keep() noexcept { published_.clear(); }

 private:
  base::Existing existing_;
  base::Sync sync_;
  std::vector<base::OutputFile*> published_;
  std::set<std::shared_ptr<const base::Folder>> unsynced_;
};

}  // namespace onnxar
