#include "convert/save.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/entry_writer.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/model_proof.h"
#include "archive/opening.h"
#include "base/buffered_output.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/errors.h"
#include "base/keyed_hash.h"
#include "base/output_target.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/model_source.h"
#include "convert/open.h"
#include "convert/plan.h"
#include "convert/publish.h"
#include "onnxar/archive_writer.h"
#include "os/names.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

/// The checksum for a link, if one is wanted. A dry run does not read the data for it, but takes a placeholder of the
/// same length: the sizes in its report are exact.
std::string checksum_for(const Payload& payload, const SaveOptions& options) {
  if (options.checksum == Checksum::none) return {};
  return options.output.dry_run ? std::string(checksum_length, '0') : checksum_of(*payload.source);
}

/// All entries except the model, in the order of the archive.
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

/// Whether a new entry has the bytes of an old one. They are read only if they do not lie in the same place.
bool has_data_of(const ByteSource& source, const Archive& archive, const ArchiveEntry& entry) {
  if (source.size() != entry.size) return false;
  const std::byte* const place = ArchiveAccess::place(archive, entry).data();
  bool is_there = false;
  source.locate([&](const Location& run) { is_there = run.bytes.data() == place && run.bytes.size() == entry.size; });
  return is_there || base::crc32_of(source) == entry.crc32;
}

/// Refuses a graph that was made for the archive that is packed, or that has data files beside it, if the output has
/// other data under a name that the graph uses: it would silently compute with other weights. A name that the output
/// lacks is refused by its writer.
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
                             "`pack` names weights anew"),
                {graph, std::nullopt}, output, {Hint::replace_add});
  }
}

/// Proves all graphs before anything is written, as the writer does again from the bytes in the file.
void prove_graphs(std::span<const NewEntry> entries, std::uint64_t model_size, const std::filesystem::path& output) {
  const auto is_graph = [](const NewEntry& entry) { return is_graph_name(entry.name); };
  if (std::ranges::none_of(entries, is_graph)) return;
  EntryWriter::Entries sizes{{model_entry_name, model_size}};
  for (const auto& [name, source] : entries) sizes.emplace_back(name, source->size());
  std::ranges::sort(sizes);
  base::annotated([&output] { return base::Annotation{.path = output}; },
                  [&] {
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

}  // namespace

void save_archive(const LoadedModel& model, const ArchiveCompanions& companions, const std::filesystem::path& output,
                  const SaveOptions& options, ConvertReport& report) {
  base::annotated([&output] { return base::Annotation{.path = output}; },
                  [&options] { zip::check_alignment(options.alignment); });
  // A fault of the output is found before the work of planning. ArchiveWriter::create looks again, as planning may read
  // many bytes for checksums and the output may change meanwhile.
  static_cast<void>(base::find_target(output, existing_of(options.output)));
  expect_free_model_name(model.skeleton, companions.names(), output, {Hint::unpack_unnamed});
  KeyMaker keys;
  // Names that are taken already come first: a new key must differ from all of them.
  for (const std::string_view name : companions.names()) keys.reserve(name);
  for (const std::string& name : model_names_of(model.skeleton)) keys.reserve(name);
  const auto place = [&](const std::string&, const onnx::TensorSite& site,
                         const Payload& payload) -> PayloadLayout::Placement {
    const std::string checksum = checksum_for(payload, options);
    const auto& kept = companions.weights_by_content;
    if (const auto entry = kept ? kept->find(*payload.source) : std::nullopt) {
      return {{std::string(entry->name), 0, entry->size, checksum}, PayloadLayout::Data::there};
    }
    return {{keys.make(site.tensor.name), 0, payload.size(), checksum}};
  };
  PayloadLayout layout(output, place, model.is_family ? Sharing::equal_bytes : Sharing::same_bytes,
                       options.output.threads);
  std::vector<PlacedGraph> graphs = companions.graphs;
  const onnx::Rope proto = place_payloads(model, options, layout, graphs);
  check_model_size(proto.size(), output, Hint::lower_threshold_or_all);
  const std::vector<NewEntry> entries = entries_of(layout, companions, graphs);
  check_added_links(companions, entries, output);
  prove_graphs(entries, proto.size(), output);
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

namespace {

namespace fs = std::filesystem;

bool is_one_data_file(const SaveOptions& options) {
  return options.format == Format::onnx_external && !options.file_per_tensor;
}

void check_data_file_name(const std::string& name, const fs::path& output) {
  const std::filesystem::path path = os::path_of(name);
  const bool is_plain = path.filename() == path && name != "." && !location_fault(name) && base::is_utf8(name);
  // Readers take a location that begins with `#` for the memory of a process, and onnx one with two dots anywhere for a
  // path out of the folder.
  if (is_plain && !name.starts_with("#") && name.find("..") == std::string::npos) return;
  throw Error(Code::usage_argument,
              base::concat("the data file ", base::quoted(name),
                           " must be a plain file name in UTF-8, without `..` anywhere and without `#` at its "
                           "beginning: it is written beside the model, and ONNX's readers refuse to open others"),
              {}, output);
}

/// The payloads of each data file, in the order of their offsets.
using DataFiles = std::map<std::string, std::vector<const PayloadLayout::Placed*>>;

DataFiles data_files(const PayloadLayout& layout, const SaveOptions& options) {
  DataFiles files;
  if (is_one_data_file(options))
    files[options.data_file];  // written even if no payload goes into it: the report names it
  for (const PayloadLayout::Placed& placed : layout.placed())
    files[placed.folder + placed.slice.location].push_back(&placed);
  return files;
}

std::uint64_t end_of(const std::vector<const PayloadLayout::Placed*>& placed) {
  return placed.empty() ? 0 : placed.back()->slice.offset + placed.back()->payload->size();
}

/// The side files and graphs that are written into the folder of the model.
struct FolderCompanions {
  std::vector<SideFile> files;
  std::vector<PlacedGraph> graphs;

  [[nodiscard]] std::uint64_t size() const { return size_of(files) + size_of(graphs); }
  void claim(FileTargets& targets) const {
    for (const SideFile& file : files) targets.claim(file.name);
    for (const PlacedGraph& graph : graphs) targets.claim(graph.name);
  }
};

/// Selects side files and graphs for the destination: all for a folder, none for a single file. The report counts those
/// that are left out.
FolderCompanions companions_for(const LoadedModel& model, const Destination& destination, ConvertReport& report) {
  FolderCompanions companions;
  if (destination.is_folder()) companions = {model.side_files, graphs_of(model)};
  check_folders(companions.files, destination.path);
  report.side_files = companions.files.size();
  report.side_files_left_out = model.side_files.size() - companions.files.size();
  (destination.is_folder() ? report.graphs : report.graphs_left_out) = model.graphs.size();
  return companions;
}

/// Writes the data files, side files, graphs and the model, and publishes them.
void write_all(FileSet& set, const DataFiles& files, const FolderCompanions& companions, const ByteSource& proto,
               base::Progress& progress) {
  for (const auto& [name, placed] : files) {
    set.write(name, end_of(placed), [&](base::BufferedOutput& out) {
      for (const PayloadLayout::Placed* part : placed) {
        out.pad_to(part->slice.offset);
        out.append(base::CountedSource(*part->payload->source, progress));
      }
    });
  }
  // Only data files have several parts and gaps between them; the others are copied as they are.
  const auto write = [&](const std::string& name, const ByteSource& source) {
    set.write(name, source.size(),
              [&](base::BufferedOutput& out) { out.append(base::CountedSource(source, progress)); });
  };
  for (const SideFile& file : companions.files) write(file.name, *file.source);
  for (const PlacedGraph& graph : companions.graphs) write(graph.name, graph.proto);
  set.write_model(base::CountedSource(proto, progress));
  set.publish();
}

/// Plans the contents of all files, with the place of every payload, before the first file is opened. The rope refers
/// to other members, so a plan is not copied or moved.
class OnnxPlan {
 public:
  OnnxPlan(const LoadedModel& model, FolderCompanions taken, const fs::path& target, SaveOptions options)
      : options_(std::move(options)),
        companions_(std::move(taken)),
        layout_(target, [this](const auto& folder, const auto& site, const auto& payload) {
          return place(folder, site, payload);
        }) {
    // Data files are written into the folder of the side files, so their names must differ from all of those.
    reserve_names(keys_, companions_.files);
    keys_.reserve(os::text_of(target.filename()));  // a data file must not replace the model
    proto_ = place_payloads(model, options_, layout_, companions_.graphs);
    files_ = data_files(layout_, options_);
  }
  OnnxPlan(const OnnxPlan&) = delete;
  OnnxPlan& operator=(const OnnxPlan&) = delete;
  ~OnnxPlan() = default;

  [[nodiscard]] const FolderCompanions& companions() const noexcept { return companions_; }
  /// Whether protobuf reads the model and all graphs.
  [[nodiscard]] bool fits() const {
    return fits_protobuf(proto_.size()) && std::ranges::all_of(companions_.graphs, [](const PlacedGraph& graph) {
             return fits_protobuf(graph.proto.size());
           });
  }
  /// Errors: onnx.model.too_large.
  void check_sizes(const fs::path& output) const {
    const Hint advice = is_inline() ? Hint::external_data : Hint::lower_threshold;
    check_model_size(proto_.size(), output, advice);
    for (const PlacedGraph& graph : companions_.graphs)
      check_model_size(graph.proto.size(), output / graph.name, advice);
  }
  void claim(FileTargets& targets) const {
    for (const auto& [name, parts] : files_) targets.claim(name);
    companions_.claim(targets);
  }
  void add_to(ConvertReport& report) {
    layout_.add_to(report);
    report.data_file = is_one_data_file(options_) ? options_.data_file : "";
    report.model_bytes = proto_.size();
    report.file_bytes = proto_.size() + companions_.size();
    for (const auto& [name, parts] : files_) report.file_bytes += end_of(parts);
  }
  void write(FileSet& set, base::Progress& progress) const { write_all(set, files_, companions_, proto_, progress); }

 private:
  [[nodiscard]] bool is_inline() const noexcept { return options_.format == Format::onnx_inline; }

  /// Gives a tensor's data a file, or the next aligned place in the file of all tensors.
  PayloadLayout::Placement place(const std::string& folder, const onnx::TensorSite& site, const Payload& payload) {
    const std::uint64_t size = payload.size();
    if (options_.file_per_tensor) return {{keys_.make(site.tensor.name), 0, size}};
    std::uint64_t& end = ends_[folder];
    const std::uint64_t offset = base::align_up(end, zip::entry_alignment(options_.alignment, size));
    end = base::add_announced(offset, size, {options_.data_file, std::nullopt});
    return {{options_.data_file, offset, size}};
  }

  SaveOptions options_;
  FolderCompanions companions_;
  std::map<std::string, std::uint64_t> ends_;  // of the last payload in the data file of each folder
  KeyMaker keys_;
  PayloadLayout layout_;
  onnx::Rope proto_;
  DataFiles files_;
};

/// The options for a model in a folder that is too large for protobuf with its data inside: the data goes to a file
/// beside it.
SaveOptions with_data_file(const SaveOptions& options, const Destination& destination) {
  SaveOptions external = options;
  external.format = Format::onnx_external;
  const bool is_refused = destination.model.find("..") != std::string::npos;  // as in check_data_file_name
  external.data_file =
      is_refused ? "model.onnx.data" : os::text_of(os::path_of(destination.model).filename()) + ".data";
  return external;
}

}  // namespace

fs::path name_in_folder(const LoadedModel& model, const fs::path& path) {
  const fs::path input = path.filename();
  if (const auto name = model_name_of(model.skeleton)) return os::path_of(*name + std::string(graph_suffix));
  // A graph, a side file or the folder of one may have the name of the input, in other ASCII case, too.
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

void save_onnx(const LoadedModel& model, const Destination& destination, const SaveOptions& options,
               ConvertReport& report) {
  if (is_one_data_file(options)) check_data_file_name(options.data_file, destination.path);
  const FolderCompanions taken = companions_for(model, destination, report);
  FileTargets targets(destination, options.output);
  const fs::path& target = targets.model().path;
  auto plan = std::make_unique<OnnxPlan>(model, taken, target, options);
  // Only a complete plan tells the size of an inline model. A folder can take a data file too, so a model that is too
  // large is planned a second time; a single file is refused below.
  if (options.format == Format::onnx_inline && destination.is_folder() && !plan->fits()) {
    plan = std::make_unique<OnnxPlan>(model, taken, target, with_data_file(options, destination));
  }
  // All refusals come before the end of a dry run, so that it fails where a real run would.
  plan->check_sizes(destination.path);
  plan->claim(targets);
  plan->add_to(report);
  report.model_path = target;
  if (options.output.dry_run) return;
  FileSet set(targets, options.output);
  base::Progress progress(options.progress, report.payload_bytes + plan->companions().size() + report.model_bytes);
  plan->write(set, progress);
}

void save_alone(const ByteSource& bytes, const LoadedModel& model, const Destination& destination,
                const SaveOptions& options, ConvertReport& report) {
  SaveOptions complete = options;  // graphs beside the text have their data inside too
  complete.format = Format::onnx_inline;
  FileTargets targets(destination, options.output);
  const OnnxPlan plan(model, companions_for(model, destination, report), targets.model().path, std::move(complete));
  for (const PlacedGraph& graph : plan.companions().graphs) {
    check_model_size(graph.proto.size(), destination.path, Hint::not_as_text);
  }
  plan.companions().claim(targets);
  report.model_path = targets.model().path;
  report.model_bytes = bytes.size();
  report.file_bytes = report.model_bytes + plan.companions().size();
  if (options.output.dry_run) return;
  FileSet set(targets, options.output);
  base::Progress progress(options.progress, report.file_bytes);
  write_all(set, {}, plan.companions(), bytes, progress);
}

}  // namespace onnxar
