// Links: an archive's model for runtimes that know nothing of archives.
//
// A stored entry is legal ONNX external data as it is: `location` = the archive's file name, `offset` from the file's
// first byte, `length`. A link is the archive's model with every reference rewritten so, some kilobytes, as bytes for
// sessions that are created from memory or as a small `.onnx` file beside the archive. Unmodified ONNX Runtime, onnx
// and onnx_ir then map the weights out of the archive.
//
// `replace` (replace.h) keeps links whole: an old one goes on finding the weights that it named. Writing an archive
// anew (pack, repack, undo, copying another one over it) breaks its links, and a runtime would read wrong weights
// without noticing. So a link says in metadata_props, under `onnxar.link.*`, which state of the archive it is for;
// `verify_link`, `check` and whatever of this library reads a link's data refuse one whose archive is not in that
// state any more (spec/links.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// Where in a file the archive is that a link is for: all of it, unless it says otherwise. Other archives are embedded
/// in a file, as `Archive::open` of a DescriptorRange reads them.
struct ArchiveRange {
  std::uint64_t offset = 0;                  ///< bytes, a multiple of 64
  std::optional<std::uint64_t> length = {};  ///< bytes; absent: to the end of the file
};

/// A link in memory.
struct Link {
  std::vector<std::byte> model;  ///< a serialised ModelProto
  /// The real path, free of symbolic links, of the folder that the archive is in: ONNX Runtime's session option
  /// `session.model_external_initializers_file_folder_path`. It refuses data that is reached by a symbolic link.
  std::filesystem::path folder;
  std::string archive;             ///< the file's name in that folder: the location of all external data
  std::uint64_t archive_size = 0;  ///< bytes; the state that the link is for
  std::uint64_t tensors = 0;       ///< whose data is in the archive
};

/// Of `write_link`.
struct LinkOptions {
  OutputOptions output = {};  ///< `threads` does not apply
  ArchiveRange range = {};    ///< where in its file the archive is
};

/// The link to the archive at `archive`, which may be a symbolic link to it, or in the file there. Every tensor site is
/// rewritten, but that data of less than 128 bytes, and what stands in attributes of nodes other than Constant, comes
/// inline: runtimes do not look for external data there, and to some a length of 0 means all of the file. Checksums are
/// left out: in a link they would be of the whole file.
///
/// Errors: usage.argument (a file name that cannot be a location: it begins with `#`, has `..` in it, or is no UTF-8; a
/// range that Archive::open refuses); usage.own_name (an entry has the file's name, ASCII case aside); as
/// Archive::open; those of the model's tensors, as `convert`; zip.data.crc (of the model, and of data that comes
/// inline); onnx.model.too_large. Cost: O(directory + model), and a read of every linked entry's local header; no other
/// byte of a weight is touched. Memory: the model without its large tensors, twice, and some 1 KiB a tensor.
Link make_link(const std::filesystem::path& archive, const ArchiveRange& range = {});

/// What `link` did.
struct LinkReport {
  std::uint64_t tensors = 0;      ///< whose data is in the archive
  std::uint64_t model_bytes = 0;  ///< of the file that was written
};

/// Writes the link as the file `output`. It has to lie in the archive's real folder, as runtimes open external data
/// beneath a model's folder only; a link with its archive may be moved to another folder together.
///
/// The file appears whole or not at all. Errors: as `make_link`; usage.argument (another folder, or the archive
/// itself); output.exists, io.*.
LinkReport link(const std::filesystem::path& archive, const std::filesystem::path& output,
                const LinkOptions& options = {});

[[deprecated("use link")]]
inline LinkReport write_link(const std::filesystem::path& archive, const std::filesystem::path& output,
                             const LinkOptions& options = {}) {
  return link(archive, output, options);
}

/// Whether the `.onnx` file at `model` is a link, after proving that its archive is there and still begins with the
/// state that the link is for. False for a model that is none: an archive, data inside or in files of its own.
/// Errors: onnx.link.stale; onnx.link.bad_marker; onnx.external_data.missing and .outside (the archive); wire.*,
/// onnx.* (the model); io.*. Cost: O(model + directory); no weight is touched, so `check --data` sees more.
bool verify_link(const std::filesystem::path& model);

/// The same for a link in memory whose archive is in `folder`.
bool verify_link(Bytes model, const std::filesystem::path& folder);

// --- feed.h ---
// An archive for runtimes that take initializers by name, as bytes in memory.
//
// Where a link (link.h) has the runtime open the archive's file, a feed needs no file: the archive may be in memory,
// part of another file, or removed since it was opened. ONNX Runtime takes one by `AddExternalInitializers`
// (onnxruntime.h does that).

/// An initializer of the main graph.
struct RuntimeTensor {
  TensorInfo info;
  Bytes bytes;  ///< in the archive's mapping
};

/// What a runtime is given.
struct RuntimeModel {
  /// A serialised ModelProto. The tensors below are external data in it, with the locations that they have in the
  /// archive; those that runtimes cannot be given by name (of attributes, subgraphs, functions, sparse tensors) have
  /// their data inside.
  std::vector<std::byte> model;
  std::vector<RuntimeTensor> tensors;
  std::shared_ptr<const void> owner;  ///< keeps their bytes alive; null where the caller of Archive::open does
};

/// The feed of an open archive, which may be gone afterwards. Errors: those of the model's tensors, as `convert`;
/// zip.data.crc (of what is copied: the model, and data that goes inside); onnx.model.too_large, where that makes the
/// model 2 GiB; onnx.model.expansion, where tensors share so much of it that it is over 8 times the archive. Cost:
/// O(model + data that goes inside), and a read of the local headers of linked entries.
RuntimeModel make_runtime_model(const Archive& archive);

}  // namespace ONNXAR_API onnxar
