// Writes plain ONNX: one ModelProto, its data inside or in files beside it.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "archive/access.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/buffered_output.h"
#include "base/checked.h"
#include "base/exact_source.h"
#include "base/progress.h"
#include "base/text.h"
#include "convert/companions.h"
#include "convert/file_source.h"
#include "convert/plan.h"
#include "convert/publish.h"
#include "convert/save.h"
#include "onnxar/archive_writer.h"
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
  // Readers take a location that begins with `#` for the memory of a process.
  if (is_plain && !name.starts_with("#")) return;
  throw Error(
      Code::usage_argument,
      base::concat("the data file ", base::quoted(name),
                   " must be a plain file name in UTF-8: it is written beside the model, and ONNX's readers open it"),
      {}, output);
}

/// The payloads of each data file, in the order of their offsets.
using DataFiles = std::map<std::string, std::vector<const PayloadLayout::Placed*>>;

DataFiles data_files(const PayloadLayout& layout, const SaveOptions& options) {
  DataFiles files;
  if (is_one_data_file(options))
    files[options.data_file];  // written even if no payload goes into it: the report names it
  for (const PayloadLayout::Placed& placed : layout.placed()) files[placed.slice.location].push_back(&placed);
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
        layout_(target, [this](const auto& site, const auto& payload) { return place(site, payload); }) {
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
  void add_to(ConvertReport& report) const {
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
  PayloadLayout::Placement place(const onnx::TensorSite& site, const Payload& payload) {
    const std::uint64_t size = payload.size();
    if (options_.file_per_tensor) return {{keys_.make(site.tensor.name), 0, size}};
    const std::uint64_t offset = base::align_up(end_, zip::entry_alignment(options_.alignment, size));
    end_ = base::add_announced(offset, size, {options_.data_file, std::nullopt});
    return {{options_.data_file, offset, size}};
  }

  SaveOptions options_;
  FolderCompanions companions_;
  std::uint64_t end_ = 0;  // of the last payload in the file of all tensors
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
  external.data_file = destination.model + ".data";
  return external;
}

}  // namespace

fs::path name_in_folder(const LoadedModel& model, const fs::path& input) {
  const auto name = model_name_of(model.skeleton);
  return name ? os::path_of(*name + std::string(graph_suffix)) : input;
}

void save_onnx(const LoadedModel& model, const Destination& destination, const SaveOptions& options,
               ConvertReport& report) {
  if (is_one_data_file(options)) check_data_file_name(options.data_file, destination.path);
  const FolderCompanions taken = companions_for(model, destination, report);
  FileTargets targets(destination, options.output);
  const fs::path& target = targets.model().path;
  auto plan = std::make_unique<const OnnxPlan>(model, taken, target, options);
  // Only a complete plan tells the size of an inline model. A folder can take a data file too, so a model that is too
  // large is planned a second time; a single file is refused below.
  if (options.format == Format::onnx_inline && destination.is_folder() && !plan->fits()) {
    plan = std::make_unique<const OnnxPlan>(model, taken, target, with_data_file(options, destination));
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
