// Reading: an open archive, its tensors, and their bytes as buffers that keep the mapping alive.
#include "onnxar/archive.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "binding.h"
#include "onnxar/listing.h"

namespace onnxar::python {
namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Bytes bytes = nb::inst_ptr<ByteSpan>(self)->bytes();
  constexpr int read_only = 1;
  return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(bytes.data()), static_cast<Py_ssize_t>(bytes.size()),
                           read_only, flags);
}

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

ArchiveEntry entry_of(const Archive& archive, const std::string& name) {
  if (const auto entry = archive.find(name)) return *entry;
  throw Error(Code::usage_no_such_entry, "the archive has no entry of this name", {name, std::nullopt}, archive.path());
}

Archive open_path(const std::filesystem::path& path, bool copy_in, Prefetch prefetch, std::size_t num_threads) {
  OpenOptions options;
  options.copy_in = copy_in;
  options.prefetch = prefetch;
  options.num_threads = num_threads;
  return without_gil([&] { return Archive::open(path, options); });
}

Archive open_buffer(const nb::object& object) {
  HeldBuffer held = hold_buffer(object);
  return without_gil([&] { return Archive::open(held.bytes, std::move(held.owner)); });
}

nb::list tensor_list(const Archive& archive) {
  nb::list list;
  for (StoredTensor& tensor : without_gil([&] { return tensors(archive); })) list.append(nb::cast(std::move(tensor)));
  return list;
}

nb::dict as_dict(const ListedEntry& entry) {
  nb::list sites;
  for (const TensorInfo& tensor : entry.tensors) sites.append(text(tensor.site));
  nb::dict row;
  row["name"] = text(entry.name);
  row["offset"] = entry.offset;
  row["size"] = entry.size;
  row["crc32"] = entry.crc32;
  row["alignment"] = entry.alignment;
  row["sites"] = sites;
  return row;
}

/// All entries, the model as the last one.
nb::list entry_list(const Archive& archive) {
  const Listing listing = without_gil([&] { return list(archive); });
  nb::list rows;
  for (const ListedEntry& entry : listing.entries) rows.append(as_dict(entry));
  rows.append(as_dict(listing.model));
  return rows;
}

void bind_tensor(nb::module_& module) {
  nb::class_<StoredTensor>(module, "StoredTensor")
      .def_prop_ro("name", [](const StoredTensor& tensor) { return text(tensor.name); })
      .def_prop_ro("site", [](const StoredTensor& tensor) { return text(tensor.site); })
      .def_prop_ro("dtype", [](const StoredTensor& tensor) { return static_cast<int>(tensor.type); })
      .def_prop_ro("shape", [](const StoredTensor& tensor) { return shape_of(tensor.dims); });
}

}  // namespace

nb::tuple shape_of(const std::vector<std::int64_t>& dims) {
  nb::list shape;
  for (const std::int64_t dim : dims) shape.append(dim);
  return nb::tuple(shape);
}

HeldBuffer hold_buffer(const nb::handle& object) {
  const auto release = [](Py_buffer* view) {
    const nb::gil_scoped_acquire gil;
    PyBuffer_Release(view);
    delete view;
  };
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_SIMPLE) != 0) throw nb::python_error();
  const std::shared_ptr<Py_buffer> owner(view.release(), release);
  return {{static_cast<const std::byte*>(owner->buf), static_cast<std::size_t>(owner->len)}, owner};
}

void bind_archive(nb::module_& module) {
  nb::enum_<Prefetch>(module, "Prefetch")
      .value("none", Prefetch::none)
      .value("will_need", Prefetch::will_need)
      .value("populate", Prefetch::populate);
  nb::class_<ByteSpan>(module, "Buffer", nb::type_slots(buffer_slots)).def("__len__", &ByteSpan::size);
  bind_tensor(module);
  const auto borrowed = [](const Archive& archive, Bytes bytes) { return ByteSpan::borrow(bytes, archive.owner()); };
  nb::class_<Archive>(module, "Archive")
      .def_static("open", open_path, nb::arg("path"), nb::arg("copy_in") = false, nb::arg("prefetch") = Prefetch::none,
                  nb::arg("num_threads") = 0)
      .def_static("open_buffer", open_buffer)
      .def("names",
           [](const Archive& archive) {
             nb::list names;
             for (std::size_t i = 0; i < archive.size(); ++i) names.append(text(archive.entry(i).name));
             return names;
           })
      .def("entries", entry_list)
      .def("tensors", tensor_list)
      .def("data", [](const Archive& archive,
                      const StoredTensor& tensor) { return without_gil([&] { return tensor_data(archive, tensor); }); })
      .def("bytes",
           [borrowed](const Archive& archive, const std::string& name) {
             return borrowed(archive, archive.bytes(entry_of(archive, name)));
           })
      .def("model", [borrowed](const Archive& archive) { return borrowed(archive, archive.model()); })
      .def(
          "resolve",
          [borrowed](const Archive& archive, const std::string& location, std::uint64_t offset,
                     std::optional<std::uint64_t> length) {
            return borrowed(archive, archive.resolve(location, offset, length));
          },
          nb::arg("location"), nb::arg("offset") = 0, nb::arg("length") = nb::none())
      .def("verify", [](const Archive& archive, const std::string& name) {
        const ArchiveEntry entry = entry_of(archive, name);
        without_gil([&] { archive.verify(entry); });
      });
}

}  // namespace onnxar::python
