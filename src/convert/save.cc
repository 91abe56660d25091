// Writes a loaded model in any format. Writes archives itself.
#include "convert/save.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/edit.h"
#include "archive/entry_writer.h"
#include "archive/graph_rules.h"
#include "archive/keys.h"
#include "archive/model_proof.h"
#include "archive/output_options.h"
#include "base/annotated.h"
#include "base/crc32.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "base/output_target.h"
#include "base/progress.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/checksum.h"
#include "convert/companions_to_save.h"
#include "convert/file_targets.h"
#include "convert/model_source.h"
#include "convert/payload_layout.h"
#include "convert/save_onnx.h"
#include "onnx/rope.h"
#include "onnxar/archive_writer.h"
#include "os/file.h"
#include "os/names.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

/// Returns the checksum for a link, if checksums are requested. A dry run does not read the data, but uses a
/// placeholder of the same length, so that the sizes in its report are exact.
std::string checksum_for(const Payload& payload, const SaveOptions& options) {
  if (options.checksum == Checksum::none) return {};
  return options.output.dry_run ? std::string(checksum_length, '0') : checksum_of(*payload.source);
}

/// Returns all entries except the model, in the order of the archive.
std::vector<NewEntry> entries_of(const PayloadLayout& layout, const ArchiveCompanions& companions,
                                 const std::vector<PlacedGraph>& graphs) {
  std::vector<NewEntry> entries;
  for (const PayloadLayout::Placed& placed : layout.placed()) {
    entries.push_back({placed.slice.location, placed.payload->source.get()});
  }
  for (const SideFile& weight : companions.weights) entries.push_back({weight.name, weight.source.get()});
  for (const SideFile& file : companions.side_files) entries.push_back({file.name, file.source.get()});
  for (const PlacedGraph& graph : graphs) entries.push_back({graph.name, &graph.proto});
  for (const SideFile& graph : companions.whole_graphs) entries.push_back({graph.name, graph.source.get()});
  return entries;
}

/// True if a new entry has the bytes of an old one. Reads them only if they do not lie at the same place.
bool has_data_of(const ByteSource& source, const Archive& archive, const ArchiveEntry& entry) {
  if (source.size() != entry.size) return false;
  const std::byte* const place = ArchiveAccess::place(archive, entry).data();
  bool is_there = false;
  source.locate([&](const Location& run) { is_there = run.bytes.data() == place && run.bytes.size() == entry.size; });
  return is_there || base::crc32_of(source) == entry.crc32;
}

/// Refuses an added graph, made for a packed archive or with data files beside it, if the output has other data under a
/// name that the graph uses: the graph would silently compute with other weights. The writer refuses a name that the
/// output lacks.
void check_added_links(const ArchiveCompanions& companions, std::span<const NewEntry> entries,
                       const std::filesystem::path& output) {
  base::KeyedMap<std::string_view, const ByteSource*> by_name;
  if (!companions.added_links.empty() || !companions.files_beside.empty()) {
    for (const NewEntry& entry : entries) by_name.emplace(entry.name, entry.source);
  }
  for (const FileBeside& file : companions.files_beside) {
    const auto entry = by_name.find(file.location);
    if (entry != by_name.end()) expect_one_meaning(file, *entry->second);
  }
  for (const auto& [graph, meant] : companions.added_links) {
    const std::string_view name = meant.front().second.name;
    const auto found = by_name.find(name);
    if (found == by_name.end()) continue;
    const auto is_same = [&](const auto& old) { return has_data_of(*found->second, *old.first, old.second); };
    if (std::ranges::any_of(meant, is_same)) continue;
    throw Error(Code::usage_argument,
                base::concat("the added graph names the entry ", base::quoted(name),
                             " of the archive that is packed, but the output has other data under this name, because "
                             "`pack` renames weights"),
                {graph, std::nullopt}, output, {Hint::replace_add});
  }
}

/// Proves all graphs before anything is written. The writer proves them a second time from the bytes in the file.
void prove_graphs(std::span<const NewEntry> entries, std::uint64_t model_size, const std::filesystem::path& output) {
  const auto is_graph = [](const NewEntry& entry) { return is_graph_name(entry.name); };
  if (std::ranges::none_of(entries, is_graph)) return;
  NamedSizes sizes{{model_entry_name, model_size}};
  for (const auto& [name, source] : entries) sizes.emplace_back(name, source->size());
  std::ranges::sort(sizes);
  base::annotated(output, [&] {
    for (const auto& [name, source] : entries) {
      if (!is_graph_name(name)) continue;
      const ByteSpan graph = bytes_of_graph(name, *source);
      prove_written(name, graph.bytes(), sizes);
    }
  });
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

void check_alignment(const SaveOptions& save, const std::filesystem::path& output) {
  // The archive's writer checks its own limits. In a data file, the largest useful alignment is 64 KiB, the granularity
  // of mappings on Windows.
  constexpr std::uint64_t data_file_maximum = 65536;
  if (save.format != Format::onnx_external) return;
  if (std::has_single_bit(save.alignment) && save.alignment <= data_file_maximum) return;
  throw Error(Code::usage_argument,
              base::concat("alignment ", save.alignment, " is not possible; it must be a power of two up to ",
                           data_file_maximum),
              {}, output);
}

void check_data_files(const SaveOptions& save, const std::filesystem::path& output) {
  if (save.format != Format::onnx_external || !save.file_per_tensor || save.data_file.empty()) return;
  throw Error(Code::usage_argument, "choose either one data file or a data file for each tensor", {}, output);
}

void check_archive_options(const SaveOptions& save, const std::filesystem::path& output) {
  if (save.checksum != Checksum::none && save.checksum != Checksum::sha1) {
    throw Error(Code::usage_argument,
                base::concat(static_cast<unsigned>(save.checksum), " is not a Checksum value; nothing is written"), {},
                output);
  }
  // Refused instead of ignored, because a caller who asks for side files or checksums would notice only later that they
  // are missing.
  const bool has_side_files =
      !save.add.empty() || !save.side_files_of.empty() || !save.rename.empty() || !save.variants.empty();
  if (save.format == Format::archive || (!has_side_files && save.checksum == Checksum::none)) return;
  throw Error(Code::usage_argument, "only an archive can get added or renamed side files, or checksums", {}, output);
}

/// An archive before it is written: what its entries hold, in which order. The constructor throws what is wrong with
/// it.
class ArchivePlan {
 public:
  /// The plan uses all arguments as long as it exists.
  ArchivePlan(base::Kept<const LoadedModel> model, base::Kept<const ArchiveCompanions> companions,
              const std::filesystem::path& output, base::Kept<const SaveOptions> options)
      : options_(options),
        companions_(companions),
        graphs_(companions_.graphs),
        layout_(
            output,
            [this](const std::string&, const onnx::TensorSite& site, const Payload& payload) {
              return place(site, payload);
            },
            model.get().is_family ? Sharing::equal_bytes : Sharing::same_bytes, options_.output.threads) {
    // Reserves the existing names first: a new key must differ from all of them.
    for (const std::string_view name : companions_.names()) keys_.reserve(name);
    for (const std::string& name : model_names_of(model.get().skeleton)) keys_.reserve(name);
    const auto options_of = [this](const std::string&) -> const SaveOptions& { return options_; };
    proto_ = place_payloads(model.get(), options_of, layout_, graphs_);
    check_model_size(proto_.size(), output, Hint::lower_threshold_or_all);
    entries_ = entries_of(layout_, companions_, graphs_);
    check_added_links(companions_, entries_, output);
    prove_graphs(entries_, proto_.size(), output);
  }
  ArchivePlan(const ArchivePlan&) = delete;
  ArchivePlan& operator=(const ArchivePlan&) = delete;
  ~ArchivePlan() = default;

  /// Moves the remarks to the report. Call it once.
  void add_to(ConvertReport& report) {
    report.file_bytes = size_of_archive(entries_, proto_.size(), options_.alignment);
    report.model_bytes = proto_.size();
    layout_.add_to(report);
  }
  void write(ArchiveWriter& writer) const { write_planned(writer, entries_, proto_, options_.progress); }

 private:
  PayloadLayout::Placement place(const onnx::TensorSite& site, const Payload& payload) {
    const std::string checksum = checksum_for(payload, options_);
    const auto& kept = companions_.weights_by_content;
    if (const auto entry = kept ? kept->find(*payload.source) : std::nullopt) {
      return {{std::string(entry->name), 0, entry->size, checksum}, PayloadLayout::Data::existing};
    }
    return {{keys_.make(site.tensor.name), 0, payload.size(), checksum}};
  }

  const SaveOptions& options_;
  const ArchiveCompanions& companions_;
  KeyMaker keys_;
  std::vector<PlacedGraph> graphs_;
  PayloadLayout layout_;
  onnx::Rope proto_;
  std::vector<NewEntry> entries_;
};

}  // namespace

void save_archive(const LoadedModel& model, const ArchiveCompanions& companions, const std::filesystem::path& output,
                  const SaveOptions& options, ConvertReport& report) {
  base::annotated(output, [&options] { zip::check_alignment(options.alignment); });
  // Finds a fault of the output before planning. ArchiveWriter::create checks the output too, because planning may read
  // many bytes for checksums and the output may change meanwhile.
  static_cast<void>(base::find_target(output, existing_of(options.output)));
  expect_free_model_name(model.skeleton, companions.names(), output, {Hint::unpack_unnamed});
  ArchivePlan plan(model, companions, output, options);
  plan.add_to(report);
  if (options.output.dry_run) return;
  // Every link of the model was made for an entry of the plan, except the links of graphs that are written unchanged.
  // Proving the others would walk the model once more.
  const bool verify_model = companions.has_graphs();
  ArchiveWriter writer = ArchiveWriter::create(output, {options.alignment, options.output, verify_model});
  writer.reserve(report.file_bytes);
  plan.write(writer);
}

std::filesystem::path name_in_folder(const LoadedModel& model, const std::filesystem::path& path) {
  std::filesystem::path input = path.filename();
  if (const auto name = model_name_of(model.skeleton)) return os::path_of(*name + std::string(graph_suffix));
  // A graph, a side file or a folder of one may have the name of the input, ignoring ASCII case.
  base::KeyedSet<std::string> taken;
  const auto take = [&taken](const std::string& file) {
    taken.insert(base::folded_copy(os::text_of(*os::path_of(file).begin())));
  };
  for (const LoadedGraph& graph : model.graphs) take(graph.name);
  for (const SideFile& file : model.side_files) take(file.name);
  const auto is_taken = [&taken](const std::string& stem) {
    const std::string small = base::folded_copy(stem);
    return taken.contains(small + std::string(graph_suffix)) || taken.contains(small + ".textproto");
  };
  std::string stem = os::text_of(input.stem());
  if (!is_taken(stem)) return input;
  stem = "model";
  for (int i = 2; is_taken(stem); ++i) stem = base::concat("model_", i);
  return os::path_of(stem + std::string(graph_suffix));
}

ConvertReport save_model(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                         const std::filesystem::path& input) {
  // Checks options first: planning may read all data for checksums, and a wrong option must be found before that.
  check_alignment(options, output);
  check_data_files(options, output);
  check_archive_options(options, output);
  const os::File lock = lock_output(output, options.output);  // companions may be those of the output (X8)
  ConvertReport report;
  if (auto note = note_of_left_out(model))
    report.remarks.push_back(std::move(*note));  // first, because it is about lost data
  report.remarks.insert(report.remarks.end(), model.remarks.begin(), model.remarks.end());
  report.typed_made_raw = model.typed_made_raw;
  report.reencoded = model.reencoded;
  switch (options.format) {
    case Format::archive: {
      const ArchiveCompanions companions = companions_to_save(model, options, output);
      report.remarks.insert(report.remarks.end(), companions.remarks.begin(), companions.remarks.end());
      report.side_files = companions.side_files.size();
      report.graphs = companions.graphs.size() + companions.whole_graphs.size();
      report.model_path = output;
      save_archive(model, companions, output, options, report);
      return report;
    }
    case Format::onnx_inline:
    case Format::onnx_external:
      save_onnx(model, Destination::of(output, name_in_folder(model, input), options.format), options, report);
      return report;
    // Core has no protobuf, and protobuf's printer is the only writer of its text format.
    case Format::textproto:
      throw Error(Code::usage_argument, "text needs a library with protobuf; `dump` of the command line writes it", {},
                  output);
  }
  // A cast can give the enumeration any number.
  throw Error(Code::usage_argument,
              base::concat(static_cast<unsigned>(options.format), " is not a Format value; nothing is written"), {},
              output);
}

}  // namespace onnxar
