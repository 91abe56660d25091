// Another model for an archive, in place: no weight is moved.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "onnxar/visibility.h"

namespace ONNXAR_API onnxar {

/// Which inline tensors become entries is said as for `convert`; of the other options only `add`, `sync` and `dry_run`
/// mean anything here: the archive is what it is. `add` are side files and graphs, each in the place of one of the same
/// name if there is one.
struct ReplaceOptions : SaveOptions {
  bool append_external = false;          ///< take data files beside the model in, too
  std::vector<std::string> remove = {};  ///< side files and graphs that go
};

/// What a replacement did, or would do.
struct ReplaceReport {
  std::uint64_t tensors_outside = 0;  ///< tensors of the new model whose data is in entries
  std::uint64_t entries_added = 0;
  std::uint64_t bytes_added = 0;  ///< of data in them
  std::uint64_t model_bytes = 0;  ///< of the ModelProto
  std::uint64_t file_bytes = 0;   ///< of the archive
  std::uint64_t file_bytes_before = 0;
  std::vector<Finding> remarks;
};

/// Makes `model` the model of the archive at `archive`, by an edit (edit.h).
///
/// Where the model is itself a link (link.h), what it says of its archive's file leads to that file and nowhere else.
/// Other links lead, in this order, to an entry of the archive; to a range of the archive's own file, given by
/// its file name and an absolute offset, that lies in one entry; with `append_external` to a data file beside the
/// model. Links of a model that is itself an archive lead to that one's entries. Data that the archive has in an entry,
/// byte for byte, is linked to it; other data that is to be outside becomes a new entry, whose key no entry has.
/// Entries that no tensor refers to any more stay, and so does the checksum of a link to a whole entry.
///
/// Further graphs stay, and so does the name that the model has among them (spec G4). Side files and graphs can be
/// replaced and removed as ArchiveEditor::remove has it: where no weight lies after them. Data that equals a side file
/// or a graph byte for byte is not linked to it: that entry stays what it is.
///
/// A model that has a link which leads nowhere is refused; after any error the archive is as it was, byte for byte.
/// Errors: usage.own_name (an entry has, or would have, the name of the archive's file, ASCII case aside, so that one
/// could be taken for the other); usage.argument (a tensor of a graph that stays is in the bytes of the old model);
/// archive.graph.name (the name of the model, twice or not free); onnx.external_data.missing, .out_of_range and all of
/// `convert`; archive.busy, archive.torn, archive.model.too_large, io.*. Cost: O(both models + graphs + directory +
/// data added); data is compared where size and CRC agree.
ReplaceReport replace_model(const std::filesystem::path& archive, const std::filesystem::path& model,
                            const ReplaceOptions& options = {}, const LoadOptions& load = {});

/// The same for a serialised ModelProto in memory; data files are looked for in `load.external_data_dir` alone.
ReplaceReport replace_model(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options = {},
                            const LoadOptions& load = {});

/// Only `options.add` and `options.remove`: the model stays what it is. Errors: as above.
ReplaceReport replace_files(const std::filesystem::path& archive, const ReplaceOptions& options);

}  // namespace ONNXAR_API onnxar
