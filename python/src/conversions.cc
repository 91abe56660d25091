// Runs operations on whole files for Python; each calls one function of the library.
#include "conversions.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "buffers.h"
#include "errors.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "values.h"

namespace onnxar::python {
namespace {

using Path = std::filesystem::path;

using Names = std::vector<std::string>;

nb::dict replace_by_file(const Path& archive, const Path& model, const SaveOptions& save, const LoadOptions& load,
                         const Names& remove, bool append_external, const std::string& graph) {
  const ReplaceOptions options = replace_options(save, remove, append_external, nullptr, graph);
  return as_dict(without_gil([&] { return onnxar::replace(archive, model, options, load); }));
}

nb::dict replace_by_bytes(const Path& archive, const nb::bytes& model, const SaveOptions& save, const LoadOptions& load,
                          const Names& remove, bool append_external, const std::string& graph) {
  const ReplaceOptions options = replace_options(save, remove, append_external, nullptr, graph);
  const Bytes bytes = as_bytes({model.c_str(), model.size()});
  return as_dict(without_gil([&] { return onnxar::replace(archive, bytes, options, load); }));
}

/// Each model is a name, which may be empty, and a path.
nb::dict pack_models(const std::vector<std::pair<std::string, Path>>& models, const Path& output,
                     const SaveOptions& save, const LoadOptions& load) {
  std::vector<ModelFile> files;
  for (const auto& [name, path] : models) files.push_back({path, name});
  const SaveOptions options = interruptible(save);
  const LoadOptions load_options = load;
  return converted(without_gil([&] { return onnxar::pack(files, output, options, load_options); }));
}

nb::dict replace_side_files(const Path& archive, const SaveOptions& save, const Names& remove,
                            const Archive* prepared_from) {
  const ReplaceOptions options = replace_options(save, remove, false, prepared_from);
  return as_dict(without_gil([&] { return onnxar::replace(archive, options); }));
}

/// `save` has the options of the output, `rename` and `progress`.
nb::dict repack_zip(const Path& input, const Path& output, std::optional<std::uint64_t> alignment,
                    const SaveOptions& save, std::uint64_t max_expansion) {
  RepackOptions options;
  options.alignment = alignment;
  options.output = save.output;
  options.max_expansion = max_expansion;
  options.rename = save.rename;
  options.progress = interruptible(save.progress);
  const RepackReport report = without_gil([&] { return repack(input, output, options); });
  nb::dict row;
  row["entries"] = report.entries;
  row["input_bytes"] = report.input_bytes;
  row["file_bytes"] = report.file_bytes;
  row["remarks"] = findings(report.remarks);
  return row;
}

/// `save` has the options of the output and `progress`. Returns tuples: the fields of Python's TensorInfo, path (None:
/// the tensor was skipped), size, NumPy's type, and whether the elements are bits of a type that NumPy lacks.
nb::list extract_tensors(const Path& model, const std::string& which, const Path& output, bool raw,
                         const SaveOptions& save, const LoadOptions& load) {
  const ExtractOptions options{
      .raw = raw, .output = save.output, .load = load, .progress = interruptible(save.progress)};
  nb::list rows;
  for (const auto& row : without_gil([&] { return extract(model, which, output, options); })) {
    const TensorInfo& tensor = row.tensor;
    rows.append(nb::make_tuple(
        text(tensor.name), static_cast<int>(tensor.type), shape_of(tensor.dims), text(tensor.site), text(tensor.output),
        row.path.empty() ? nb::none() : nb::cast(row.path), row.file_bytes, text(row.descr), row.as_integers));
  }
  return rows;
}

nb::dict fields_of(const EarlierState& state) {
  nb::dict row;
  row["file_size"] = state.file_size;
  row["size"] = state.size;
  row["entries"] = state.entries;
  row["model_size"] = state.model_size;
  row["model_crc32"] = state.model_crc32;
  return row;
}

nb::list check_file(const Path& path, bool data, bool strict, const LoadOptions& load, ProgressCallback progress) {
  const CheckOptions options{
      .data = data, .strict = strict, .load = load, .progress = interruptible(std::move(progress))};
  return findings(without_gil([&] { return check(path, options); }));
}

}  // namespace

ProgressCallback interruptible(ProgressCallback report) {
  return [report = std::move(report)](std::uint64_t done, std::uint64_t total) {
    {
      const nb::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    if (report) report(done, total);
  };
}

SaveOptions interruptible(SaveOptions options) {
  options.progress = interruptible(std::move(options.progress));
  return options;
}

ReplaceOptions replace_options(const SaveOptions& save, const Names& remove, bool append_external,
                               const Archive* prepared_from, const std::string& graph) {
  return {.threshold = save.threshold,
          .all_sites = save.all_sites,
          .attributes = save.attributes,
          .subgraphs = save.subgraphs,
          .append_external = append_external,
          .add = save.add,
          .remove = remove,
          .variants = save.variants,
          .output = save.output,
          .progress = interruptible(save.progress),
          .graph = graph,
          .prepared_from = prepared_from};
}

nb::dict as_dict(const ReplaceReport& report) {
  nb::dict row;
  row["tensors_outside"] = report.tensors_outside;
  row["entries_added"] = report.entries_added;
  row["bytes_added"] = report.bytes_added;
  row["model_bytes"] = report.model_bytes;
  row["file_bytes"] = report.file_bytes;
  row["file_bytes_before"] = report.file_bytes_before;
  row["discards_states"] = report.discards_states;
  row["shared_bytes"] = report.shared_bytes;
  row["remarks"] = findings(report.remarks);
  return row;
}

nb::dict converted(const ConvertReport& report) {
  nb::dict row;
  row["tensors_outside"] = report.tensors_outside;
  row["payloads"] = report.payloads;
  row["payload_bytes"] = report.payload_bytes;
  row["model_bytes"] = report.model_bytes;
  row["side_files"] = report.side_files;
  row["side_files_left_out"] = report.side_files_left_out;
  row["graphs"] = report.graphs;
  row["graphs_left_out"] = report.graphs_left_out;
  row["model_path"] = report.model_path;
  row["data_file"] = report.data_file;
  row["file_bytes"] = report.file_bytes;
  row["remarks"] = findings(report.remarks);
  row["typed_made_raw"] = report.typed_made_raw;
  row["nested_outside"] = report.nested_outside;
  row["reencoded"] = report.reencoded;
  row["shared_bytes"] = report.shared_bytes;
  return row;
}

void bind_conversions(nb::module_& module) {
  module.def("convert", [](const Path& input, const Path& output, const SaveOptions& save, const LoadOptions& load) {
    const SaveOptions options = interruptible(save);
    const bool packing = save.format == Format::archive;
    return converted(without_gil([&] {
      return packing ? onnxar::pack(input, output, options, load) : onnxar::unpack(input, output, options, load);
    }));
  });
  module.def("pack_models", pack_models);
  module.def("convert_bytes",
             [](const nb::object& input, const Path& output, const SaveOptions& save, const LoadOptions& load) {
               const HeldBuffer held = hold_buffer(input);
               const SaveOptions options = interruptible(save);
               const LoadOptions load_options = load;
               return converted(without_gil([&] {
                 return options.format == Format::archive ? onnxar::pack(held.bytes, output, options, load_options)
                                                          : onnxar::unpack(held.bytes, output, options, load_options);
               }));
             });
  module.def("replace_file", replace_by_file);
  module.def("replace_bytes", replace_by_bytes);
  module.def("replace_side_files", replace_side_files, nb::arg("archive"), nb::arg("save"), nb::arg("remove"),
             nb::arg("prepared_from") = nb::none());
  module.def("repack", repack_zip, nb::arg("input"), nb::arg("output"), nb::arg("alignment").none(), nb::arg("save"),
             nb::arg("max_expansion"));
  module.def("extract", extract_tensors);
  module.def("recover", [](const Path& path, bool overwrite, bool sync, bool dry_run) {
    const OutputOptions options{.overwrite = overwrite, .sync = sync, .dry_run = dry_run};
    return fields_of(without_gil([&] { return recover(path, options); }));
  });
  module.def("undo", [](const Path& path, bool sync, bool dry_run) {
    return fields_of(without_gil([&] { return undo(path, {.sync = sync, .dry_run = dry_run}); }));
  });
  module.def("check", check_file, nb::arg("path"), nb::arg("data"), nb::arg("strict"), nb::arg("load"),
             nb::arg("progress") = nb::none());
}

}  // namespace onnxar::python
