// Plain ONNX: one ModelProto, its data inside or in files beside it.
#include <algorithm>
#include <map>
#include <utility>

#include "archive/keys.h"
#include "base/buffered_output.h"
#include "base/checked.h"
#include "base/text.h"
#include "onnxar/archive_writer.h"
#include "sink/file_set.h"
#include "sink/payload_layout.h"
#include "sink/progress.h"
#include "sink/save.h"
#include "sink/side_files.h"
#include "source/graph_rules.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

bool is_one_data_file(const SaveOptions& options) {
  return options.format == Format::onnx_external && !options.file_per_tensor;
}

void check_data_file_name(const std::string& name) {
  const std::filesystem::path path(name);
  const bool plain = !name.empty() && path.filename() == path && name != "." && name != "..";
  if (plain && !name.starts_with("#")) return;
  throw Error(Code::usage_argument, base::concat("the data file ", base::quoted(name),
                                                 " must be a plain file name: it is written beside the model"));
}

/// Aligned offsets in one data file, one behind the other.
class DataFileLayout {
 public:
  DataFileLayout(std::string name, std::uint64_t alignment) : name_(std::move(name)), alignment_(alignment) {}

  onnx::ExternalLink place(std::uint64_t size) {
    const std::uint64_t offset = base::align_up(end_, zip::entry_alignment(alignment_, size));
    end_ = offset + size;
    return {name_, offset, size};
  }

 private:
  std::string name_;
  std::uint64_t alignment_;
  std::uint64_t end_ = 0;
};

/// Gives each tensor's data its place in a file: one for all, or one for each.
PayloadLayout::Place placing(const SaveOptions& options, DataFileLayout& one_file, KeyMaker& keys) {
  if (options.file_per_tensor) {
    return [&keys](const onnx::TensorSite& site, const Payload& payload) -> PayloadLayout::Placement {
      return {{keys.make(site.tensor.name), 0, payload.size()}};
    };
  }
  return [&one_file](const onnx::TensorSite&, const Payload& payload) -> PayloadLayout::Placement {
    return {one_file.place(payload.size())};
  };
}

/// What goes into each data file, in the order of the offsets.
using DataFiles = std::map<std::string, std::vector<const PayloadLayout::Placed*>>;

DataFiles data_files(const PayloadLayout& outside, const SaveOptions& options) {
  DataFiles files;
  if (is_one_data_file(options)) files[options.data_file];  // even if empty
  for (const PayloadLayout::Placed& placed : outside.placed()) files[placed.slice.location].push_back(&placed);
  return files;
}

std::uint64_t end_of(const std::vector<const PayloadLayout::Placed*>& placed) {
  return placed.empty() ? 0 : placed.back()->slice.offset + placed.back()->payload->size();
}

/// What goes into a folder with the model.
struct Along {
  std::vector<SideFile> files;
  std::vector<PlacedGraph> graphs;

  [[nodiscard]] std::uint64_t size() const { return size_of(files) + size_of(graphs); }
  void claim(FileSet& set) const {
    for (const SideFile& file : files) set.claim(file.name);
    for (const PlacedGraph& graph : graphs) set.claim(graph.name);
  }
};

/// Nothing goes with a single file, which the report says.
Along taken_along(const LoadedModel& model, const Destination& destination, ConvertReport& report) {
  Along along;
  if (destination.is_folder()) along = {model.side_files, graphs_of(model)};
  check_folders(along.files);
  report.side_files = along.files.size();
  report.side_files_left_out = model.side_files.size() - along.files.size();
  (destination.is_folder() ? report.graphs : report.graphs_left_out) = model.graphs.size();
  return along;
}

/// Writes the data files, what goes along and the model, and publishes them.
void write_all(FileSet& set, const DataFiles& files, const Along& along, const ByteSource& proto, Progress& progress) {
  for (const auto& [name, placed] : files) {
    set.write(name, end_of(placed), [&](base::BufferedOutput& out) {
      for (const PayloadLayout::Placed* part : placed) {
        out.pad_to(part->slice.offset);
        out.append(CountedSource(*part->payload->source, progress));
      }
    });
  }
  const auto write = [&](const std::string& name, const ByteSource& source) {
    set.write(name, source.size(), [&](base::BufferedOutput& out) { out.append(CountedSource(source, progress)); });
  };
  for (const SideFile& file : along.files) write(file.name, *file.source);
  for (const PlacedGraph& graph : along.graphs) write(graph.name, graph.proto);
  set.publish(CountedSource(proto, progress));
}

/// The model and what goes along, with the places of their payloads.
struct Placing {
  Placing(const LoadedModel& model, Along taken, const fs::path& target, const SaveOptions& options)
      : along(std::move(taken)), layout(options.data_file, options.alignment), outside(placing(options, layout, keys)) {
    reserve_names(keys, along.files);
    keys.reserve(target.filename().string());
    proto = place_payloads(model, options, outside, along.graphs,
                           options.format == Format::onnx_inline ? &target : nullptr);
  }
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;
  ~Placing() = default;

  /// Whether protobuf reads all of them.
  [[nodiscard]] bool fits() const {
    return fits_inline(proto.size()) &&
           std::ranges::all_of(along.graphs, [](const PlacedGraph& graph) { return fits_inline(graph.proto.size()); });
  }
  void check_sizes(const fs::path& folder, const fs::path& output, Hint hint) const {
    check_model_size(proto.size(), output, hint);
    for (const PlacedGraph& graph : along.graphs) check_model_size(graph.proto.size(), folder / graph.name, hint);
  }

  Along along;
  DataFileLayout layout;
  KeyMaker keys;
  PayloadLayout outside;
  wire::Rope proto;
};

/// Data that is too much for a model goes beside it where the caller has left everything to us.
SaveOptions with_data_file(const SaveOptions& options, const Destination& destination) {
  SaveOptions external = options;
  external.format = Format::onnx_external;
  external.data_file = destination.model + ".data";
  return external;
}

/// False, and nothing done, where the data is too much for the model and may be put beside it.
bool save_to(FileSet& set, const LoadedModel& model, const Along& taken, const Destination& destination,
             const SaveOptions& options, ConvertReport& report) {
  const bool is_inline = options.format == Format::onnx_inline;
  const Placing placed(model, taken, set.model(), options);
  if (is_inline && destination.is_folder() && !placed.fits()) return false;
  placed.check_sizes(destination.path, destination.path, is_inline ? Hint::external_data : Hint::lower_threshold);
  const DataFiles files = data_files(placed.outside, options);
  for (const auto& [name, parts] : files) set.claim(name);
  placed.along.claim(set);
  placed.outside.add_to(report);
  report.model_path = set.model();
  report.data_file = is_one_data_file(options) ? options.data_file : "";
  report.model_bytes = report.file_bytes = placed.proto.size();
  for (const auto& [name, parts] : files) report.file_bytes += end_of(parts);
  report.file_bytes += placed.along.size();
  if (options.output.dry_run) return true;
  Progress progress(options.progress, report.payload_bytes + placed.along.size() + placed.proto.size());
  write_all(set, files, placed.along, placed.proto, progress);
  return true;
}

}  // namespace

fs::path name_in_folder(const LoadedModel& model, const fs::path& input) {
  const auto name = model_name_of(model.skeleton);
  return name ? fs::path(*name + std::string(graph_suffix)) : input;
}

void save_onnx(const LoadedModel& model, const Destination& destination, const SaveOptions& options,
               ConvertReport& report) {
  if (is_one_data_file(options)) check_data_file_name(options.data_file);
  const Along taken = taken_along(model, destination, report);
  FileSet set(destination, options);
  if (!save_to(set, model, taken, destination, options, report)) {
    save_to(set, model, taken, destination, with_data_file(options, destination), report);
  }
}

void save_alone(const ByteSource& bytes, const LoadedModel& model, const Destination& destination,
                const SaveOptions& options, ConvertReport& report) {
  SaveOptions complete = options;  // what is not text in the folder has its data inside, too
  complete.format = Format::onnx_inline;
  FileSet set(destination, options);
  const Placing placed(model, taken_along(model, destination, report), set.model(), complete);
  for (const PlacedGraph& graph : placed.along.graphs) {
    check_model_size(graph.proto.size(), destination.path, Hint::not_as_text);
  }
  placed.along.claim(set);
  report.model_path = set.model();
  report.model_bytes = bytes.size();
  report.file_bytes = report.model_bytes + placed.along.size();
  if (options.output.dry_run) return;
  Progress progress(options.progress, report.file_bytes);
  write_all(set, {}, placed.along, bytes, progress);
}

}  // namespace onnxar
