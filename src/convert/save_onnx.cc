// Writes a loaded model as plain ONNX: one file, or a folder with its graphs, data files and side files.
#include "convert/save_onnx.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "archive/keys.h"
#include "archive/model_proof.h"
#include "base/buffered_output.h"
#include "base/checked.h"
#include "base/progress.h"
#include "base/sources.h"
#include "base/text.h"
#include "base/utf8.h"
#include "convert/companions.h"
#include "convert/external_files.h"
#include "convert/file_targets.h"
#include "convert/model_source.h"
#include "convert/payload_layout.h"
#include "convert/publish.h"
#include "onnx/rope.h"
#include "os/names.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

bool is_one_data_file(const SaveOptions& options) {
  return options.format == Format::onnx_external && !options.file_per_tensor;
}

void check_data_file_name(const std::string& name, const fs::path& output) {
  const std::filesystem::path path = os::path_of(name);
  const bool is_plain = path.filename() == path && name != "." && !location_fault(name) && base::is_utf8(name);
  // Readers treat a location that begins with `#` as memory of a process, and onnx treats one that contains two dots as
  // a path out of the folder.
  if (is_plain && !name.starts_with("#") && name.find("..") == std::string::npos) return;
  throw Error(Code::usage_argument,
              base::concat("the data file ", base::quoted(name),
                           " must be a plain file name in UTF-8, without `..` anywhere and without `#` at its "
                           "beginning: it is written beside the model, and ONNX's readers refuse to open others"),
              {}, output);
}

/// Maps each data file to its payloads, in the order of their offsets.
using DataFiles = std::map<std::string, std::vector<const PayloadLayout::Placed*>>;

DataFiles data_files(const PayloadLayout& layout) {
  DataFiles files;
  for (const PayloadLayout::Placed& placed : layout.placed())
    files[placed.folder + placed.slice.location].push_back(&placed);
  return files;
}

std::uint64_t end_of(const std::vector<const PayloadLayout::Placed*>& placed) {
  return placed.empty() ? 0 : placed.back()->slice.offset + placed.back()->payload->size();
}

/// Holds the side files and graphs that are written into the folder of the model.
struct FolderCompanions {
  std::vector<SideFile> files;
  std::vector<PlacedGraph> graphs;

  [[nodiscard]] std::uint64_t size() const { return size_of(files) + size_of(graphs); }
  void claim(FileTargets& targets) const {
    for (const SideFile& file : files) targets.claim(file.name);
    for (const PlacedGraph& graph : graphs) targets.claim(graph.name);
  }
};

/// Selects side files and graphs for the destination: all for a folder, none for a single file. Counts the omitted ones
/// in the report.
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

std::string file_name_of(const std::string& path) { return os::text_of(os::path_of(path).filename()); }

/// Returns the options for a model that is too large for protobuf with its data inside: the data goes to a file beside
/// it. In a folder `onnx`, each model gets the data file that transformers.js looks for; elsewhere the models of a
/// folder share one, named after the archive's model.
SaveOptions with_data_file(const SaveOptions& options, const std::string& path, const std::string& model_path) {
  SaveOptions external = options;
  external.format = Format::onnx_external;
  const std::string_view folder = folder_of_name(path);
  const bool is_of_hub = folder == "onnx/" || folder.ends_with("/onnx/");
  const std::string name = file_name_of(is_of_hub ? path : model_path);
  const bool is_refused = name.find("..") != std::string::npos;  // as in check_data_file_name
  external.data_file = (is_refused ? "model.onnx" : name) + (is_of_hub ? "_data" : ".data");
  return external;
}

/// Plans the contents of all files, with the place of every payload, before the first file is opened. The rope refers
/// to other members, so a plan is not copied or moved.
class OnnxPlan {
 public:
  /// `target` is the model's file; if the destination is a folder, its path in the folder is `model_path`. The models
  /// `large` get data files, regardless of the options; the name of the model itself is empty.
  OnnxPlan(const LoadedModel& model, FolderCompanions taken, const fs::path& target, std::string model_path,
           SaveOptions options, std::set<std::string> large = {})
      : options_(std::move(options)),
        model_path_(std::move(model_path)),
        large_(std::move(large)),
        companions_(std::move(taken)),
        layout_(target, [this](const auto& folder, const auto& site, const auto& payload) {
          return place(folder, site, payload);
        }) {
    if (model_path_.empty()) model_path_ = os::text_of(target.filename());
    // Data files are written into the folder of the side files, so their names must differ from all of those.
    reserve_names(keys_, companions_.files);
    keys_.reserve(os::text_of(target.filename()));  // a data file must not replace the model
    const auto options_of = [this](const std::string& graph) -> const SaveOptions& { return options_for(graph); };
    proto_ = place_payloads(model, options_of, layout_, companions_.graphs);
    files_ = data_files(layout_);
    // Writes the data file even if no payload goes into it, because the report names it.
    if (files_.empty() && is_one_data_file(options_))
      files_[base::concat(folder_of_name(model_path_), options_for("").data_file)];
  }
  OnnxPlan(const OnnxPlan&) = delete;
  OnnxPlan& operator=(const OnnxPlan&) = delete;
  ~OnnxPlan() = default;

  [[nodiscard]] const FolderCompanions& companions() const noexcept { return companions_; }
  /// Returns the names of the models that are too large for protobuf, in the form that the constructor takes.
  [[nodiscard]] std::set<std::string> too_large() const {
    std::set<std::string> names;
    if (!fits_protobuf(proto_.size())) names.emplace();
    for (const PlacedGraph& graph : companions_.graphs) {
      if (!fits_protobuf(graph.proto.size())) names.insert(graph.name);
    }
    return names;
  }
  /// Throws onnx.model.too_large if a model is too large for protobuf.
  void check_sizes(const fs::path& output) const {
    const Hint advice = is_inline() && large_.empty() ? Hint::external_data : Hint::lower_threshold;
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
    report.data_file = is_one_data_file(options_) ? options_.data_file : !large_.empty() ? files_.begin()->first : "";
    report.model_bytes = proto_.size();
    report.file_bytes = proto_.size() + companions_.size();
    for (const auto& [name, parts] : files_) report.file_bytes += end_of(parts);
  }
  void write(FileSet& set, base::Progress& progress) const { write_all(set, files_, companions_, proto_, progress); }

 private:
  [[nodiscard]] bool is_inline() const noexcept { return options_.format == Format::onnx_inline; }

  /// Assigns a tensor's data a file, or the next aligned place in the file of all tensors.
  PayloadLayout::Placement place(const std::string& folder, const onnx::TensorSite& site, const Payload& payload) {
    const std::uint64_t size = payload.size();
    if (placed_.file_per_tensor) return {{keys_.make(site.tensor.name), 0, size}};
    std::uint64_t& end = ends_[folder + placed_.data_file];
    const std::uint64_t offset = base::align_up(end, zip::entry_alignment(options_.alignment, size));
    end = base::add_announced(offset, size, {placed_.data_file, std::nullopt});
    return {{placed_.data_file, offset, size}};
  }

  /// Returns the options for a graph, whose data file may have its own name.
  const SaveOptions& options_for(const std::string& graph) {
    const std::string& path = graph.empty() ? model_path_ : graph;
    placed_ = large_.contains(graph) ? with_data_file(options_, path, model_path_) : options_;
    if (!is_one_data_file(placed_)) return placed_;
    const std::size_t star = placed_.data_file.find('*');
    if (star != std::string::npos) placed_.data_file.replace(star, 1, file_name_of(path));
    check_data_file_name(placed_.data_file, layout_.output());
    return placed_;
  }

  SaveOptions options_;
  std::string model_path_;
  std::set<std::string> large_;
  SaveOptions placed_ = {};  // for the graph whose payloads are placed
  FolderCompanions companions_;
  std::map<std::string, std::uint64_t> ends_;  // end of the last payload in each data file, by its path
  KeyMaker keys_;
  PayloadLayout layout_;
  onnx::Rope proto_;
  DataFiles files_;
};

}  // namespace

void save_onnx(const LoadedModel& model, const Destination& destination, const SaveOptions& options,
               ConvertReport& report) {
  const FolderCompanions taken = companions_for(model, destination, report);
  FileTargets targets(destination, options.output);
  const fs::path& target = targets.model().path;
  auto plan = std::make_unique<OnnxPlan>(model, taken, target, destination.model, options);
  // The size of an inline model is known only when the plan is complete. A folder can have data files, so models that
  // are too large are planned a second time; a single file is refused below.
  std::set<std::string> large = plan->too_large();
  if (options.format == Format::onnx_inline && destination.is_folder() && !large.empty()) {
    plan = std::make_unique<OnnxPlan>(model, taken, target, destination.model, options, std::move(large));
  }
  // All checks run in a dry run too, so that it fails where a real run would.
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
  SaveOptions complete = options;  // graphs beside the text also have their data inside
  complete.format = Format::onnx_inline;
  FileTargets targets(destination, options.output);
  const OnnxPlan plan(model, companions_for(model, destination, report), targets.model().path, destination.model,
                      std::move(complete));
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
