#include "convert/save.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/buffered_output.h"
#include "base/checked.h"
#include "base/text.h"
#include "convert/progress.h"
#include "onnx/rewrite.h"
#include "onnxar/archive_writer.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

constexpr std::uint64_t protobuf_maximum = (1ULL << 31U) - 1;

/// Gives each payload that moves its place outside; tensors that share their bytes share the place.
class Outside {
 public:
  /// `place` finds a new place for a payload of this tensor.
  using Place = std::function<onnx::ExternalSlice(const onnx::TensorSite&, const Payload&)>;
  explicit Outside(Place place) : place_(std::move(place)) {}

  onnx::ExternalSlice put(const onnx::TensorSite& site, const Payload& payload) {
    ++tensors_;
    const Bytes bytes = payload.span.bytes();
    if (bytes.empty()) return add(site, payload);  // converted while it is read: it has no address to share
    const auto [known, added] = known_.try_emplace({bytes.data(), bytes.size()});
    if (added) known->second = add(site, payload);
    return known->second;
  }

  struct Placed {
    onnx::ExternalSlice slice;
    const Payload* payload;
  };
  [[nodiscard]] const std::vector<Placed>& placed() const noexcept { return placed_; }

  void add_to(ConvertReport& report) const {
    report.tensors_outside = tensors_;
    report.payloads = placed_.size();
    for (const Placed& placed : placed_) report.payload_bytes += placed.payload->size();
  }

 private:
  onnx::ExternalSlice add(const onnx::TensorSite& site, const Payload& payload) {
    placed_.push_back({place_(site, payload), &payload});
    return placed_.back().slice;
  }

  Place place_;
  std::map<std::pair<const std::byte*, std::size_t>, onnx::ExternalSlice> known_;
  std::vector<Placed> placed_;
  std::uint64_t tensors_ = 0;
};

/// A link that loading left alone goes on counting from its folder, and its file must stay as it is.
void check_kept_link(const LoadedModel& model, const onnx::TensorSite& site, const base::OutputFile* inline_output) {
  namespace fs = std::filesystem;
  const std::string_view location = site.tensor.external.location.value_or("");
  const auto refuse = [&](std::string_view why) {
    throw Error(Code::usage_not_loaded, base::concat(describe(site), ": its data is in ",
                                                             base::quoted(location), ", which was not loaded; ", why));
  };
  if (inline_output == nullptr) refuse("only an inline model may keep such links; load the data, too");
  const fs::path& target = inline_output->target();
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  std::error_code ignored;  // what cannot be found is not the same
  if (model.data_folder.empty() || !fs::equivalent(folder, model.data_folder, ignored)) {
    refuse("save the model in the folder that its links count from, or load the data, too");
  }
  if (fs::equivalent(model.data_folder / location, target, ignored)) {
    refuse("choose another output: this would replace the data");
  }
}

/// The model with its payloads placed outside where the policy wants that, inline where not.
/// `output` is the file of a model that may keep links to files.
wire::Rope place_payloads(const LoadedModel& model, const SaveOptions& options, Outside& outside,
                          const base::OutputFile* output = nullptr) {
  const MovePolicy policy = MovePolicy::of(options);
  const auto decide = [&](const onnx::TensorSite& site) {
    const Payload* payload = model.payload_of(site);
    if (payload == nullptr) {
      if (site.tensor.is_external()) check_kept_link(model, site, output);
      return onnx::TensorEdit::keep();
    }
    if (policy.moves(site, payload->size())) return onnx::TensorEdit::link_to(outside.put(site, *payload));
    return onnx::TensorEdit::put_inline(payload->source);
  };
  return onnx::rewrite_tensors(model.skeleton, decide, {model.max_depth});
}

base::Existing existing(const SaveOptions& options) {
  return options.replace ? base::Existing::replace : base::Existing::refuse;
}
base::Sync sync_of(const SaveOptions& options) { return options.sync ? base::Sync::full : base::Sync::none; }

void check_model_size(std::uint64_t size, const std::filesystem::path& output, std::string_view advice) {
  if (size <= protobuf_maximum) return;
  throw Error(
      Code::onnx_model_too_large,
      base::concat("the model would be ", base::human_size(size), ", and protobuf reads less than 2 GiB; ", advice), {},
      output);
}

base::OutputFile write_whole(base::OutputFile file, const ByteSource& source, bool write_back) {
  base::BufferedOutput out(std::move(file), write_back);
  out.reserve(source.size());
  source.read([&out](Bytes piece) { out.append(piece); });
  return std::move(out).finish();
}

void reserve_names(KeyMaker& keys, const std::vector<SideFile>& side_files) {
  for (const SideFile& file : side_files) {
    // A key has no slash in it, so it can only clash with a whole name or the first folder of one.
    keys.reserve(std::string_view(file.name).substr(0, file.name.find('/')));
  }
}

std::uint64_t size_of(const std::vector<SideFile>& side_files) {
  std::uint64_t size = 0;
  for (const SideFile& file : side_files) size += file.source->size();
  return size;
}

std::uint64_t size_of_archive(const Outside& outside, const LoadedModel& model, std::uint64_t model_size,
                              std::uint64_t alignment) {
  std::vector<std::pair<std::string_view, std::uint64_t>> entries;
  for (const Outside::Placed& placed : outside.placed()) {
    entries.emplace_back(placed.slice.location, placed.payload->size());
  }
  for (const SideFile& file : model.side_files) entries.emplace_back(file.name, file.source->size());
  return archive_size(entries, model_size, alignment);
}

void check_data_file_name(const std::string& name, const std::filesystem::path& output) {
  const std::filesystem::path path(name);
  const bool plain =
      !name.empty() && path.filename() == path && name != "." && name != ".." && name != output.filename();
  if (plain && !name.starts_with("#")) return;
  throw Error(Code::usage_argument,
              base::concat("the data file ", base::quoted(name),
                           " must be a plain file name, other than the model's: it is written beside the model"));
}

/// A link would have the data written elsewhere than its name says, be it over the model itself.
void check_data_target(const base::OutputFile& data, const base::OutputFile& model, const std::string& name) {
  const bool beside = data.target().parent_path() == model.target().parent_path() && data.target().filename() == name;
  if (beside && data.target() != model.target()) return;
  throw Error(Code::usage_argument,
              base::concat("the data file ", base::quoted(name),
                           " is or would be the model itself, or is a symbolic link; choose another name"),
              {}, data.target());
}

/// Aligned offsets in one data file, one behind the other.
class DataFileLayout {
 public:
  DataFileLayout(std::string name, std::uint64_t alignment) : name_(std::move(name)), alignment_(alignment) {}

  onnx::ExternalSlice place(std::uint64_t size) {
    const std::uint64_t offset = base::align_up(end_, zip::entry_alignment(alignment_, size));
    end_ = offset + size;
    return {name_, offset, size};
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return end_; }

 private:
  std::string name_;
  std::uint64_t alignment_;
  std::uint64_t end_ = 0;
};

base::OutputFile write_data_file(base::OutputFile file, const Outside& outside, std::uint64_t size, bool write_back,
                                 Progress& progress) {
  base::BufferedOutput out(std::move(file), write_back);
  out.reserve(size);
  for (const Outside::Placed& placed : outside.placed()) {
    out.pad_to(placed.slice.offset);
    CountedSource(*placed.payload->source, progress).read([&out](Bytes piece) { out.append(piece); });
  }
  return std::move(out).finish();
}

/// The model's name appears last: whoever sees it finds its data, too.
void publish_both(base::OutputFile data, base::OutputFile model, const SaveOptions& options) {
  data.prepare(sync_of(options));
  model.prepare(sync_of(options));
  data.stage();
  model.stage();
  data.publish(sync_of(options));
  try {
    model.publish(sync_of(options));
  } catch (const Error&) {
    std::error_code ignored;
    if (!options.replace) std::filesystem::remove(data.target(), ignored);
    throw;
  }
}

}  // namespace

void save_archive(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                  ConvertReport& report) {
  ArchiveWriter writer = ArchiveWriter::create(output, {options.alignment, options.replace, options.sync});
  KeyMaker keys;
  reserve_names(keys, model.side_files);
  Outside outside([&keys](const onnx::TensorSite& site, const Payload& payload) {
    return onnx::ExternalSlice{keys.make(site.tensor.name), 0, payload.size()};
  });
  const wire::Rope proto = place_payloads(model, options, outside);
  check_model_size(proto.size(), output, "a lower --threshold or --all-sites moves more tensors out of it");
  report.file_bytes = size_of_archive(outside, model, proto.size(), options.alignment);
  report.model_bytes = proto.size();
  outside.add_to(report);
  if (options.dry_run) return;
  writer.reserve(report.file_bytes);
  Progress progress(options.progress, report.payload_bytes + size_of(model.side_files) + report.model_bytes);
  const auto add = [&](std::string_view name, const ByteSource& source) {
    writer.add(name, CountedSource(source, progress));
  };
  for (const Outside::Placed& placed : outside.placed()) add(placed.slice.location, *placed.payload->source);
  for (const SideFile& file : model.side_files) add(file.name, *file.source);
  writer.finish(CountedSource(proto, progress));
}

void save_inline(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                 ConvertReport& report) {
  base::OutputFile file = base::OutputFile::create(output, existing(options));
  Outside outside(nullptr);  // the policy of this format puts nothing outside
  const wire::Rope proto = place_payloads(model, options, outside, &file);
  check_model_size(proto.size(), output, "use --external-data NAME to keep the weights in a file beside the model");
  report.model_bytes = report.file_bytes = proto.size();
  if (options.dry_run) return;
  Progress progress(options.progress, proto.size());
  write_whole(std::move(file), CountedSource(proto, progress), options.sync).publish(sync_of(options));
}

void save_external(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                   ConvertReport& report) {
  check_data_file_name(options.data_file, output);
  base::OutputFile model_file = base::OutputFile::create(output, existing(options));
  base::OutputFile data_file =
      base::OutputFile::create(model_file.target().parent_path() / options.data_file, existing(options));
  check_data_target(data_file, model_file, options.data_file);
  DataFileLayout layout(options.data_file, options.alignment);
  Outside outside([&layout](const onnx::TensorSite&, const Payload& payload) { return layout.place(payload.size()); });
  const wire::Rope proto = place_payloads(model, options, outside);
  check_model_size(proto.size(), output, "a lower --threshold moves more tensors out of it");
  report.model_bytes = proto.size();
  report.file_bytes = proto.size() + layout.size();
  outside.add_to(report);
  if (options.dry_run) return;
  Progress progress(options.progress, report.payload_bytes + proto.size());
  data_file = write_data_file(std::move(data_file), outside, layout.size(), options.sync, progress);
  model_file = write_whole(std::move(model_file), CountedSource(proto, progress), options.sync);
  publish_both(std::move(data_file), std::move(model_file), options);
}

}  // namespace onnxar
