// Plain ONNX: one ModelProto, its data inside or in files beside it.
#include <map>
#include <utility>

#include "base/buffered_output.h"
#include "base/checked.h"
#include "base/text.h"
#include "convert/file_set.h"
#include "convert/placing.h"
#include "convert/progress.h"
#include "convert/save.h"
#include "convert/side_files.h"
#include "onnxar/archive_writer.h"
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
Outside::Place placing(const SaveOptions& options, DataFileLayout& one_file, KeyMaker& keys) {
  if (options.file_per_tensor) {
    return [&keys](const onnx::TensorSite& site, const Payload& payload) {
      return onnx::ExternalLink{keys.make(site.tensor.name), 0, payload.size()};
    };
  }
  return [&one_file](const onnx::TensorSite&, const Payload& payload) { return one_file.place(payload.size()); };
}

/// What goes into each data file, in the order of the offsets.
using DataFiles = std::map<std::string, std::vector<const Outside::Placed*>>;

DataFiles data_files(const Outside& outside, const SaveOptions& options) {
  DataFiles files;
  if (is_one_data_file(options)) files[options.data_file];  // even if empty
  for (const Outside::Placed& placed : outside.placed()) files[placed.slice.location].push_back(&placed);
  return files;
}

std::uint64_t end_of(const std::vector<const Outside::Placed*>& placed) {
  return placed.empty() ? 0 : placed.back()->slice.offset + placed.back()->payload->size();
}

/// What goes into a folder with the model; nothing goes with a single file, which the report says.
const std::vector<SideFile>& taken_along(const std::vector<SideFile>& side_files, const Destination& destination,
                                         ConvertReport& report) {
  static const std::vector<SideFile> none;
  const std::vector<SideFile>& taken = destination.is_folder() ? side_files : none;
  check_folders(taken);
  report.side_files = taken.size();
  report.side_files_left_out = side_files.size() - taken.size();
  return taken;
}

/// Writes the data files, the side files and the model, and publishes them.
void write_all(FileSet& set, const DataFiles& files, const std::vector<SideFile>& side_files, const ByteSource& proto,
               Progress& progress) {
  for (const auto& [name, placed] : files) {
    set.write(name, end_of(placed), [&](base::BufferedOutput& out) {
      for (const Outside::Placed* part : placed) {
        out.pad_to(part->slice.offset);
        CountedSource(*part->payload->source, progress).read([&out](Bytes piece) { out.append(piece); });
      }
    });
  }
  for (const SideFile& file : side_files) {
    set.write(file.name, file.source->size(), [&](base::BufferedOutput& out) {
      CountedSource(*file.source, progress).read([&out](Bytes piece) { out.append(piece); });
    });
  }
  set.publish(CountedSource(proto, progress));
}

/// The model with the places of its payloads.
struct Placing {
  Placing(const LoadedModel& model, const std::vector<SideFile>& side_files, const fs::path& target,
          const SaveOptions& options)
      : layout(options.data_file, options.alignment), outside(placing(options, layout, keys)) {
    reserve_names(keys, side_files);
    keys.reserve(target.filename().string());
    proto = place_payloads(model, options, outside, options.format == Format::onnx_inline ? &target : nullptr);
  }
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;
  ~Placing() = default;

  DataFileLayout layout;
  KeyMaker keys;
  Outside outside;
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
bool save_to(FileSet& set, const LoadedModel& model, const std::vector<SideFile>& side_files,
             const Destination& destination, const SaveOptions& options, ConvertReport& report) {
  const bool is_inline = options.format == Format::onnx_inline;
  const Placing placed(model, side_files, set.model(), options);
  if (is_inline && destination.is_folder() && !fits_inline(placed.proto.size())) return false;
  check_model_size(placed.proto.size(), destination.path,
                   is_inline ? "use --external-data NAME to keep the weights in a file beside the model"
                             : "a lower --threshold moves more tensors out of it");
  const DataFiles files = data_files(placed.outside, options);
  for (const auto& [name, parts] : files) set.claim(name);
  for (const SideFile& file : side_files) set.claim(file.name);
  placed.outside.add_to(report);
  report.model_path = set.model();
  report.data_file = is_one_data_file(options) ? options.data_file : "";
  report.model_bytes = report.file_bytes = placed.proto.size();
  for (const auto& [name, parts] : files) report.file_bytes += end_of(parts);
  report.file_bytes += size_of(side_files);
  if (options.dry_run) return true;
  Progress progress(options.progress, report.payload_bytes + size_of(side_files) + placed.proto.size());
  write_all(set, files, side_files, placed.proto, progress);
  return true;
}

}  // namespace

void save_plain(const LoadedModel& model, const Destination& destination, const SaveOptions& options,
                ConvertReport& report) {
  if (is_one_data_file(options)) check_data_file_name(options.data_file);
  const std::vector<SideFile>& side_files = taken_along(model.side_files, destination, report);
  FileSet set(destination, options);
  if (!save_to(set, model, side_files, destination, options, report)) {
    save_to(set, model, side_files, destination, with_data_file(options, destination), report);
  }
}

void save_alone(const ByteSource& bytes, const std::vector<SideFile>& side_files, const Destination& destination,
                const SaveOptions& options, ConvertReport& report) {
  const std::vector<SideFile>& taken = taken_along(side_files, destination, report);
  FileSet set(destination, options);
  for (const SideFile& file : taken) set.claim(file.name);
  report.model_path = set.model();
  report.model_bytes = bytes.size();
  report.file_bytes = report.model_bytes + size_of(taken);
  if (options.dry_run) return;
  Progress progress(options.progress, report.file_bytes);
  write_all(set, {}, taken, bytes, progress);
}

}  // namespace onnxar
