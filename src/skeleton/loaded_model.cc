#include "skeleton/loaded_model.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "base/annotate.h"
#include "base/text.h"
#include "onnx/rewrite.h"
#include "onnx/tensor_values.h"
#include "onnx/typed_data.h"
#include "source/checksum.h"
#include "source/foreign_source.h"
#include "source/link_marker.h"
#include "tensors/entry_uses.h"

namespace onnxar {
namespace {

class Splitter {
 public:
  /// `owner` keeps the bytes of the model that is split alive; `uses`, if any, is told of every tensor.
  Splitter(LoadedModel& model, std::shared_ptr<const void> owner, const ExternalPolicy& policy,
           const LoadOptions& options, EntryUses* uses = nullptr)
      : model_(model), owner_(std::move(owner)), policy_(policy), options_(options), uses_(uses) {}

  [[nodiscard]] std::vector<std::byte> run(Bytes bytes) {
    // What is loaded has its data elsewhere from here on, so it is no link any more.
    const std::string_view dropped = options_.load_external_data ? link_key_prefix : "";
    const wire::Rope rope = onnx::rewrite_tensors(bytes, [this](const onnx::TensorSite& site) { return split(site); },
                                                  {options_.max_depth}, {dropped, {}});
    if (rope.size() > options_.max_skeleton_size) refuse_large_skeleton(rope.size());
    return rope.flat();
  }

 private:
  onnx::TensorEdit split(const onnx::TensorSite& site) {
    if (uses_ != nullptr) uses_->note(site);
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
          base::concat(describe(site), ": its data is a payload that another model holds, or that was released"), place,
          {}, {Hint::share_payload});
    }
    if (options_.load_external_data) {
      throw Error(Code::usage_not_loaded,
                  base::concat(describe(site), ": its data is in ", base::quoted(location), ", which was not loaded"),
                  place, {}, {Hint::set_payload});
    }
    return onnx::TensorEdit::keep();
  }

  onnx::TensorEdit split_raw(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    const std::uint64_t size = tensor.raw_data->size();
    const std::uint64_t expected = tensor.expected_size().value_or(size);
    if (size < expected) refuse_short(site, expected);  // wherever it goes
    if (!policy_.is_external(site, size)) return split_for_the_way(site);
    if (size > expected) {
      remark(site, Code::onnx_tensor_long_raw,
             base::concat(onnx::raw_size_text(tensor, expected), "; it stays in the model"));
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
    if (bytes.size() < options_.threshold || bytes.size() < smallest_worth_it) return onnx::TensorEdit::keep();
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
    if (!site.tensor.typed_data || !size || !policy_.is_external(site, *size) || too_deep(site)) {
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

  [[noreturn]] void refuse_short(const onnx::TensorSite& site, std::uint64_t expected) const {
    throw Error(Code::onnx_tensor_length,  // M18
                base::concat(describe(site), ": ", onnx::raw_size_text(site.tensor, expected)),
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
  const ExternalPolicy& policy_;
  const LoadOptions& options_;
  EntryUses* uses_;
};

std::vector<std::byte> split_selected(LoadedModel& model, const ExternalPolicy& policy, const LoadOptions& options,
                                      EntryUses* uses) {
  try {
    return Splitter(model, model.source->owner(), policy, options, uses).run(model.source->model());
  } catch (const Error& error) {
    throw model.source->located(error);
  }
}

/// What a graph was never meant to be has another place.
Error with_way_out(const Error& error, const std::string& graph) {
  if (error.entry() != graph || kind(error.code()) != Kind::format || error.code() == Code::zip_data_crc) return error;
  return base::annotate(error, {.advice = {Hint::repack_side_file, escaped(graph)}});
}

void split_graphs(LoadedModel& model, const ExternalPolicy& policy, const LoadOptions& options, EntryUses* uses) {
  const std::vector<std::string> names = model.source->graphs();
  std::uint64_t bytes = model.skeleton.size();
  for (const std::string& name : names) {
    try {
      model.source->select_graph(name);
      model.graphs.push_back({name, split_selected(model, policy, options, uses)});
    } catch (const Error& error) {
      throw with_way_out(error, name);
    }
    bytes += model.graphs.back().skeleton.size();
    if (bytes > options.max_skeleton_size) {
      throw Error(Code::onnx_model_too_large,
                  base::concat("the model and its graphs without their large tensors are more than the limit of ",
                               base::human_size(options.max_skeleton_size)),
                  {name, std::nullopt}, model.source->path());
    }
  }
  if (!names.empty()) model.source->select_model();
}

/// Side files are kept, what is left of old tensors is not.
void take_side_files(LoadedModel& model, const EntryUses* uses) {
  if (model.source->foreign() != nullptr) model.source->foreign()->describe(model);
  const Archive* archive = model.source->archive();
  if (archive == nullptr) return;
  for (std::size_t i = 0; i < archive->size(); ++i) {
    const ArchiveEntry entry = archive->entry(i);
    const EntryKind kind = uses->kind_of(i);
    if (kind == EntryKind::side_file) {
      model.side_files.push_back({std::string(entry.name), model.source->entry_source(entry)});
    } else if (kind == EntryKind::unused) {
      model.left_out.emplace_back(entry.name);
      model.left_out_bytes += entry.size;
    }
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

LoadedModel load_model(const std::filesystem::path& path, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions) {
  return load_model(ModelSource::open_any(path, options), policy, options, companions);
}

LoadedModel load_model(ModelSource source, const ExternalPolicy& policy, const LoadOptions& options,
                       Companions companions) {
  LoadedModel model;
  model.id = new_model_id();
  split_model(model, std::move(source), policy, options, companions);
  return model;
}

void split_model(LoadedModel& model, ModelSource source, const ExternalPolicy& policy, const LoadOptions& options,
                 Companions companions) {
  model.source = std::make_shared<ModelSource>(std::move(source));
  model.max_depth = options.max_depth;
  model.max_expansion = options.max_expansion;
  if (!options.load_external_data) model.data_folder = model.source->data_folder();
  std::optional<EntryUses> uses;
  if (model.source->archive() != nullptr) uses.emplace(*model.source->archive());
  EntryUses* const noted = uses ? &*uses : nullptr;
  model.skeleton = split_selected(model, policy, options, noted);
  const bool taken = companions == Companions::taken;
  if (taken) split_graphs(model, policy, options, noted);
  model.input_size = model.source->input_size();
  if (taken || model.source->foreign() != nullptr) take_side_files(model, noted);
}

void set_skeleton(LoadedModel& model, std::shared_ptr<const std::vector<std::byte>> bytes, const ExternalPolicy& policy,
                  const LoadOptions& options) {
  const Bytes view = *bytes;
  model.skeleton = Splitter(model, std::move(bytes), policy, options).run(view);
}

}  // namespace onnxar
