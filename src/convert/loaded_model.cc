#include "convert/loaded_model.h"

#include <algorithm>
#include <random>
#include <utility>

#include "archive/keys.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "convert/checksum.h"
#include "convert/foreign_source.h"
#include "convert/link_marker.h"
#include "onnx/rewrite.h"
#include "onnx/typed_data.h"

namespace onnxar {
namespace {

class Splitter {
 public:
  /// `owner` keeps the bytes of the model that is split alive.
  Splitter(LoadedModel& model, std::shared_ptr<const void> owner, const MovePolicy& policy, const LoadOptions& options)
      : model_(model), owner_(std::move(owner)), policy_(policy), options_(options) {}

  void run(Bytes bytes) {
    // What is loaded has its data elsewhere from here on, so it is no link any more.
    const std::string_view dropped = options_.load_external_data ? link_key_prefix : "";
    const wire::Rope rope = onnx::rewrite_tensors(bytes, [this](const onnx::TensorSite& site) { return split(site); },
                                                  {options_.max_depth}, {dropped, {}});
    if (rope.size() > options_.max_skeleton_size) refuse_large_skeleton(rope.size());
    model_.skeleton = rope.flat();
  }

 private:
  onnx::TensorEdit split(const onnx::TensorSite& site) {
    if (site.tensor.is_external()) return split_external(site);
    return site.tensor.raw_data ? split_raw(site) : split_typed(site);
  }

  onnx::TensorEdit split_external(const onnx::TensorSite& site) {
    if (const Payload* payload = model_.payload_of(site)) {
      check_payload(site, payload->size());
      return onnx::TensorEdit::keep();
    }
    if (!model_.source) return keep_link_of_message(site);
    if (!options_.load_external_data) {
      model_.source->prove_link(site);
      return onnx::TensorEdit::keep();
    }
    if (site.tensor.type == DataType::undefined) remark_no_type(site);
    if (site.tensor.external.unknown_key) remark_unknown_key(site);
    remark_checksum(site);
    return link(model_.source->external_payload(site));
  }

  /// Of a model in memory: its links lead to its own payloads, or to what loading left alone.
  [[nodiscard]] onnx::TensorEdit keep_link_of_message(const onnx::TensorSite& site) const {
    const std::string_view location = site.tensor.external.location.value_or("");
    const Place place{"", site.tensor.range.begin};
    if (onnx::is_memory_location(location)) {
      throw Error(
          Code::onnx_external_marker,
          base::concat(describe(site), ": its data is a payload that another model holds, or that was released; ",
                       "give this model a copy or a share of it with set_payload"),
          place);
    }
    if (options_.load_external_data) {
      throw Error(Code::usage_not_loaded,
                  base::concat(describe(site), ": its data is in ", base::quoted(location),
                               ", which was not loaded; give it to the model with set_payload"),
                  place);
    }
    return onnx::TensorEdit::keep();
  }

  onnx::TensorEdit split_raw(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    const std::uint64_t size = tensor.raw_data->size();
    const std::uint64_t expected = tensor.expected_size().value_or(size);
    if (size < expected) refuse_short(site, size, expected);  // wherever it goes
    if (!policy_.moves(site, size)) return split_for_the_way(site);
    if (size > expected) {
      remark(site, Code::onnx_tensor_long_raw,
             base::concat("raw_data holds ", size, " bytes, the dimensions call for ", expected,
                          "; it stays in the model"));
      return onnx::TensorEdit::keep();
    }
    if (tensor.typed_data) {
      remark(site, Code::onnx_tensor_not_converted, "the tensor has raw_data and typed data; it stays in the model");
      return onnx::TensorEdit::keep();
    }
    if (tensor.type == DataType::undefined) remark_no_type(site);
    return too_deep(site) ? onnx::TensorEdit::keep() : link_bytes(tensor.raw_data->of(site.model));
  }

  /// Data that will be inline again: what is large stays out of memory on its way if it comes back just as it was.
  onnx::TensorEdit split_for_the_way(const onnx::TensorSite& site) {
    const Bytes bytes = site.tensor.raw_data->of(site.model);
    if (bytes.size() < options_.raw_data_threshold || bytes.size() < smallest_worth_it) return onnx::TensorEdit::keep();
    if (!site.tensor.restorable || site.tensor.typed_data || too_deep(site)) return onnx::TensorEdit::keep();
    return link_bytes(bytes);
  }

  onnx::TensorEdit link_bytes(Bytes bytes) {
    return link({std::make_shared<OwnedSource>(std::make_shared<SpanSource>(bytes), owner_),
                 ByteSpan::borrow(bytes, owner_), std::nullopt});
  }

  /// A link is a message in the tensor: at the deepest level there is no room for one.
  [[nodiscard]] bool too_deep(const onnx::TensorSite& site) const { return site.levels.size() >= options_.max_depth; }

  onnx::TensorEdit split_typed(const onnx::TensorSite& site) {
    const auto size = site.tensor.expected_size();
    if (!site.tensor.typed_data || !size || !policy_.moves(site, *size) || too_deep(site)) {
      return onnx::TensorEdit::keep();
    }
    if (const auto raw = onnx::packed_raw_bytes(site.model, site.tensor)) return link_bytes(*raw);
    auto source = onnx::typed_data_source(site.model, site.tensor);
    if (!source) {
      remark(site, Code::onnx_tensor_not_converted,
             "its typed data does not convert to raw data exactly (another count or values out of range); it stays in "
             "the model");
      return onnx::TensorEdit::keep();
    }
    return link({std::make_shared<OwnedSource>(std::move(source), owner_), {}, std::nullopt});
  }

  onnx::TensorEdit link(Payload payload) {
    onnx::ExternalLink link{onnx::memory_location(model_.id, model_.payloads.size()), 0, payload.size()};
    model_.payloads.push_back(std::move(payload));
    return onnx::TensorEdit::link_to(std::move(link));
  }

  [[noreturn]] void refuse_short(const onnx::TensorSite& site, std::uint64_t size, std::uint64_t expected) const {
    throw Error(Code::onnx_tensor_length,
                base::concat(describe(site), ": raw_data holds ", size, " bytes, but type ",
                             to_string(site.tensor.type), " and the dimensions call for ", expected),
                {"", site.tensor.range.begin});
  }

  [[noreturn]] void refuse_large_skeleton(std::uint64_t size) const {
    throw Error(
        Code::onnx_model_too_large,
        base::concat("the model without its large tensors is ", base::human_size(size), ", over the limit of ",
                     base::human_size(options_.max_skeleton_size), "; a lower threshold moves more tensors out"));
  }

  void remark_no_type(const onnx::TensorSite& site) {
    remark(site, Code::onnx_tensor_no_type,
           "it has no data type (data_type is missing, or UNDEFINED); runtimes refuse it");
  }

  void remark_unknown_key(const onnx::TensorSite& site) {
    remark(site, Code::onnx_external_unknown_key,
           base::concat("external_data has the unknown key ", base::quoted(*site.tensor.external.unknown_key),
                        "; it is dropped"));
  }

  void remark_checksum(const onnx::TensorSite& site) {
    const auto checksum = site.tensor.external.checksum;
    if (!checksum || parse_checksum(*checksum)) return;
    remark(site, Code::onnx_external_checksum, base::concat(no_checksum(*checksum), "; it is dropped"));
  }

  void remark(const onnx::TensorSite& site, Code code, const std::string& message) {
    const Place place = model_.source ? model_.source->place_of(site) : Place{"", site.tensor.range.begin};
    model_.remarks.push_back({Severity::warning, code, place, base::concat(describe(site), ": ", message)});
  }

  /// Below this a link takes as much room as the data.
  static constexpr std::size_t smallest_worth_it = 1024;

  LoadedModel& model_;
  std::shared_ptr<const void> owner_;
  const MovePolicy& policy_;
  const LoadOptions& options_;
};

/// Entries that no tensor names: side files are kept, what is left of old tensors is not.
void take_side_files(LoadedModel& model) {
  base::KeyedSet<std::size_t> used;
  for (const Payload& payload : model.payloads) {
    if (payload.entry) used.insert(*payload.entry);
  }
  if (model.source->foreign() != nullptr) model.source->foreign()->describe(model, used);
  const Archive* archive = model.source->archive();
  if (archive == nullptr) return;
  for (std::size_t i = 0; i + 1 < archive->size(); ++i) {
    const ArchiveEntry entry = archive->entry(i);
    if (used.contains(i)) continue;
    if (is_identifier(entry.name)) {
      model.left_out.emplace_back(entry.name);
      model.left_out_bytes += entry.size;
      continue;
    }
    model.side_files.push_back({std::string(entry.name), model.source->entry_source(entry)});
  }
}

}  // namespace

std::uint64_t new_model_id() {
  // Of 19 digits each: the size of a link, and with it the encoding of lengths around it, must not be a matter of
  // chance.
  std::random_device random;
  return std::uniform_int_distribution<std::uint64_t>(1'000'000'000'000'000'000U, 9'999'999'999'999'999'999U)(random);
}

std::optional<Finding> note_of_left_out(const LoadedModel& model) {
  constexpr std::size_t most = 10;
  const std::size_t count = model.left_out.size();
  if (count == 0) return std::nullopt;
  std::string names;
  for (std::size_t i = 0; i < std::min(count, most); ++i) {
    names += base::concat(i == 0 ? "" : ", ", base::quoted(model.left_out[i]));
  }
  if (count > most) names += base::concat(" and ", count - most, " more");
  return Finding{Severity::note,
                 Code::archive_entry_unused,
                 {},
                 base::concat("left out, as no tensor refers to ", count == 1 ? "it: the entry " : "them: the entries ",
                              names, " (", base::human_size(model.left_out_bytes), ")")};
}

const Payload* LoadedModel::payload_of(const onnx::TensorSite& site) const {
  if (!site.tensor.is_external() || !site.tensor.external.location) return nullptr;
  return payload_at(*site.tensor.external.location);
}

const Payload* LoadedModel::payload_at(std::string_view location) const {
  const auto index = onnx::parse_memory_location(location, id);
  return index && *index < payloads.size() && payloads[*index].source ? &payloads[*index] : nullptr;
}

LoadedModel load_model(const std::filesystem::path& path, const MovePolicy& policy, const LoadOptions& options) {
  return load_model(ModelSource::open_any(path, options), policy, options);
}

LoadedModel load_model(ModelSource source, const MovePolicy& policy, const LoadOptions& options) {
  LoadedModel model;
  model.id = new_model_id();
  split_model(model, std::move(source), policy, options);
  return model;
}

void split_model(LoadedModel& model, ModelSource source, const MovePolicy& policy, const LoadOptions& options) {
  model.source = std::make_shared<ModelSource>(std::move(source));
  model.max_depth = options.max_depth;
  model.max_expansion = options.max_expansion;
  if (!options.load_external_data) model.data_folder = model.source->data_folder();
  try {
    Splitter(model, model.source->owner(), policy, options).run(model.source->model());
  } catch (const Error& error) {
    throw model.source->located(error);
  }
  model.input_size = model.source->input_size();
  take_side_files(model);
}

void set_skeleton(LoadedModel& model, std::shared_ptr<const std::vector<std::byte>> bytes, const MovePolicy& policy,
                  const LoadOptions& options) {
  const Bytes view = *bytes;
  Splitter(model, std::move(bytes), policy, options).run(view);
}

}  // namespace onnxar
