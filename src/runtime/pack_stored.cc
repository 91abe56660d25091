// Packs what ONNX Runtime wrote of a model into an archive from which later sessions start.
#include "runtime/pack_stored.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/annotated.h"
#include "base/mapped_file.h"
#include "base/paths.h"
#include "onnx/fields.h"
#include "onnx/rope.h"
#include "onnx/wire.h"
#include "onnxar/archive_writer.h"
#include "runtime/own_folder.h"
#include "runtime/prepacked.h"
#include "runtime/workshop.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// Holds the names that a caller of a session sees. ONNX Runtime adds inputs to some models when it stores them:
/// initializers that it replaced remain inputs, as in IR versions before 4.
struct Interface {
  std::vector<std::string> inputs, optional_inputs, outputs;
  bool operator==(const Interface&) const = default;
};

/// Returns the last value of a field, as protobuf reads it.
std::optional<onnx::Field> field_in(Bytes model, onnx::Range message, std::uint32_t number) {
  std::optional<onnx::Field> found;
  onnx::Cursor cursor(model, message);
  for (onnx::Field field; cursor.next(field);) {
    if (field.number == number) found = field;
  }
  return found;
}

std::string text_in(Bytes model, onnx::Range message, std::uint32_t number) {
  const auto field = field_in(model, message, number);
  return field ? std::string(as_text(field->value.of(model))) : std::string();
}

Interface interface_of(Bytes model) {
  const onnx::Range whole{0, model.size()};
  const auto graph = field_in(model, whole, onnx::model_field::graph);
  const auto version = field_in(model, whole, onnx::model_field::ir_version);
  Interface found;
  if (!graph) return found;
  std::set<std::string> initializers;
  onnx::Cursor cursor(model, graph->value);
  for (onnx::Field field; cursor.next(field);) {
    if (field.type != onnx::Type::length_delimited) continue;
    switch (field.number) {
      case onnx::graph_field::initializer:
        initializers.insert(text_in(model, field.value, onnx::tensor_field::name));
        break;
      case onnx::graph_field::sparse_initializer:
        if (const auto values = field_in(model, field.value, onnx::sparse_field::values)) {
          initializers.insert(text_in(model, values->value, onnx::tensor_field::name));
        }
        break;
      case onnx::graph_field::input:
        found.inputs.push_back(text_in(model, field.value, onnx::value_field::name));
        break;
      case onnx::graph_field::output:
        found.outputs.push_back(text_in(model, field.value, onnx::value_field::name));
        break;
      default: break;
    }
  }
  const auto is_optional = [&](const std::string& name) { return initializers.contains(name); };
  const bool has_optional = version && version->number_value >= onnx::first_ir_with_own_initializers;
  if (has_optional) std::ranges::copy_if(found.inputs, std::back_inserter(found.optional_inputs), is_optional);
  std::erase_if(found.inputs, is_optional);
  return found;
}

}  // namespace

bool has_ends_of(const fs::path& written, Bytes original) {
  const base::MappedFile file = base::MappedFile::open(written);
  const Bytes model = file.bytes();
  if (!field_in(model, {0, model.size()}, onnx::model_field::graph)) {
    throw Error(Code::io_failed, "ONNX Runtime did not write the whole model", {}, written);
  }
  return interface_of(model) == interface_of(original);
}

void pack_stored(const fs::path& folder, const fs::path& archive, std::string_view about) {
  const base::MappedFile model = base::MappedFile::open(folder / Workshop::model);
  std::optional<base::MappedFile> data;  // absent if the model has no large weights
  if (base::status_if_there(folder / Workshop::data)) data = base::MappedFile::open(folder / Workshop::data);
  AlignedData aligned(data_entry, data ? data->bytes() : Bytes());
  const onnx::Rope moved = base::annotated(folder / Workshop::model, [&] { return aligned.move(model.bytes()); });
  // Not synced: the CRC-32s reveal damage by a loss of power.
  ArchiveWriter writer = ArchiveWriter::create(archive, {.alignment = stored_page, .output = {.sync = false}});
  writer.add(about_entry, as_bytes(about));
  if (aligned.size() != 0) writer.add(data_entry, aligned);
  writer.finish(moved);
}

}  // namespace onnxar
