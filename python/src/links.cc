// Makes and verifies links for Python: an archive's model for runtimes that do not support archives.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <functional>
#include <optional>
#include <string>

#include "binding.h"
#include "errors.h"
#include "onnxar/link.h"
#include "values.h"

namespace onnxar::python {
namespace {

using Path = std::filesystem::path;

/// Returns the model's bytes, the folder of its external data, and remarks.
nb::tuple link_of(const Path& archive, std::uint64_t offset, std::optional<std::uint64_t> length,
                  const std::string& graph) {
  const Link link =
      without_gil([&] { return make_link(archive, {.offset = offset, .length = length, .graph = graph}); });
  return nb::make_tuple(nb::bytes(link.model.data(), link.model.size()), link.folder, findings(link.remarks));
}

/// `use`, unless it is None, is called while the link is verified.
bool verify_bytes(const nb::bytes& model, const Path& folder, const nb::object& use) {
  const Bytes bytes = as_bytes({model.c_str(), model.size()});
  const auto call = [&] {
    const nb::gil_scoped_acquire held;
    use();
  };
  const auto called = use.is_none() ? std::function<void()>() : std::function<void()>(call);
  return without_gil([&] { return verify_link(bytes, folder, called); });
}

/// Returns the model's bytes, and tuples of its initializers: name, type, shape, data.
nb::tuple runtime_model_of(const Archive& archive) {
  const RuntimeModel model = without_gil([&] { return make_runtime_model(archive); });
  nb::list rows;
  for (const RuntimeTensor& tensor : model.tensors) {
    rows.append(nb::make_tuple(text(tensor.info.name), static_cast<int>(tensor.info.type), shape_of(tensor.info.dims),
                               ByteSpan::borrow(tensor.bytes, model.owner)));
  }
  return nb::make_tuple(nb::bytes(model.model.data(), model.model.size()), rows);
}

}  // namespace

void bind_links(nb::module_& module) {
  module.def("make_link", link_of);
  module.def("write_link", [](const Path& archive, const Path& output, bool overwrite, bool sync, std::uint64_t offset,
                              std::optional<std::uint64_t> length, const std::string& graph) {
    LinkOptions options;
    options.output.overwrite = overwrite;
    options.output.sync = sync;
    options.offset = offset;
    options.length = length;
    options.graph = graph;
    without_gil([&] { return onnxar::link(archive, output, options); });
  });
  nb::enum_<ArchivePlace>(module, "ArchivePlace")
      .value("automatic", ArchivePlace::automatic)
      .value("installed", ArchivePlace::installed)
      .value("moved", ArchivePlace::moved)
      .value("copied", ArchivePlace::copied);
  module.def("link_folder", [](const Path& archive, const Path& folder, bool overwrite, bool sync, std::uint64_t offset,
                               std::optional<std::uint64_t> length, ArchivePlace place) {
    LinkOptions options;
    options.output.overwrite = overwrite;
    options.output.sync = sync;
    options.offset = offset;
    options.length = length;
    const FolderLinkReport report = without_gil([&] { return onnxar::link_folder(archive, folder, options, place); });
    return report.archive;
  });
  module.def("verify_link_file", [](const Path& path) { return without_gil([&] { return verify_link(path); }); });
  module.def("verify_link_bytes", verify_bytes, nb::arg("model"), nb::arg("folder"), nb::arg("use") = nb::none());
  module.def("runtime_model", runtime_model_of);
}

}  // namespace onnxar::python
