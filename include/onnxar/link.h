// Makes archives usable for runtimes that do not read archives.
//
//   onnxar::link("model.onnxar", "linked.onnx");  // a few kilobytes; runtimes map the weights from the archive
//   const onnxar::RuntimeModel model = onnxar::make_runtime_model(archive);  // or: initializers by name
//
// A stored entry is valid ONNX external data. A *link* is a copy of the archive's model in which every location is the
// archive's file name, with offset and length in that file. It is an `.onnx` file beside the archive, or bytes for
// sessions that are made from memory. Unmodified ONNX Runtime, onnx and onnx_ir load it.
// An edit keeps links valid. Rewriting the archive breaks them, and a runtime would read wrong weights without
// noticing. So a link records the state of the archive (spec/links.md), and this library refuses the link if the state
// differs.
// A *runtime model* needs no file. ONNX Runtime takes one through `AddExternalInitializers` (onnxruntime.h).
//
// Threads: calls are independent of each other. Several threads may read one RuntimeModel.
#pragma once

#include "onnxar/archive.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace ONNXAR_API onnxar {

/// A link in memory.
struct Link {
  std::vector<std::byte> model;  ///< a serialised ModelProto
  /// The archive's folder, for ONNX Runtime's session option `session.model_external_initializers_file_folder_path`.
  /// Its path has no symbolic links, which ONNX Runtime refuses.
  std::filesystem::path folder;
  std::string archive;             ///< the file's name in that folder
  std::uint64_t archive_size = 0;  ///< bytes; the state that the link is for
  std::uint64_t tensors = 0;       ///< with data in the archive
  std::vector<Finding> remarks;    ///< onnx.graph.duplicate: runtimes may take any of several definitions
};

struct LinkOptions {
  OutputOptions output = {};                 ///< `threads` does not apply
  std::uint64_t offset = 0;                  ///< bytes, a multiple of 64: where in its file the archive begins
  std::optional<std::uint64_t> length = {};  ///< bytes of the archive; absent: to the end of the file
  std::string graph = {};                    ///< named as for Archive::graph; empty: the model
};

/// The form of a result of `make_link`. The last two are not links as in spec/links.md: they do not record the state of
/// the archive, so nothing notices when it changes. They are for copies of optimised models that ONNX Runtime stores.
enum class LinkForm : std::uint8_t {
  link,
  unmarked,  ///< without the pairs `onnxar.link.*`, which ONNX Runtime would store in its copy
  /// Also keeps the ranges that ONNX Runtime recorded for prepacked weights (pairs `prepacked_N` of `external_data`),
  /// with offsets in the archive's file. ONNX Runtime computes with these ranges, and no check compares them with the
  /// weights. So use this only for archives that were made on this machine from what ONNX Runtime wrote.
  prepacked,
};

/// Makes a link to an archive, whose path may be a symbolic link. Data of less than 128 bytes, and data in attributes
/// of nodes other than Constant, becomes inline: runtimes do not search such attributes for external data, and some
/// take a length of 0 to mean the whole file. Checksums are left out: they would have to cover the whole file. Ignores
/// `options.output`. Throws usage.argument (a file name with `#` first or `..`, or not in UTF-8; a wrong `offset`);
/// usage.own_name (an entry has the file's name, ignoring case); what Archive::open throws; onnx.* (.model.expansion:
/// inline copies of shared data); zip.data.crc (of what is copied); onnx.external_data.out_of_range (prepacked weights
/// that are kept do not lie in the tensor's entry). Cost: O(directory + model), and a local header for each linked
/// entry. Memory: twice the model without its large tensors, and about 1 KiB per tensor.
Link make_link(const std::filesystem::path& archive, const LinkOptions& options = {}, LinkForm form = LinkForm::link);

struct LinkReport {
  std::uint64_t tensors = 0;      ///< with data in the archive
  std::uint64_t nested = 0;       ///< those in subgraphs, functions and attributes
  std::uint64_t model_bytes = 0;  ///< of the file that was written
  std::filesystem::path path;     ///< that file
  std::vector<Finding> remarks;   ///< as in Link
};

/// Writes a link as the file `output` in the archive's real folder, because runtimes open external data only there.
/// Link and archive may be moved to another folder together. The file appears only when it is complete. Throws what
/// `make_link` throws; usage.argument (another folder, or the archive itself); output.exists, io.*.
LinkReport link(const std::filesystem::path& archive, const std::filesystem::path& output,
                const LinkOptions& options = {});

/// Writes a link for the model and one for each additional graph into the folder of the archive. A link has the name of
/// its graph; a model without a name uses the archive's stem. All are complete before the first appears. Ignores
/// `options.graph`. Throws what `link` throws.
std::vector<LinkReport> link_graphs(const std::filesystem::path& archive, const LinkOptions& options = {});

/// Says where `link_folder` puts the archive.
enum class ArchivePlace : std::uint8_t {
  automatic,  ///< if links need it in the folder, a copy that shares blocks goes there; else it stays
  installed,  ///< it stays, and the folder becomes an installed package (usage.argument without a package)
  moved,      ///< into the folder
  copied,     ///< a copy goes into each folder with links; for a package with several, into the package's folder
};

/// Reports what `link_folder` wrote, or would write.
struct FolderLinkReport {
  std::vector<LinkReport> links;  ///< the first is the model's
  std::filesystem::path archive;  ///< the file with the weights of the links
  std::uint64_t side_files = 0;
  std::uint64_t copies = 0;    ///< of the archive
  bool shares_blocks = false;  ///< the copies take no extra disk space
  /// The link files to which symbolic links in the folder lead. They are beside the archive; all other files are in the
  /// folder.
  std::vector<std::filesystem::path> beside;
  std::vector<Finding> remarks;  ///< about the manifest of a package
};

/// Writes links for the model and all additional graphs at their paths in `folder`, and the side files as files: the
/// folder that `unpack` would write, without the weights. Creates the folder if necessary (not its parents), and leaves
/// other files in it alone.
///
/// If all graphs are in one folder, the archive goes there as `place` says, and every runtime opens the links. Else, or
/// if the file system cannot share blocks, the archive stays: each link is then a file beside it
/// (ARCHIVE.FOLDER--NAME.onnx), and the folder gets symbolic links, which onnx and onnx_ir refuse. A model package of
/// ONNX Runtime (manifest.json) whose archive stays becomes an installed package instead, whose links are files.
/// docs/families.md ("Folders of links") has a table of these forms and of what opens them.
/// An archive that is already in the folder of its links stays there. All files are complete before the first
/// appears. With ArchivePlace::moved the archive must not be edited during the call; after an error it has its old
/// name. Ignores `options.graph`. Throws what `link_graphs` throws; usage.argument (two files would have one path; a
/// symbolic link is where a folder is needed; the archive to move is named by a symbolic link, or is on another disk);
/// archive.busy; zip.data.crc (of a side file). Cost: O(models + side files), and O(archive) for each copy of it.
FolderLinkReport link_folder(const std::filesystem::path& archive, const std::filesystem::path& folder,
                             const LinkOptions& options = {}, ArchivePlace place = ArchivePlace::automatic);

/// Writes a copy of the archive as `model.onnx_data` into an existing folder, and a link to it as `model.onnx`: the
/// names that model hubs expect. Shares blocks instead of copying them where the file system can. If the archive is
/// that `model.onnx_data`, writes only the link. Both are complete before the first appears; the link appears last.
/// Throws what `link` throws, also if the archive is that `model.onnx`; usage.own_name (an entry is named
/// `model.onnx_data`); zip.data.crc (of an entry that is copied). Cost: O(bytes), or O(model) where blocks are shared.
LinkReport link_for_hub(const std::filesystem::path& archive, const std::filesystem::path& folder,
                        const LinkOptions& options = {});

/// True if an `.onnx` file is a link. Throws if its archive is missing or has another state. Otherwise calls `use`, if
/// given, which may open the files by their paths, and verifies the link again: throws io.changed if a file was changed
/// or replaced during `use`, even if the old file was put back. Reads no weight; `check` with `data` finds more. Throws
/// onnx.*, wire.*, io.*. Cost: O(model + directory).
bool verify_link(const std::filesystem::path& model, const std::function<void()>& use = {});

/// Verifies a link in memory whose archive is in `folder`.
bool verify_link(Bytes model, const std::filesystem::path& folder, const std::function<void()>& use = {});

/// An initializer of the main graph.
struct RuntimeTensor {
  TensorInfo info;
  Bytes bytes;  ///< in the archive's mapping, or its memory if it is read in ranges
};

/// A model for a runtime that takes initializers by name.
struct RuntimeModel {
  /// A ModelProto in which `tensors` have their locations in the archive. Tensors that runtimes do not accept by name
  /// (in attributes, subgraphs, functions, sparse tensors, and those that no node uses) are inline.
  std::vector<std::byte> model;
  std::vector<RuntimeTensor> tensors;
  std::shared_ptr<const void> owner;  ///< keeps the bytes of `tensors` alive; null if the caller of Archive::open does
};

/// Makes a runtime model; the archive may be destroyed afterwards. Throws what `pack` throws for tensors; zip.data.crc
/// (of the copied bytes); onnx.model.too_large (2 GiB, because of inline data); onnx.model.expansion (shared data would
/// make the model over 8 times as large as the archive); onnx.graph.duplicate (a runtime cannot take two tensors of one
/// name). Cost: O(model + inline data), and local headers of linked entries; with range reading, all bytes of these
/// entries.
RuntimeModel make_runtime_model(const Archive& archive);

}  // namespace ONNXAR_API onnxar
