// Loads any bytes by Model::load. They are refused as a fault of the format, or the payloads lie at their places, are
// equal for all ways of loading, and come back from every form that the model is saved in.
#include <filesystem>

#include "archive/file_kind.h"
#include "fuzz/models.h"
#include "fuzz/scratch.h"

namespace onnxar::fuzz::load_target {
namespace {

bool is_linked(const schema::TensorProto& tensor) { return tensor.data_location() == schema::TensorProto::EXTERNAL; }

/// Every span of the table has the mode that loading promises: owned, or borrowed from `input` or from the parsed text.
void check_modes(const Model& model, Bytes input, bool no_copy) {
  const bool is_text = looks_like_text(input);
  for_each_tensor(model.proto(), [&](const schema::TensorProto& tensor, const TensorInfo&) {
    if (!is_linked(tensor)) return;
    const ByteSpan& span = model.span(tensor);
    if (no_copy && is_text && !span.owned()) {
      require(span.owner() != nullptr && (span.empty() || !lies_in(span.bytes(), input)),
              "text is parsed to bytes that have an owner");
    } else {
      require(span.owner() == nullptr, "the caller's bytes have no owner");
      require(span.owned() || (no_copy && lies_in(span.bytes(), input)), "owned, or in the input");
    }
    const auto payload = accepted([&] { return model.payload(tensor); });  // refused without a data type
    require(!payload || payload->size() == span.size(), "a payload is what the table has");
  });
}

void check_consolidated(Model model, const Payloads& expected) {
  constexpr std::uint64_t alignment = 64;
  const auto consolidate = [&] { return consolidate_tensors_to_buffer(model, {.alignment = alignment}); };
  const auto buffer = must("consolidating", consolidate);
  for_each_tensor(model.proto(), [&](schema::TensorProto& tensor) {
    if (!is_linked(tensor) || model.span(tensor).empty()) return;
    require(model.span(tensor).owner() == buffer, "it lies in the buffer");
    require(reinterpret_cast<std::uintptr_t>(model.span(tensor).bytes().data()) % alignment == 0, "it is aligned");
  });
  require(payloads_of(model) == expected, "consolidating changes no bytes");
}

void check_saved(const Model& model, Format format, const Payloads& expected) {
  const SaveOptions options = {.threshold = 1,
                               .format = format,
                               .all_sites = true,
                               .data_file = "load.data",
                               .output = {.overwrite = true, .sync = false}};
  const std::filesystem::path path = scratch() / "load";
  if (!accepted([&] { return model.save(path, options); })) return;
  require(payloads_of(must("what was saved loads", [&] { return Model::load(path); })) == expected,
          "saving changes no bytes");
}

}  // namespace

void run(Bytes input) {
  const auto borrowed = accepted([&] { return Model::load(input, loaded_as(true)); });
  LoadOptions linked = loaded_as(true);
  linked.load_external_data = false;
  const auto unlinked = accepted([&] { return Model::load(input, linked); });
  require(unlinked || !borrowed, "a model that loads also loads without its external data");
  auto owned = accepted([&] { return Model::load(input, loaded_as(false)); });
  require(borrowed || !owned, "a model that can be copied can be borrowed");
  if (!borrowed) return;
  check_modes(*borrowed, input, true);
  const Payloads payloads = payloads_of(*borrowed);
  if (!owned) return;  // CRCs are verified where bytes are copied
  if (is_turn(input, 0, 3)) check_saved(*owned, Format::archive, payloads);
  if (is_turn(input, 1, 3)) check_saved(*owned, Format::onnx_external, payloads);
  if (is_turn(input, 2, 3)) check_saved(*owned, Format::onnx_inline, payloads);
  check_modes(*owned, input, false);
  require(payloads_of(*owned) == payloads, "copies are the same bytes");
  check_consolidated(std::move(*owned), payloads);
}

}  // namespace onnxar::fuzz::load_target
