// Plans what replacing the model of an archive writes, before the first byte is appended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "archive/entry_uses.h"
#include "convert/loaded_model.h"
#include "convert/model_source.h"
#include "convert/open.h"
#include "convert/payload.h"
#include "onnx/external_data.h"
#include "onnx/rewrite.h"
#include "onnx/splice.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"

namespace onnxar {

// Plans the side files and further graphs that an edit of an archive adds, replaces or removes.

/// Plans the files of an edit: marks entries in the editor as removed, and opens the new files. Writes nothing. The
/// options must outlive it.
class ReplacedFiles {
 public:
  /// Errors: as ArchiveEditor::remove; those of opening the files.
  ReplacedFiles(ArchiveEditor& editor, const ReplaceOptions& options);

  /// The files to add: side files before graphs, as in every archive.
  [[nodiscard]] const std::vector<SideFile>& added() const noexcept { return added_; }
  /// Whether the entry stays in the archive, perhaps at another offset.
  [[nodiscard]] bool stays(std::size_t index) const { return !removed_.contains(index); }

  /// Refuses a model whose name among the graphs is the name of an entry that stays or is added (G4). Errors:
  /// archive.graph.name. Cost: O(fields of ModelProto itself + entries).
  void expect_free_name_of(Bytes model, const Archive& archive) const;

 private:
  std::vector<SideFile> added_;
  std::set<std::size_t> removed_;
};

/// The tensors that become entries if they have at least `threshold` bytes.
ExternalPolicy replace_policy(std::uint64_t threshold, const ReplaceOptions& options);

/// What the new model replaces: the model of the archive, or a further graph.
enum class Replaced : std::uint8_t { model, graph };

/// Decides for each tensor of the new model where its data is: in an existing entry, in a new entry, or inline.
/// Model, archive and options must outlive it. Not synchronised.
class ReplacePlan {
 public:
  /// Plans against the first `kept` entries of the archive, which stay where they are: links lead only to them and to
  /// new entries. Errors: usage.argument (a tensor of a graph that stays is in the bytes of the old model; a link leads
  /// to an entry that would move); onnx.model.expansion; archive.graph.name; wire.*, onnx.*.
  /// Cost: O(directory + old model + graphs + new model), and reading data that may equal an entry's.
  ReplacePlan(const LoadedModel& model, const Archive& archive, std::size_t kept, const ReplacedFiles& files,
              const ReplaceOptions& options, const LoadOptions& load, Replaced replaced = Replaced::model);

  struct NewWeight {
    std::string name;
    const Payload* payload;
  };
  [[nodiscard]] const std::vector<NewWeight>& new_weights() const noexcept { return new_weights_; }
  /// The model with every link in its final form.
  [[nodiscard]] const onnx::Rope& proto() const noexcept { return proto_; }
  /// Adds the remarks and the number of tensors in entries.
  void add_to(ReplaceReport& report) const;

 private:
  void add_entries(const EntryUses& uses);
  void reserve_keys(const std::vector<AddedFile>& added);
  [[nodiscard]] onnx::MetadataEdit kept_name(Replaced replaced) const;
  onnx::TensorEdit decide(const onnx::TensorSite& site);
  std::optional<onnx::ExternalLink> place_of_small(const onnx::TensorSite& site);
  std::optional<onnx::ExternalLink> place_of(const onnx::TensorSite& site, const Payload& payload);
  [[nodiscard]] onnx::ExternalLink kept_link(const onnx::TensorSite& site, const onnx::ExternalLink& link) const;
  [[nodiscard]] std::optional<onnx::ExternalLink> place_of_equal(const ByteSource& source) const;
  onnx::ExternalLink place_of_new(const onnx::TensorSite& site, const Payload& payload);

  const LoadedModel& model_;
  const Archive& archive_;
  std::size_t kept_;
  ExternalPolicy moved_;    // data that becomes a new entry
  ExternalPolicy movable_;  // data that may be linked to an existing entry: of any size
  EntriesByContent entries_;
  Expansion expansion_;  // counts the bytes that are written
  Expansion read_;       // counts the bytes that are compared with entries
  KeyMaker keys_;
  std::map<Extent, onnx::ExternalLink> known_;
  std::vector<NewWeight> new_weights_;
  std::vector<Finding> remarks_;
  std::uint64_t tensors_outside_ = 0;
  onnx::Rope proto_;
};

// Replaces the model of an archive by one that is being loaded: for `replace` and ModelWriter::replace.

/// Makes the source of the new model. It needs the archive, as the model may name entries of it.
using OpenModel = std::function<std::unique_ptr<ModelSource>(const Archive& archive)>;

/// `model` has an id and the payloads that links of the new model may name; the rest of it is loaded from the source.
/// Errors and cost: as `replace` (onnxar/convert.h).
ReplaceReport replace_model_of(const std::filesystem::path& path, LoadedModel model, const OpenModel& open_model,
                               const ReplaceOptions& options, const LoadOptions& load);

/// Whether links of the new model may lead to files.
FileLinks file_links(const ReplaceOptions& options);

}  // namespace onnxar
