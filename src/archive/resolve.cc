// Finds the bytes of a tensor that the caller parsed, and checks links before the caller writes them.
#include "onnxar/resolve.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "archive/access.h"
#include "archive/external_tensor.h"
#include "archive/graphs.h"
#include "base/annotated.h"
#include "base/text.h"
#include "onnx/site_text.h"
#include "onnx/sites.h"
#include "onnx/tensor_values.h"
#include "onnx/tensor_view.h"

namespace onnxar {
namespace {

/// Returns the data in the message itself. It may be longer than the dims require, which `check` only warns of.
std::optional<Bytes> inline_data(const TensorMessage& message, const onnx::TensorView& tensor) {
  prove_value_fields(tensor);
  const Bytes data = message.raw_data.value_or(Bytes());
  if (message.type == DataType::string || message.typed_data) return std::nullopt;
  const auto expected = tensor.expected_size();
  if (!expected || data.size() >= *expected) return data;
  throw onnx::length_fault(base::concat("the message holds ", data.size(), " bytes of data"), tensor.type,  // M18
                           *expected);
}

/// Names the tensor. The caller parsed the message, perhaps from a copy, so an offset in it is not an offset in the
/// file.
base::Annotation name_of(const TensorMessage& tensor, const std::filesystem::path& path = {}) {
  return {.prefix = base::concat("tensor ", base::quoted(tensor.name)), .place = Place{}, .path = path};
}

}  // namespace

std::string detail::step_into(std::string& site, std::string_view label, std::optional<std::size_t> index,
                              std::string_view attribute_name) {
  std::string before = site;
  onnx::append_step(site, label, index, onnx::name_for_path(attribute_name));
  return before;
}

void prove_model(const Archive& archive) {
  walk_graph(archive, archive.model_entry(), [](const onnx::TensorSite&) {});
}

std::optional<Bytes> resolve(const Archive& archive, const TensorMessage& tensor) {
  const auto named = [&] { return name_of(tensor, archive.path()); };
  return base::annotated(named, [&] {
    const onnx::TensorView view = view_of(tensor);
    onnx::prove_type(view);
    return tensor.external ? bytes_of(archive, part_named(archive, view, proved_link(view)))
                           : inline_data(tensor, view);
  });
}

void check_link(const TensorMessage& tensor, std::string_view location, std::uint64_t offset, std::uint64_t length) {
  const auto named = [&] { return name_of(tensor); };
  base::annotated(named, [&] {
    // Parses the link, so that it is checked by the same rules that readers apply.
    const std::string offset_text = std::to_string(offset), length_text = std::to_string(length);
    TensorMessage linked{tensor.name, tensor.type, tensor.dims, true, std::nullopt, false, {}};
    linked.external_data = {{"location", location}, {"offset", offset_text}, {"length", length_text}};
    const onnx::TensorView view = view_of(linked);
    onnx::prove_type(view);
    static_cast<void>(proved_link(view));
  });
}

}  // namespace onnxar
