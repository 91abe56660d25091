// Defines options as classes whose attributes have the same names as in C++; onnxar/_options.py fills them.
#include "onnxar/options.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "binding.h"
#include "buffers.h"
#include "python_file.h"

namespace onnxar::python {
namespace {

/// Makes verbs read `path` in ranges, through `read` (see `python_file`). Other paths are opened as before.
void add_ranges(LoadOptions& options, const std::filesystem::path& path, nb::callable read, std::uint64_t size) {
  options.open_ranges = [before = options.open_ranges, path, file = python_file(std::move(read), size, path.string())](
                            const std::filesystem::path& wanted) -> std::shared_ptr<const RandomAccess> {
    if (wanted == path) return file;
    return before ? before(wanted) : nullptr;
  };
}

}  // namespace

void bind_options(nb::module_& module) {
  nb::enum_<Format>(module, "Format")
      .value("archive", Format::archive)
      .value("onnx_inline", Format::onnx_inline)
      .value("onnx_external", Format::onnx_external);
  nb::class_<LoadOptions>(module, "LoadOptions")
      .def(nb::init<>())
      .def_rw("external_data_dir", &LoadOptions::external_data_dir)
      .def_rw("foreign_zips", &LoadOptions::foreign_zips)
      .def_rw("graph", &LoadOptions::graph)
      .def_rw("further_graphs", &LoadOptions::further_graphs)
      .def_rw("max_expansion", &LoadOptions::max_expansion)
      .def_rw("temporary_dir", &LoadOptions::temporary_dir)
      .def_rw("threads", &LoadOptions::threads)
      .def_rw("verify_data", &LoadOptions::verify_data)
      .def("add_ranges", add_ranges);
  nb::class_<SaveOptions>(module, "SaveOptions")
      .def(nb::init<>())
      .def_rw("threshold", &SaveOptions::threshold)
      .def_rw("alignment", &SaveOptions::alignment)
      .def_rw("format", &SaveOptions::format)
      .def_rw("all_sites", &SaveOptions::all_sites)
      .def_rw("attributes", &SaveOptions::attributes)
      .def_rw("subgraphs", &SaveOptions::subgraphs)
      .def_rw("data_file", &SaveOptions::data_file)
      .def_rw("file_per_tensor", &SaveOptions::file_per_tensor)
      .def_prop_rw(
          "overwrite", [](const SaveOptions& options) { return options.output.overwrite; },
          [](SaveOptions& options, bool overwrite) { options.output.overwrite = overwrite; })
      .def_rw("side_files_of", &SaveOptions::side_files_of)
      .def_prop_rw(
          "sync", [](const SaveOptions& options) { return options.output.sync; },
          [](SaveOptions& options, bool sync) { options.output.sync = sync; })
      .def_prop_rw(
          "threads", [](const SaveOptions& options) { return options.output.threads; },
          [](SaveOptions& options, std::size_t threads) { options.output.threads = threads; })
      .def_prop_rw(
          "dry_run", [](const SaveOptions& options) { return options.output.dry_run; },
          [](SaveOptions& options, bool dry_run) { options.output.dry_run = dry_run; })
      .def_rw("progress", &SaveOptions::progress, nb::arg().none())
      .def("use_sha1", [](SaveOptions& options) { options.checksum = Checksum::sha1; })
      .def("add_file", [](SaveOptions& options, const std::string& name,
                          const std::filesystem::path& path) { options.add.push_back({name, path}); })
      .def("add_bytes", [](SaveOptions& options, const std::string& name,
                           const nb::object& bytes) { options.add.push_back({name, {}, held_source(bytes)}); })
      .def_rw("first", &SaveOptions::first)
      .def("exclude_files",
           [](SaveOptions& options, const std::string& pattern) { options.exclude.push_back(pattern); })
      .def("add_variant", [](SaveOptions& options, const std::string& graph, const std::string& ep,
                             const std::string& device) { options.variants.push_back({graph, ep, device}); })
      .def("rename_entry", [](SaveOptions& options, const std::string& from, const std::string& to) {
        options.rename.push_back({from, to});
      });
}

}  // namespace onnxar::python
