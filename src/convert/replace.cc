#include "onnxar/replace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/crc32.h"
#include "base/file_descriptor.h"
#include "convert/entries_by_content.h"
#include "convert/expansion.h"
#include "convert/link_marker.h"
#include "convert/loaded_model.h"
#include "onnx/rewrite.h"
#include "onnxar/archive_writer.h"
#include "onnxar/edit.h"

namespace onnxar {
namespace {

/// What moves into entries, from this size on.
MovePolicy policy_from(std::uint64_t threshold, const SaveOptions& options) {
  SaveOptions archive = options;
  archive.format = Format::archive;
  archive.raw_data_threshold = threshold;
  return MovePolicy::of(archive);
}

/// Says for each tensor where its data is or will be; plans the entries that this takes.
class Replacement {
 public:
  struct NewEntry {
    std::string name;
    const Payload* payload;
  };

  Replacement(const LoadedModel& model, const Archive& archive, const ReplaceOptions& options)
      : model_(model),
        archive_(archive),
        moved_(policy_from(options.raw_data_threshold, options)),
        movable_(policy_from(0, options)),
        entries_(archive),
        expansion_(model),
        read_(model) {
    for (std::size_t i = 0; i + 1 < archive.size(); ++i) {
      entries_.add(archive.entry(i));
      // A key has no slash in it, so it can only clash with a whole name or the first folder of one.
      const std::string_view name = archive.entry(i).name;
      keys_.reserve(name.substr(0, name.find('/')));
    }
    // An entry of the file's own name could not be told from the file.
    for (const auto& file : {archive.path(), base::real_path(archive.path())}) keys_.reserve(file.filename().string());
  }

  /// The model with every link in its final form. The plan and the loaded model must outlive it.
  wire::Rope rewrite() {
    return onnx::rewrite_tensors(model_.skeleton, [this](const onnx::TensorSite& site) { return decide(site); },
                                 {model_.max_depth});
  }

  [[nodiscard]] const std::vector<NewEntry>& new_entries() const noexcept { return new_entries_; }
  [[nodiscard]] std::uint64_t tensors_outside() const noexcept { return tensors_outside_; }
  [[nodiscard]] const std::vector<Finding>& remarks() const noexcept { return remarks_; }

 private:
  onnx::TensorEdit decide(const onnx::TensorSite& site) {
    if (site.tensor.lacks_data()) {
      remarks_.push_back({Severity::warning, Code::onnx_tensor_no_data, {}, no_data(site)});
    }
    const Payload* payload = model_.payload_of(site);
    const auto slice = payload == nullptr ? place_of_small(site) : place_of(site, *payload);
    if (slice) {
      ++tensors_outside_;
      return onnx::TensorEdit::link_to(*slice);
    }
    if (payload == nullptr) return onnx::TensorEdit::keep();
    expansion_.add(*payload);
    return onnx::TensorEdit::put_inline(payload->source);
  }

  /// Data that the policy leaves inline is linked only to what is there already.
  std::optional<onnx::ExternalSlice> place_of_small(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    if (!tensor.raw_data || tensor.typed_data || !tensor.restorable) return std::nullopt;
    if (site.levels.size() >= model_.max_depth) return std::nullopt;  // no room for a link
    const Bytes bytes = tensor.raw_data->of(site.model);
    if (tensor.expected_size() != bytes.size() || !movable_.moves(site, bytes.size())) return std::nullopt;
    return place_of_equal(SpanSource(bytes));
  }

  std::optional<onnx::ExternalSlice> place_of(const onnx::TensorSite& site, const Payload& payload) {
    const Bytes bytes = payload.span.bytes();
    if (base::lies_in(bytes, archive_.file())) return place_in_entry(archive_.entry(*payload.entry), payload);
    const auto known = known_.find({bytes.data(), bytes.size()});
    if (known != known_.end() && !bytes.empty()) return known->second;
    if (!movable_.moves(site, payload.size())) return std::nullopt;
    read_.add(payload);  // slices that overlap are bytes that are read again and again
    auto slice = place_of_equal(*payload.source);
    if (!slice && moved_.moves(site, payload.size())) slice = place_of_new(site, payload);
    if (slice) known_.emplace(std::pair(bytes.data(), bytes.size()), *slice);
    return slice;
  }

  [[nodiscard]] onnx::ExternalSlice place_in_entry(const ArchiveEntry& entry, const Payload& payload) const {
    const Bytes bytes = payload.span.bytes();
    const auto offset = static_cast<std::uint64_t>(bytes.data() - archive_.bytes(entry).data());
    return {std::string(entry.name), offset, bytes.size(), payload.checksum};
  }

  [[nodiscard]] std::optional<onnx::ExternalSlice> place_of_equal(const ByteSource& source) const {
    const auto entry = entries_.find(source);
    if (!entry) return std::nullopt;
    return onnx::ExternalSlice{std::string(entry->name), 0, entry->size};
  }

  onnx::ExternalSlice place_of_new(const onnx::TensorSite& site, const Payload& payload) {
    expansion_.add(payload);
    new_entries_.push_back({keys_.make(site.tensor.name), &payload});
    return {new_entries_.back().name, 0, payload.size()};
  }

  const LoadedModel& model_;
  const Archive& archive_;
  MovePolicy moved_;
  MovePolicy movable_;
  EntriesByContent entries_;
  Expansion expansion_;  // what is written
  Expansion read_;       // what is compared with entries
  KeyMaker keys_;
  std::map<std::pair<const std::byte*, std::size_t>, onnx::ExternalSlice> known_;  // by where the data lies in memory
  std::vector<NewEntry> new_entries_;
  std::vector<Finding> remarks_;
  std::uint64_t tensors_outside_ = 0;
};

std::uint64_t size_with(const ArchiveEditor& editor, const Replacement& plan, std::uint64_t model_size) {
  std::vector<std::pair<std::string_view, std::uint64_t>> entries;
  for (const Replacement::NewEntry& entry : plan.new_entries()) entries.emplace_back(entry.name, entry.payload->size());
  return editor.size_with(entries, model_size);
}

void note_side_files(const LoadedModel& model, ReplaceReport& report) {
  for (const SideFile& file : model.side_files) {
    report.remarks.push_back({Severity::note,
                              Code::archive_entry_unused,
                              {file.name, std::nullopt},
                              "no tensor is in this entry of the other archive; it stays there"});
  }
}

ReplaceReport replace(ArchiveEditor& editor, ModelSource source, const ReplaceOptions& options,
                      const LoadOptions& load) {
  const Archive& archive = editor.archive();
  const MovePolicy policy = policy_from(options.raw_data_threshold, options);
  const LoadedModel model = load_model(std::move(source), policy, load);
  Replacement plan(model, archive, options);
  const wire::Rope proto = plan.rewrite();
  ReplaceReport report;
  report.remarks = model.remarks;
  report.remarks.insert(report.remarks.end(), plan.remarks().begin(), plan.remarks().end());
  note_side_files(model, report);
  report.tensors_outside = plan.tensors_outside();
  report.entries_added = plan.new_entries().size();
  for (const Replacement::NewEntry& entry : plan.new_entries()) report.bytes_added += entry.payload->size();
  report.model_bytes = proto.size();
  report.file_bytes = size_with(editor, plan, proto.size());
  report.file_bytes_before = archive.file().size();
  if (options.dry_run) return report;
  editor.reserve(report.file_bytes);
  for (const Replacement::NewEntry& entry : plan.new_entries()) editor.add(entry.name, *entry.payload->source);
  editor.commit(proto);
  return report;
}

ArchiveEditor open_editor(const std::filesystem::path& archive, const ReplaceOptions& options) {
  EditOptions edit;
  edit.sync = options.sync;
  edit.verify_model = false;  // every link was resolved or made here
  ArchiveEditor editor = ArchiveEditor::open(archive, edit);
  for (const std::filesystem::path& file : {archive, base::real_path(archive)}) refuse_own_name(editor.archive(), file);
  return editor;
}

}  // namespace

ReplaceReport replace_model(const std::filesystem::path& archive, const std::filesystem::path& model,
                            const ReplaceOptions& options, const LoadOptions& load) {
  ArchiveEditor editor = open_editor(archive, options);
  ModelSource source = ModelSource::open_for(editor.archive(), model, options.append_external, load);
  return replace(editor, std::move(source), options, load);
}

ReplaceReport replace_model(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options,
                            const LoadOptions& load) {
  ArchiveEditor editor = open_editor(archive, options);
  ModelSource source = ModelSource::of_bytes_for(editor.archive(), model, options.append_external, load);
  return replace(editor, std::move(source), options, load);
}

}  // namespace onnxar
