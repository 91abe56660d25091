// Defines the extension module from its parts.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>
#include <zlib.h>

#include <cstdint>

#include "binding.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"
#include "values.h"

// NOLINTNEXTLINE: the macro is nanobind's
NB_MODULE(_core, module) {
  using namespace onnxar::python;
  // nanobind's types are those of the process: a second module would end it, or take the types from the first one.
  static bool loaded = false;
  if (loaded) throw nanobind::import_error("onnxar._core can be loaded once in a process, by one interpreter");
  loaded = true;
  nanobind::set_leak_warnings(false);  // an archive may legitimately exist until the interpreter ends
  module.attr("version") = ONNXAR_VERSION_STRING;
  bind_errors(module);
  bind_archive(module);
  bind_tensors(module);
  bind_model_stream(module);
  bind_options(module);
  bind_conversions(module);
  bind_writers(module);
  bind_links(module);
  bind_remote(module);  // after the class of archives in ranges
  bind_stored(module);
  module.def("dtype_name", [](int type) { return text(onnxar::to_string(static_cast<onnxar::DataType>(type))); });
  module.def("dtype_bits", [](int type) { return onnxar::bits_per_element(static_cast<onnxar::DataType>(type)); });
  module.def("payload_size", [](int type, const std::vector<std::int64_t>& dims) {
    return onnxar::payload_size(static_cast<onnxar::DataType>(type), dims);
  });
  module.def("crc32_of_both", [](std::uint32_t first, std::uint32_t second, std::uint64_t second_size) {
    return crc32_combine(first, second, static_cast<z_off_t>(second_size));
  });
}
