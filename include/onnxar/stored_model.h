// Keeps models as ONNX Runtime optimised them, so that later sessions start sooner.
//
//   auto stored = onnxar::StoredModel::open("stored.onnxar", {.archive = "model.onnxar", .runtime = "1.32.0"});
//   if (!stored.is_stored()) {
//     use(stored.link(), stored.prepare());  // make a session that saves its optimised model there
//     stored.store();
//   }
//   use(stored.link());  // make a session without optimisations
//   stored.verify();
//
// onnxruntime.h has the calls of ONNX Runtime. Threads: calls are independent of each other.
#pragma once

#include "onnxar/link.h"

namespace ONNXAR_API onnxar {

/// The model of an archive as ONNX Runtime optimised it, with weights in the layout of its kernels, in a file from
/// which later sessions start sooner and whose pages they share.
///
/// Any user who can write to the file decides what sessions compute, so file, folder and its parent must belong to this
/// user or root, and no other user may be able to write to them. docs/onnxruntime.md ("Whom the cache trusts") has all
/// rules: owners and permissions, when a stored model is used, and what is remembered.
///
/// Beside FILE there are FILE.digest and FILE.seen (what is remembered), FILE.lock, FILE.refused (why the model cannot
/// be stored), and while the model is stored the folder FILE.part. Any number of processes may use one file or folder.
/// Move-only, for one thread.
class StoredModel {
 public:
  /// Identifies what the stored model was built from.
  struct Key {
    std::filesystem::path archive;
    std::string graph = {};     ///< as in LinkOptions
    std::string runtime = {};   ///< version and build of ONNX Runtime
    std::string settings = {};  ///< describes the session's settings in any form; ONNX Runtime does not expose them
  };

  /// Opens the stored model if there is one; a file that is damaged or has another key is not used. Throws, for the
  /// archive, what Archive::open, Archive::graph, `digest` and `make_link` throw. Cost: reads archive and file
  /// completely, unless the result is remembered.
  static StoredModel open(const std::filesystem::path& file, const Key& key);
  /// Opens a stored model in a folder that may hold many, and creates the folder. The file is `SHA-256.onnxar`, named
  /// after everything on which it depends.
  static StoredModel open_in(const std::filesystem::path& folder, const Key& key);
  [[nodiscard]] bool is_stored() const noexcept;
  /// Returns a link to the stored model (LinkForm::prepacked), or else to the archive (LinkForm::unmarked).
  [[nodiscard]] const Link& link() const& noexcept;
  const Link& link() const&& = delete;
  /// Creates the folder `FILE.part`, and returns the path in it to which ONNX Runtime must write the model, with its
  /// data in the file `data` there. Throws archive.busy (another process is storing it); io.* (.permission: see the
  /// rules above; .changed: the archive changed); output.exists (the file is the archive or not a stored model;
  /// something else is at `FILE.part`); usage.* (it is stored already, or was refused; make_link refuses the name).
  std::filesystem::path prepare();
  /// Stores what was written; call it once. `link` then changes. Removes the folder, even after an error. Throws io.*
  /// (.changed: the archive changed); usage.argument (no `prepare`; the written model has other inputs or outputs, and
  /// is refused); wire.*, onnx.*. Cost: O(bytes).
  void store();
  /// Remembers that this model cannot be stored, or that sessions of the stored model fail: `prepare` then throws
  /// usage.argument with the reason. Removes what was stored. Does nothing if it cannot write, or if archive or file
  /// were replaced in the meantime.
  void refuse(std::string_view why);
  /// Throws io.changed if the file of `link` changed since `open` or `store`. Call it after a session was made from it.
  void verify() const;
  /// Throws io.changed if the archive changed since `open`.
  void verify_archive() const;

 private:
  struct Parts;
  explicit StoredModel(detail::Owned<Parts> parts) noexcept;

  detail::Owned<Parts> parts_;
};

/// A model in a folder of `StoredModel::open_in`.
struct StoredFile {
  std::string archive;     ///< the path of the archive that it was made from
  std::string runtime;     ///< as in the key
  std::string why;         ///< why it cannot be stored; empty if it is stored
  std::uint64_t size = 0;  ///< bytes; 0 if it cannot be stored
  std::int64_t time = 0;   ///< nanoseconds since 1970
};

struct StoredFolder {
  std::vector<StoredFile> files;  ///< the latest first
  std::uint64_t unfinished = 0;   ///< bytes that processes are storing, or left when they were killed
};

/// Returns the stored models of a folder; none if there is no folder. Throws io.*.
StoredFolder list_stored(const std::filesystem::path& folder);

struct ClearedFolder {
  std::uint64_t removed = 0;  ///< stored models
  std::uint64_t busy = 0;     ///< not removed, since another process is storing them
};

/// Removes all stored models of a folder and this library's files beside them, and no others. Does not disturb
/// sessions. Throws io.*.
ClearedFolder clear_stored(const std::filesystem::path& folder);

}  // namespace ONNXAR_API onnxar
