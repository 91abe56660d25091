#include <utility>

#include "base/exact_source.h"
#include "base/steps.h"
#include "base/text.h"
#include "onnx/external_data.h"
#include "onnxar/model_stream.h"
#include "sink/save.h"
#include "skeleton/load.h"
#include "source/open.h"
#include "verbs/replace_model.h"
#include "zip/layout.h"

namespace onnxar {

std::string link_fields(std::string_view location, std::uint64_t size) {
  return onnx::external_data_fields({std::string(location), 0, size});
}

struct ModelWriter::Parts {
  LoadedModel model;
  base::Steps steps;
};

ModelWriter::ModelWriter() : parts_(std::make_unique<Parts>()) { parts_->model.id = new_model_id(); }
ModelWriter::ModelWriter(ModelWriter&& other) noexcept = default;
ModelWriter& ModelWriter::operator=(ModelWriter&& other) noexcept = default;
ModelWriter::~ModelWriter() = default;

std::string ModelWriter::add(std::shared_ptr<const ByteSource> weight) {
  return parts_->steps.take("add", [&] {
    if (weight == nullptr) throw Error(Code::usage_argument, "the weight that is added is a null pointer");
    std::vector<Payload>& payloads = parts_->model.payloads;
    // The archive's writer checks the length of a source, but the source may also go into a model or a data file.
    std::string what = base::concat("weight ", payloads.size(), " in the order of `add`");
    auto exact = std::make_shared<const base::ExactSource>(std::move(weight), what);
    if (exact->size() > zip::largest_entry) {
      throw Error(Code::usage_argument, base::concat(what, " would be ", base::human_size(exact->size()),
                                                     ", over the limit of ", base::human_size(zip::largest_entry)));
    }
    payloads.push_back({std::move(exact)});
    return onnx::memory_location(parts_->model.id, payloads.size() - 1);
  });
}

ConvertReport ModelWriter::save(Bytes model, const std::filesystem::path& output, const SaveOptions& save,
                                const LoadOptions& load) const {
  try {
    return parts_->steps.take("save", [&] {
      LoadedModel loaded = parts_->model;
      split_model(loaded, resolver_of(model, nullptr, load), ExternalPolicy::of(save), load);
      return save_model(loaded, output, save);
    });
  } catch (const Error& error) {
    throw error.with_path(output);
  }
}

ReplaceReport ModelWriter::replace(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options,
                                   const LoadOptions& load) const {
  return parts_->steps.take("replace", [&] {
    const auto open = [&](const Archive& target) { return resolver_for(target, model, file_links(options), load); };
    return replace_model_of(archive, parts_->model, open, options, load);
  });
}

}  // namespace onnxar
