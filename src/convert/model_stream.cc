// Reads and writes models in the messages of a caller's own protobuf library.
#include "onnxar/model_stream.h"

#include <optional>
#include <utility>
#include <vector>

#include "archive/entry_writer.h"
#include "archive/graphs.h"
#include "base/annotated.h"
#include "base/sources.h"
#include "base/steps.h"
#include "base/text.h"
#include "convert/duplicates.h"
#include "convert/expansion.h"
#include "convert/load.h"
#include "convert/model_check.h"
#include "convert/open.h"
#include "convert/replace.h"
#include "convert/save.h"
#include "convert/target_source.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/convert.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

/// Limits the memory of the caller, who puts the data of every tensor into a message of its own class. Messages cannot
/// share bytes, so data that tensors share in the file takes memory once for each tensor.
void check_expansion(const LoadedModel& model) {
  Expansion expansion(model);
  for (const Payload& payload : model.payloads) expansion.add(payload);
}

const Payload& payload_at(const LoadedModel& model, std::size_t index) {
  const std::size_t size = model.payloads.size();
  if (index < size) return model.payloads[index];
  throw Error(
      Code::usage_no_such_tensor,
      base::concat("the index ", index, " is out of range: ", size, " tensors have their data beside the model"), {},
      model.source->path());
}

void append_steps(std::vector<FieldStep>& steps, const onnx::TensorSite& site) {
  for (const onnx::Level& level : site.levels) {
    steps.push_back({level.label, level.repeated ? std::optional(level.index) : std::nullopt});
  }
}

}  // namespace

std::vector<std::vector<FieldStep>> steps_of_tensors(const Archive& archive) {
  std::vector<std::vector<FieldStep>> steps;
  walk_graph(archive, archive.model_entry(),
             [&steps](const onnx::TensorSite& site) { append_steps(steps.emplace_back(), site); });
  return steps;
}

struct ModelReader::Parts {
  LoadedModel model;
};

ModelReader::ModelReader(Archive archive, const LoadOptions& options) : parts_(detail::own<Parts>()) {
  LoadedModel& model = parts_->model;
  LoadOptions all_data = options;
  all_data.load_external_data = true;  // a remaining link would have no data
  auto source = source_of(std::move(archive), all_data);
  ArchiveSource& in_archive = *source;  // the model keeps it
  model = load_model(std::move(source), ExternalPolicy::everything_inline(), all_data, Companions::left);
  refuse_faults(in_archive, all_data);
  refuse_duplicates_outside(model, in_archive.path(), Hint::external_data);
  check_expansion(model);
}

Bytes ModelReader::model() const& noexcept { return parts_->model.skeleton; }

std::size_t ModelReader::size() const noexcept { return parts_->model.payloads.size(); }

std::uint64_t ModelReader::size_of(std::size_t index) const { return payload_at(parts_->model, index).size(); }

void ModelReader::read(std::size_t index, const ByteSink& sink) const {
  base::check_sink(sink);
  payload_at(parts_->model, index).source->read(sink);
}

void ModelReader::for_each(
    const std::function<void(std::size_t index, std::span<const FieldStep> steps)>& visit) const {
  base::check_visitor(visit);
  const LoadedModel& model = parts_->model;
  std::vector<FieldStep> steps;
  const auto visit_linked = [&](const onnx::TensorSite& site) {
    const Payload* payload = model.payload_of(site);
    if (payload == nullptr) return;
    steps.clear();
    append_steps(steps, site);
    visit(static_cast<std::size_t>(payload - model.payloads.data()), steps);
  };
  onnx::walk_tensors(model.skeleton, visit_linked);
}

std::string link_fields(std::string_view location, std::uint64_t size) {
  return onnx::external_data_fields({std::string(location), 0, size});
}

struct ModelWriter::Parts {
  LoadedModel model;
  base::Steps steps;
};

ModelWriter::ModelWriter() : parts_(detail::own<Parts>()) { parts_->model.id = new_model_id(); }

std::string ModelWriter::add(std::shared_ptr<const ByteSource> weight) {
  return parts_in(parts_).steps.take([&] {
    if (weight == nullptr) throw Error(Code::usage_argument, "the added weight is a null pointer");
    std::vector<Payload>& payloads = parts_->model.payloads;
    // Checks the length of the source here, because it may go into a model or a data file; only the archive's writer
    // checks it too.
    std::string what = base::concat("weight ", payloads.size(), " in the order of adding");
    auto exact = std::make_shared<const base::ExactSource>(std::move(weight), what);
    if (exact->size() > zip::largest_entry) {
      throw Error(Code::usage_argument,
                  base::concat(what, " would be ", base::over_limit(exact->size(), zip::largest_entry)));
    }
    payloads.push_back({std::move(exact)});
    payloads.back().may_be_shared = false;
    return onnx::memory_location(parts_->model.id, payloads.size() - 1);
  });
}

ConvertReport ModelWriter::save(Bytes model, const std::filesystem::path& output, const SaveOptions& save,
                                const LoadOptions& load) const {
  return base::annotated(output, [&] {
    return parts_in(parts_).steps.take([&] {
      LoadedModel loaded = parts_->model;
      split_model(loaded, source_of(model, nullptr, load), ExternalPolicy::of(save), load);
      return save_model(loaded, output, save);
    });
  });
}

ReplaceReport ModelWriter::replace(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options,
                                   const LoadOptions& load) const {
  return parts_in(parts_).steps.take([&] {
    const auto open = [&](const Archive& target) { return source_for(target, model, file_links(options), load); };
    return replace_model_of(archive, parts_->model, open, options, load);
  });
}

}  // namespace onnxar
