// Opens, lists and keeps models for Python as ONNX Runtime stored them.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <filesystem>
#include <string>

#include "binding.h"
#include "onnxar/link.h"
#include "onnxar/stored_model.h"
#include "values.h"

namespace onnxar::python {
namespace {

using Path = std::filesystem::path;

StoredModel open_in(const Path& folder, const Path& archive, const std::string& graph, const std::string& runtime,
                    const std::string& settings) {
  return without_gil([&] { return StoredModel::open_in(folder, {archive, graph, runtime, settings}); });
}

/// Returns the model's bytes and the folder of its external data.
nb::tuple link_of_stored(const StoredModel& stored) {
  const Link& link = stored.link();
  return nb::make_tuple(nb::bytes(link.model.data(), link.model.size()), link.folder);
}

/// Returns tuples (archive, runtime, why, size, seconds), and the size of what is not finished.
nb::tuple list(const Path& folder) {
  constexpr double second = 1e9;
  const StoredFolder found = without_gil([&] { return list_stored(folder); });
  nb::list files;
  for (const StoredFile& each : found.files) {
    files.append(nb::make_tuple(text(each.archive), text(each.runtime), text(each.why), each.size,
                                static_cast<double>(each.time) / second));
  }
  return nb::make_tuple(files, found.unfinished);
}

}  // namespace

void bind_stored(nb::module_& module) {
  nb::class_<StoredModel>(module, "StoredModel")
      .def_static("open_in", open_in)
      .def_prop_ro("is_stored", &StoredModel::is_stored)
      .def("link", link_of_stored)
      .def("prepare", [](StoredModel& stored) { return without_gil([&] { return stored.prepare(); }); })
      .def("store", [](StoredModel& stored) { without_gil([&] { stored.store(); }); })
      .def("refuse", [](StoredModel& stored, const std::string& why) { stored.refuse(why); })
      .def("verify", [](const StoredModel& stored) { without_gil([&] { stored.verify(); }); })
      .def("verify_archive", [](const StoredModel& stored) { without_gil([&] { stored.verify_archive(); }); });
  module.def("list_stored", list);
  module.def("clear_stored", [](const Path& folder) {
    const ClearedFolder cleared = without_gil([&] { return clear_stored(folder); });
    return nb::make_tuple(cleared.removed, cleared.busy);
  });
}

}  // namespace onnxar::python
