// Decides for each tensor of a graph if it becomes a payload, and moves its data out.
#include "convert/splitter.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "archive/external_tensor.h"
#include "archive/graph_rules.h"
#include "archive/tensor_text.h"
#include "base/annotated.h"
#include "base/kept.h"
#include "base/text.h"
#include "convert/checksum.h"
#include "convert/duplicates.h"
#include "convert/external_policy.h"
#include "convert/links.h"
#include "convert/loaded_model.h"
#include "convert/model_source.h"
#include "onnx/duplicates.h"
#include "onnx/rewrite.h"
#include "onnx/rope.h"
#include "onnx/tensor_values.h"
#include "onnx/typed_data.h"
#include "onnx/wire.h"

namespace onnxar {
namespace {

/// In bytes. A link with its key, offset and length takes up to about 100 bytes; moving less data saves too little.
constexpr std::size_t smallest_worth_it = 1024;

/// Compares a tensor of a model in memory with its payload of `size` bytes, because the user may edit the message.
/// Throws onnx.external.string, onnx.external.data_beside and onnx.tensor.length, with the tensor's name.
void check_payload(const onnx::TensorSite& site, std::uint64_t size) {
  const auto added = [&site] { return base::Annotation{.prefix = describe(site), .advice = {Hint::set_payload}}; };
  base::annotated(added, [&] {
    check_link(site.tensor);
    check_length(site.tensor, size);
  });
}

/// Throws onnx.tensor.length if raw data is too short, even if it stays inline: runtimes would read beyond it.
void check_raw_size(const onnx::TensorSite& site) {
  const std::uint64_t size = site.tensor.raw_data->size();
  const std::uint64_t expected = site.tensor.expected_size().value_or(size);
  if (size >= expected) return;
  throw Error(Code::onnx_tensor_length,  // M18
              base::concat(describe(site), ": ", onnx::raw_size_text(site.tensor, expected)),
              {"", site.tensor.range.begin});
}

/// True if the raw_data of a tensor has the size that type and dims require. Unknown types accept any size.
bool has_sound_raw_data(const onnx::TensorView& tensor) {
  if (tensor.typed_data || tensor.type == DataType::string || tensor.type == DataType::undefined) return false;
  const std::uint64_t size = tensor.raw_data->size();
  return size == tensor.expected_size().value_or(size);
}

/// True if `unpack` reproduces the bytes of the tensor and of the messages around it.
bool comes_back(const onnx::TensorSite& site) {
  return site.tensor.restorable && std::ranges::all_of(site.levels, [](const onnx::Level& level) {
           return level.field.length.size() == onnx::varint_size(level.field.value.size());
         });
}

/// Splits one graph, and adds its payloads and remarks to a model. A link of the graph must name a payload that the
/// model already has, or data that the source finds.
class Splitter {
 public:
  /// `source` has selected the graph; without one, a link to a file cannot be resolved. Remarks name GraphBytes::entry.
  Splitter(base::Kept<LoadedModel> model, ModelSource* source, GraphBytes graph,
           base::Kept<const ExternalPolicy> policy, base::Kept<const LoadOptions> options)
      : model_(model), source_(source), graph_(std::move(graph)), policy_(policy), options_(options) {}

  /// Returns the skeleton of the graph. Throws what `load_model` and `set_skeleton` throw, with offsets from the
  /// graph's first byte. Cost: O(fields); no payload byte is touched, except values of typed fields.
  [[nodiscard]] std::vector<std::byte> run() {
    // Loading replaces links into an archive by payloads, so the marker of the link would be false in the skeleton.
    const std::string_view dropped = options_.load_external_data ? link_key_prefix : "";
    const onnx::Rope rope = onnx::rewrite_tensors(
        graph_.bytes, [this](const onnx::TensorSite& site) { return split(site); }, {dropped, {}});
    if (rope.size() > options_.max_skeleton_size) refuse_large_skeleton(rope.size());
    return rope.flat();
  }

  /// Returns the tensors without data that `run` found.
  [[nodiscard]] PlacesWithoutData take_without_data() noexcept { return std::move(without_data_); }

 private:
  onnx::TensorEdit split(const onnx::TensorSite& site) {
    const bool is_duplicate = duplicates_.has(site);
    if (is_duplicate) remark_duplicate(site);
    if (site.tensor.is_external()) return split_external(site);
    if (site.tensor.lacks_data()) without_data_.insert_or_assign(site.path(), place_of(site));
    if (site.tensor.raw_data) check_raw_size(site);
    if (is_duplicate) return onnx::TensorEdit::keep();
    return site.tensor.raw_data ? split_raw(site) : split_typed(site);
  }

  onnx::TensorEdit split_external(const onnx::TensorSite& site) {
    if (const Payload* payload = model_.payload_of(site)) {
      check_payload(site, payload->size());
      return onnx::TensorEdit::keep();
    }
    if (source_ == nullptr) return keep_link_of_message(site);
    if (!options_.load_external_data) {
      source_->prove_link(site);
      return onnx::TensorEdit::keep();
    }
    if (site.tensor.type == DataType::undefined) remark_no_type(site);
    if (site.tensor.external.unknown_key) remark_unknown_key(site);
    remark_checksum(site);
    return link(source_->payload_of(site));
  }

  onnx::TensorEdit split_raw(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    const std::uint64_t size = tensor.raw_data->size();
    const std::uint64_t expected = tensor.expected_size().value_or(size);
    if (!policy_.is_external(site, size)) return split_inline(site);
    if (size > expected) {  // a link has exactly the size that dims require, so moving would drop the surplus
      remark(site, Code::onnx_tensor_long_raw,
             base::concat(onnx::raw_size_text(tensor, expected), "; it stays in the model"));
      return onnx::TensorEdit::keep();
    }
    if (tensor.typed_data) {
      remark(site, Code::onnx_tensor_not_converted, "the tensor has raw_data and typed data; it stays in the model");
      return onnx::TensorEdit::keep();
    }
    if (tensor.type == DataType::undefined) remark_no_type(site);
    if (too_deep(site)) return onnx::TensorEdit::keep();
    if (!comes_back(site)) ++model_.reencoded;
    return link_bytes(tensor.raw_data->of(site.model));
  }

  onnx::TensorEdit split_typed(const onnx::TensorSite& site) {
    const auto size = site.tensor.expected_size();
    if (!site.tensor.typed_data || !size || !policy_.is_external(site, *size) || too_deep(site)) {
      return onnx::TensorEdit::keep();
    }
    // One run of fixed-width values already holds the raw bytes, so it is linked unchanged.
    if (const auto raw = onnx::raw_run_of(site.model, site.tensor)) {
      ++model_.typed_made_raw;
      return link_bytes(*raw);
    }
    auto source = onnx::typed_data_source(site.model, site.tensor);
    if (!source) {
      remark(
          site, Code::onnx_tensor_not_converted,
          "its typed data does not convert to raw data exactly (wrong count, or values out of range); it stays in the "
          "model");
      return onnx::TensorEdit::keep();
    }
    ++model_.typed_made_raw;
    Payload decoded{std::make_shared<OwnedSource>(std::move(source), graph_.owner)};
    decoded.may_be_shared = false;
    return link(std::move(decoded));
  }

  /// Moves large inline data out of the skeleton, so that the skeleton stays small, even if the data becomes inline
  /// again in the output. Moves only data that saving can restore byte for byte and that is checked in the same way in
  /// the message and as a payload: otherwise the size of faulty data, and the order of its fields, would determine if
  /// the model can be used.
  onnx::TensorEdit split_inline(const onnx::TensorSite& site) {
    const Bytes bytes = site.tensor.raw_data->of(site.model);
    if (bytes.size() < options_.threshold || bytes.size() < smallest_worth_it) return onnx::TensorEdit::keep();
    if (!site.tensor.restorable || !has_sound_raw_data(site.tensor) || too_deep(site)) return onnx::TensorEdit::keep();
    return link_bytes(bytes);
  }

  /// Keeps a link of a model in memory that does not name one of its payloads. Such a link may only name data that was
  /// not loaded.
  [[nodiscard]] onnx::TensorEdit keep_link_of_message(const onnx::TensorSite& site) const {
    const std::string_view location = site.tensor.external.location.value_or("");
    const Place place{"", site.tensor.range.begin};
    if (onnx::is_memory_location(location)) {
      throw Error(
          Code::onnx_external_marker,
          base::concat(describe(site), ": its data is a payload of a different model, or one that was released"), place,
          {}, {Hint::share_payload});
    }
    if (options_.load_external_data) {
      throw Error(Code::usage_not_loaded, not_loaded_text(describe(site), location), place, {}, {Hint::set_payload});
    }
    return onnx::TensorEdit::keep();
  }

  onnx::TensorEdit link_bytes(Bytes bytes) {
    return link(payload_of(ByteSpan::borrow(bytes, graph_.owner), graph_.file));
  }

  onnx::TensorEdit link(Payload payload) {
    const onnx::ExternalLink link{onnx::memory_location(model_.id, model_.payloads.size()), 0, payload.size()};
    model_.payloads.push_back(std::move(payload));
    return onnx::TensorEdit::link_to(link);
  }

  /// True if the tensor is at the deepest level: a link adds a message level below the tensor, so the result would
  /// exceed `most_nested_messages`.
  [[nodiscard]] bool too_deep(const onnx::TensorSite& site) const {
    return site.levels.size() >= onnx::most_nested_messages;
  }

  [[noreturn]] void refuse_large_skeleton(std::uint64_t size) const {
    throw Error(
        Code::onnx_model_too_large,
        base::concat("the model without its large tensors is ", base::over_limit(size, options_.max_skeleton_size)), {},
        {}, {Hint::lower_threshold});
  }

  void remark_no_type(const onnx::TensorSite& site) {
    remark(site, Code::onnx_tensor_no_type,
           "it has no data type (data_type is missing, or UNDEFINED); runtimes refuse it");
  }

  void remark_duplicate(const onnx::TensorSite& site) {
    const Payload* const payload = model_.payload_of(site);
    // Data that the program supplied was in its message, and returns there.
    const bool is_inside = !site.tensor.is_external() || (payload != nullptr && !payload->may_be_shared);
    model_.remarks.push_back(duplicate_stays(site, place_of(site), is_inside));
  }

  void remark_unknown_key(const onnx::TensorSite& site) {
    remark(site, Code::onnx_external_unknown_key,
           base::concat(unknown_key_text(*site.tensor.external.unknown_key), "; it is dropped"));
  }

  void remark_checksum(const onnx::TensorSite& site) {
    const auto checksum = site.tensor.external.checksum;
    if (!checksum || parse_checksum(*checksum)) return;
    remark(site, Code::onnx_external_checksum, base::concat(no_checksum(*checksum), "; it is dropped"));
  }

  [[nodiscard]] Place place_of(const onnx::TensorSite& site) const {
    Place place = source_ == nullptr ? Place{"", site.tensor.range.begin} : source_->place_of(site);
    place.entry = graph_.entry;
    return place;
  }

  void remark(const onnx::TensorSite& site, Code code, const std::string& message) {
    model_.remarks.push_back({Severity::warning, code, place_of(site), base::concat(describe(site), ": ", message)});
  }

  LoadedModel& model_;
  ModelSource* source_;
  GraphBytes graph_;
  const ExternalPolicy& policy_;
  const LoadOptions& options_;
  PlacesWithoutData without_data_;
  onnx::DuplicateNames duplicates_;
};

}  // namespace

LoadedGraph split_graph(LoadedModel& model, ModelSource* source, GraphBytes graph, const ExternalPolicy& policy,
                        const LoadOptions& options) {
  Splitter splitter(model, source, std::move(graph), policy, options);
  std::vector<std::byte> skeleton = splitter.run();
  return {{}, std::move(skeleton), splitter.take_without_data()};
}

}  // namespace onnxar
