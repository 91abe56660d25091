// Finds the data of a model, or of a further graph, in the entries of its archive.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "archive/entry_source.h"
#include "archive/entry_uses.h"
#include "archive/external_tensor.h"
#include "convert/model_source.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/options.h"

namespace onnxar {

// Makes payloads of the entries of an archive, and of parts of them.

/// Makes payloads of one archive, which must outlive them. Threads: one at a time; the sources that it makes may be
/// read on any number at once.
class EntryPayloads {
 public:
  explicit EntryPayloads(const LoadOptions& options)
      : verify_(options.verify_data), threads_(options.threads), slices_(options.temporary_dir) {}

  /// The payload of `part`, which lies in `entry`. With LoadOptions::verify_data, reading it compares the CRC-32 of the
  /// entry. Errors: as Archive::bytes.
  [[nodiscard]] Resolved part(const Archive& archive, const ArchiveEntry& entry, Bytes part);
  /// A source of all bytes of `entry`, verified in the same way. Errors: as Archive::bytes.
  [[nodiscard]] std::shared_ptr<const ByteSource> whole(const Archive& archive, const ArchiveEntry& entry) const;

 private:
  /// Bytes that are read by ranges come through a source, and that verifies them.
  [[nodiscard]] bool verifies(const Archive& archive) const;

  bool verify_;
  std::size_t threads_;
  SlicedEntries slices_;
  /// By entry and part, of an archive that is read by ranges.
  std::map<std::tuple<std::size_t, const std::byte*, std::size_t>, std::shared_ptr<const ByteSource>> fetched_;
};

/// Finds the part of an entry that a link to the archive's own file names. The archive begins at `at` in that file, and
/// the part must lie in one of the first `count` entries. Errors: onnx.external_data.out_of_range; as Archive::bytes.
/// Cost: O(log entries).
EntryPart part_of_file(const Archive& archive, std::uint64_t at, std::size_t count, const onnx::TensorSite& site,
                       const onnx::ExternalSlice& slice);

/// Links lead to entries of the archive.
class ArchiveSource final : public ModelSource {
 public:
  /// Selects the model, which may be a graph (Archive::graph). Errors: as Archive::model; zip.data.crc of the model,
  /// with LoadOptions::verify_data.
  ArchiveSource(Archive archive, const LoadOptions& options);

  [[nodiscard]] const Archive& archive() const noexcept { return archive_; }
  [[nodiscard]] std::vector<std::string> graphs() const override;
  void select(const std::string& graph) override;
  [[nodiscard]] SourceCompanions companions() override;
  [[nodiscard]] std::uint64_t input_size() const override { return archive_.file().size(); }
  void prove_link(const onnx::TensorSite& site) override;
  /// Replaces an error of the format by io.changed if the file was changed since it was opened.
  [[nodiscard]] Error with_place(const Error& error) const override;

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  /// Whether the user chose one graph, so that the others are left alone.
  [[nodiscard]] bool is_one_of_several() const;
  [[nodiscard]] GraphBytes graph_of(const ArchiveEntry& entry) const;

  Archive archive_;
  EntryPayloads payloads_;
  EntryUses uses_;
};

/// The archive that has the model of `source`; null if the model is not in an archive.
const Archive* archive_of(const ModelSource& source);

}  // namespace onnxar
