#include "sink/publication.h"

#include <utility>

namespace onnxar {

Publication::~Publication() {
  if (existing_ == base::Existing::replace) return;
  for (base::OutputFile* file : published_) file->withdraw();
}

void Publication::publish(base::OutputFile& file) {
  file.prepare(sync_);
  note_folder(file.folder());
  published_.push_back(&file);  // before it has its name: afterwards, no memory for the note would leave it there
  try {
    // Names are synced by `sync_names`. A sync that fails in here would not tell whether the file has its name.
    file.publish(base::Sync::none);
  } catch (...) {
    published_.pop_back();  // the name is another file's, or free
    file.close();           // withdrawing the others may need the descriptor
    throw;
  }
}

void Publication::note_folder(const std::shared_ptr<const base::Folder>& folder) { unsynced_.insert(folder); }

void Publication::sync_names() {
  const auto folders = std::exchange(unsynced_, {});
  if (sync_ == base::Sync::none) return;
  for (const auto& folder : folders) folder->sync();
}

}  // namespace onnxar
