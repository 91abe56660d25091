// Reads models for Python whose messages are of the caller's protobuf library: the payloads one by one.
#include "onnxar/model_stream.h"

#include <nanobind/stl/filesystem.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

#include "binding.h"
#include "buffers.h"
#include "onnxar/archive.h"
#include "tensors.h"
#include "values.h"

namespace onnxar::python {
namespace {

ModelReader read_path(const std::filesystem::path& path, const LoadOptions& options) {
  const LoadOptions load = options;  // a copy: without the GIL, other threads may change the object
  return without_gil([&] { return ModelReader(Archive::open(path), load); });
}

ModelReader read_buffer(const nb::object& object, const LoadOptions& options) {
  HeldBuffer held = hold_buffer(object);
  const LoadOptions load = options;
  return without_gil([&] { return ModelReader(Archive::open(held.bytes, std::move(held.owner)), load); });
}

void visit_tensors(const ModelReader& reader, const nb::callable& visit) {
  reader.for_each([&](std::size_t index, std::span<const FieldStep> steps) { visit(index, as_tuple(steps)); });
}

nb::object read_tensor(const ModelReader& reader, std::size_t index) {
  if (index >= reader.size()) throw nb::index_error("the model has no external tensor with this index");
  return copied_bytes(reader.size_of(index), [&](const ByteSink& sink) { reader.read(index, sink); });
}

}  // namespace

void bind_model_stream(nb::module_& module) {
  nb::class_<ModelReader>(module, "ModelReader")
      .def_static("open", read_path)
      .def_static("open_buffer", read_buffer)
      .def("model",
           [](const ModelReader& reader) {
             const Bytes model = reader.model();
             return nb::bytes(model.data(), model.size());
           })
      .def("__len__", &ModelReader::size)
      .def("size_of", &ModelReader::size_of)
      .def("for_each", visit_tensors)
      .def("read", read_tensor);
}

}  // namespace onnxar::python
