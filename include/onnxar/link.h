// Archives for runtimes that do not read archives: as external data by a link, or as initializers by name.
//
// A stored entry is valid ONNX external data: `location` is the archive's file name, `offset` counts from the file's
// first byte, and `length` is the entry's. A *link* is the archive's model with every location rewritten in this way.
// It has some kilobytes, and is used as bytes for sessions that are made from memory, or as a small `.onnx` file beside
// the archive. Unmodified ONNX Runtime, onnx and onnx_ir then map the weights from the archive.
//
// `replace` (convert.h) keeps links valid: an old link finds the weights that it named. Writing an archive anew (pack,
// repack, undo, copying another archive over it) breaks its links, and a runtime would read wrong weights without
// noticing. A link therefore records the state of the archive in metadata_props, under `onnxar.link.*`. `verify_link`,
// `check`, and all functions of this library that read a link's data refuse it if the archive has a different
// state (spec/links.md).
//
// A *runtime model* needs no file: the archive may be in memory, part of another file, or removed since it was opened.
// ONNX Runtime takes one through `AddExternalInitializers`; onnxruntime.h does that.
//
// Threads: calls are independent of each other. Several threads may read one RuntimeModel.
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

/// The part of a file that is the archive: by default all of it. An archive may be embedded in another file, as for
/// `Archive::open` of a DescriptorRange.
struct ArchiveRange {
  std::uint64_t offset = 0;                  ///< bytes, a multiple of 64
  std::optional<std::uint64_t> length = {};  ///< bytes; absent: to the end of the file
};

/// A link in memory.
struct Link {
  std::vector<std::byte> model;  ///< a serialised ModelProto
  /// The real path, without symbolic links, of the archive's folder: ONNX Runtime's session option
  /// `session.model_external_initializers_file_folder_path`. ONNX Runtime refuses symbolic links in it.
  std::filesystem::path folder;
  std::string archive;             ///< the file's name in that folder: the location of all external data
  std::uint64_t archive_size = 0;  ///< bytes; the state that the link is for
  std::uint64_t tensors = 0;       ///< number of tensors whose data is in the archive
};

struct LinkOptions {
  OutputOptions output = {};  ///< `threads` does not apply
  ArchiveRange range = {};    ///< where in its file the archive is
};

/// Makes a link to the archive at `archive`, or to the archive in the part `range` of that file. The path may be a
/// symbolic link. Every tensor is rewritten, except that data of less than 128 bytes, and data in attributes of nodes
/// other than Constant, becomes inline: runtimes do not look for external data there, and some take a length of 0 for
/// the whole file. Checksums are left out: in a link they would be those of the whole file.
///
/// Errors: usage.argument (a file name that cannot be a location: it begins with `#`, contains `..`, or is not UTF-8; a
/// range that Archive::open refuses); usage.own_name (an entry has the file's name, apart from ASCII case); as
/// Archive::open; those of the model's tensors, as `pack`; zip.data.crc (of the model, and of data that becomes
/// inline); onnx.model.expansion (inline copies of shared data); onnx.model.too_large. Cost: O(directory + model), and
/// a read of the local header of every linked entry; no other byte of a weight is read. Memory: twice the model without
/// its large tensors, and about 1 KiB per tensor.
Link make_link(const std::filesystem::path& archive, const ArchiveRange& range = {});

/// What `link` did.
struct LinkReport {
  std::uint64_t tensors = 0;  ///< number of tensors whose data is in the archive
  /// Of these, those that are not initializers of the graph itself: in subgraphs, functions and attributes. Some
  /// runtimes do not look for external data there.
  std::uint64_t nested = 0;
  std::uint64_t model_bytes = 0;  ///< of the file that was written
};

/// Writes a link as the file `output`. It must be in the archive's real folder, since runtimes open external data
/// only below a model's folder. A link and its archive may be moved to another folder together.
///
/// The file appears only when it is complete. Errors: as `make_link`; usage.argument (a different folder, or the
/// archive itself); output.exists, io.*.
LinkReport link(const std::filesystem::path& archive, const std::filesystem::path& output,
                const LinkOptions& options = {});

/// The names that hubs of models, and libraries that load from them, give to a model and to its external data.
inline constexpr const char* hub_model_name = "model.onnx";
inline constexpr const char* hub_data_name = "model.onnx_data";

/// Writes a copy of the archive, or of the part of its file that is the archive, as `model.onnx_data` into an existing
/// folder, and a link to that copy as `model.onnx`. File systems that can share blocks do not copy the weights. An
/// archive that is that `model.onnx_data` already only gets the link.
///
/// Both files are complete before the first one appears, and the link appears last. Errors: as `link`; usage.own_name
/// (an entry is named `model.onnx_data`).
LinkReport link_for_hub(const std::filesystem::path& archive, const std::filesystem::path& folder,
                        const LinkOptions& options = {});

/// Whether the `.onnx` file at `model` is a link. Throws if it is a link whose archive is missing, or does not begin
/// with the state that the link records. False for an archive, for a model as text, and for a model with inline data or
/// data files. Errors: onnx.link.stale; onnx.link.bad_marker; onnx.external_data.missing and .outside (the archive);
/// wire.*, onnx.* (the model); io.*. Cost: O(model + directory); no weight is read. `check` with `data` finds more.
bool verify_link(const std::filesystem::path& model);

/// As above, for a link in memory whose archive is in `folder`.
bool verify_link(Bytes model, const std::filesystem::path& folder);

/// An initializer of the main graph.
struct RuntimeTensor {
  TensorInfo info;
  Bytes bytes;  ///< in the archive's mapping
};

/// A model for a runtime that takes initializers by name.
struct RuntimeModel {
  /// A serialised ModelProto. In it, `tensors` are external data with the locations that they have in the archive. The
  /// tensors that runtimes do not take by name (in attributes, subgraphs, functions, sparse tensors) are inline.
  std::vector<std::byte> model;
  std::vector<RuntimeTensor> tensors;
  std::shared_ptr<const void> owner;  ///< keeps their bytes alive; null if the caller of Archive::open does
};

/// Makes a runtime model of an open archive, which may be destroyed afterwards. Errors: those of the model's tensors,
/// as `pack`; zip.data.crc (of the copied bytes: the model, and data that becomes inline); onnx.model.too_large (the
/// model reaches 2 GiB because of them); onnx.model.expansion (tensors share data, and the model would have over 8
/// times the size of the archive). Cost: O(model + inline data), and a read of the local headers of linked entries.
RuntimeModel make_runtime_model(const Archive& archive);

// --- Deprecated names ------------------------------------------------------------------------------------------------

[[deprecated("use link")]]
inline LinkReport write_link(const std::filesystem::path& archive, const std::filesystem::path& output,
                             const LinkOptions& options = {}) {
  return link(archive, output, options);
}
using FedTensor [[deprecated("use RuntimeTensor")]] = RuntimeTensor;
using Feed [[deprecated("use RuntimeModel")]] = RuntimeModel;
[[deprecated("use make_runtime_model")]]
inline RuntimeModel make_feed(const Archive& archive) {
  return make_runtime_model(archive);
}

}  // namespace ONNXAR_API onnxar
