#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/entry_source.h"
#include "archive/entry_uses.h"
#include "archive/graphs.h"
#include "archive/opening.h"
#include "base/crc32.h"
#include "base/errors.h"
#include "base/exact_source.h"
#include "base/keyed_hash.h"
#include "base/output_target.h"
#include "base/progress.h"
#include "base/text.h"
#include "convert/companions.h"
#include "convert/payload.h"
#include "convert/plan.h"
#include "convert/save.h"
#include "onnxar/archive_writer.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

/// An entry to write. The source is borrowed.
struct NewEntry {
  std::string_view name;
  const ByteSource* source;
};

/// The weights of the archive at `side_files_of` that its graphs name. Equal data of the model is linked to them and
/// not written again.
class KeptWeights {
 public:
  explicit KeptWeights(const ArchiveCompanions& companions) : companions_(companions) {
    if (companions.archive) by_content_.emplace(*companions.archive);
    for (const ArchiveEntry& entry : companions.weights) {
      by_content_->add(entry);
      sources_.push_back(std::make_unique<EntrySource>(*companions.archive, entry));
    }
  }

  [[nodiscard]] std::optional<ArchiveEntry> find(const ByteSource& data) const {
    return by_content_ ? by_content_->find(data) : std::nullopt;
  }
  void reserve_in(KeyMaker& keys) const {
    for (const ArchiveEntry& entry : companions_.weights) keys.reserve(entry.name);
  }
  void add_to(std::vector<NewEntry>& entries) const {
    for (std::size_t i = 0; i < sources_.size(); ++i)
      entries.push_back({companions_.weights[i].name, sources_[i].get()});
  }

 private:
  const ArchiveCompanions& companions_;
  std::optional<EntriesByContent> by_content_;
  std::vector<std::unique_ptr<const ByteSource>> sources_;
};

/// The checksum for a link, if one is wanted. A dry run does not read the data for it, but takes a placeholder of the
/// same length: the sizes in its report are exact.
std::string checksum_for(const Payload& payload, const SaveOptions& options) {
  if (options.checksum == Checksum::none) return {};
  return options.output.dry_run ? std::string(checksum_length, '0') : checksum_of(*payload.source);
}

/// All entries except the model, in the order of the archive.
std::vector<NewEntry> entries_of(const PayloadLayout& layout, const KeptWeights& weights,
                                 const ArchiveCompanions& companions, const std::vector<PlacedGraph>& graphs) {
  std::vector<NewEntry> entries;
  for (const PayloadLayout::Placed& placed : layout.placed()) {
    entries.push_back({placed.slice.location, placed.payload->source.get()});
  }
  weights.add_to(entries);
  for (const SideFile& file : companions.side_files) entries.push_back({file.name, file.source.get()});
  for (const PlacedGraph& graph : graphs) entries.push_back({graph.name, &graph.proto});
  for (const SideFile& graph : companions.whole_graphs) entries.push_back({graph.name, graph.source.get()});
  return entries;
}

/// Whether a new entry has the bytes of an old one. They are read only if they do not lie in the same place.
bool has_data_of(const ByteSource& source, const Archive& archive, const ArchiveEntry& entry) {
  if (source.size() != entry.size) return false;
  const std::byte* const place = ArchiveAccess::place(archive, entry).data();
  bool is_there = false;
  source.locate([&](const Location& run) { is_there = run.bytes.data() == place && run.bytes.size() == entry.size; });
  if (is_there) return true;
  std::uint32_t crc = 0;
  source.read([&crc](Bytes piece) { crc = base::crc32(crc, piece); });
  return crc == entry.crc32;
}

/// Refuses a graph that was made for the archive that is packed, if the output has other data under a name that the
/// graph uses: it would silently compute with other weights. A name that the output lacks is refused by its writer.
void check_added_links(const std::vector<AddedLink>& links, std::span<const NewEntry> entries,
                       const std::filesystem::path& output) {
  base::KeyedMap<std::string_view, const ByteSource*> by_name;
  if (!links.empty()) {
    for (const NewEntry& entry : entries) by_name.emplace(entry.name, entry.source);
  }
  for (const auto& [graph, meant] : links) {
    const std::string_view name = meant.front().second.name;
    const auto found = by_name.find(name);
    if (found == by_name.end()) continue;
    const auto is_same = [&](const auto& old) { return has_data_of(*found->second, *old.first, old.second); };
    if (std::ranges::any_of(meant, is_same)) continue;
    throw Error(Code::usage_argument,
                base::concat("the added graph names the entry ", base::quoted(name),
                             " of the archive that is packed, but the output has other data under this name, because "
                             "`pack` names weights anew"),
                {graph, std::nullopt}, output, {Hint::replace_add});
  }
}

std::uint64_t size_of_archive(std::span<const NewEntry> entries, std::uint64_t model_size, std::uint64_t alignment) {
  std::vector<std::pair<std::string_view, std::uint64_t>> sizes;
  for (const NewEntry& entry : entries) sizes.emplace_back(entry.name, entry.source->size());
  return archive_size(sizes, model_size, alignment);
}

void write_planned(ArchiveWriter& writer, std::span<const NewEntry> entries, const ByteSource& model,
                   const ProgressCallback& tell) {
  std::uint64_t total = model.size();
  for (const NewEntry& entry : entries) {
    total = base::add_announced(total, entry.source->size(), {std::string(entry.name), std::nullopt});
  }
  base::Progress progress(tell, total);
  for (const NewEntry& entry : entries) writer.add(entry.name, base::CountedSource(*entry.source, progress));
  writer.finish(base::CountedSource(model, progress));
}

}  // namespace

void save_archive(const LoadedModel& model, const ArchiveCompanions& companions, const std::filesystem::path& output,
                  const SaveOptions& options, ConvertReport& report) {
  base::annotated([&output] { return base::Annotation{.path = output}; },
                  [&options] { zip::check_alignment(options.alignment); });
  // A fault of the output is found before the work of planning. ArchiveWriter::create looks again, as planning may read
  // many bytes for checksums and the output may change meanwhile.
  static_cast<void>(base::find_target(output, existing_of(options.output)));
  expect_free_model_name(model.skeleton, companions.names(), output, {Hint::unpack_unnamed});
  const KeptWeights weights(companions);
  KeyMaker keys;
  // Names that are taken already come first: a new key must differ from all of them.
  reserve_names(keys, companions.side_files);
  weights.reserve_in(keys);
  const auto place = [&](const onnx::TensorSite& site, const Payload& payload) -> PayloadLayout::Placement {
    const std::string checksum = checksum_for(payload, options);
    if (const auto entry = weights.find(*payload.source)) {
      return {{std::string(entry->name), 0, entry->size, checksum}, PayloadLayout::Data::there};
    }
    return {{keys.make(site.tensor.name), 0, payload.size(), checksum}};
  };
  PayloadLayout layout(output, place, model.is_family ? Sharing::equal_bytes : Sharing::same_bytes,
                       options.output.threads);
  std::vector<PlacedGraph> graphs = companions.graphs;
  const onnx::Rope proto = place_payloads(model, options, layout, graphs);
  check_model_size(proto.size(), output, Hint::lower_threshold_or_all);
  const std::vector<NewEntry> entries = entries_of(layout, weights, companions, graphs);
  check_added_links(companions.added_links, entries, output);
  report.file_bytes = size_of_archive(entries, proto.size(), options.alignment);
  report.model_bytes = proto.size();
  layout.add_to(report);
  if (options.output.dry_run) return;
  // Every link was made above for an entry that is added below, except the links of graphs that are written unchanged.
  // Proving them again would walk the model once more.
  const bool verify_model = companions.has_graphs();
  ArchiveWriter writer = ArchiveWriter::create(output, {options.alignment, options.output, verify_model});
  writer.reserve(report.file_bytes);
  write_planned(writer, entries, proto, options.progress);
}

}  // namespace onnxar
