// Opens archives for Python, and reads them as buffers that keep the mapping alive.
#include "onnxar/archive.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "binding.h"
#include "buffers.h"
#include "conversions.h"
#include "onnxar/listing.h"
#include "python_file.h"
#include "ranged_archive.h"
#include "tensors.h"
#include "values.h"

namespace onnxar::python {
namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  if (!nb::inst_ready(self)) {  // made by Buffer.__new__ without a constructor
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "this Buffer is not initialised");
    return -1;
  }
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

Archive open_path(const std::filesystem::path& path, bool copy_in, Prefetch prefetch, std::size_t threads) {
  OpenOptions options;
  options.copy_in = copy_in;
  options.prefetch = prefetch;
  options.threads = threads;
  return without_gil([&] { return Archive::open(path, options); });
}

/// Opens the archive in a part of an open file.
Archive open_part(std::intptr_t descriptor, std::uint64_t offset, std::optional<std::uint64_t> length, bool copy_in,
                  Prefetch prefetch, std::size_t threads) {
  const DescriptorRange range{.descriptor = NativeHandle(descriptor), .offset = offset, .length = length};
  const OpenOptions options{.prefetch = prefetch, .copy_in = copy_in, .threads = threads};
  return without_gil([&] { return Archive::open(range, options); });
}

Archive open_buffer(const nb::object& object) {
  HeldBuffer held = hold_buffer(object);
  return without_gil([&] { return Archive::open(held.bytes, std::move(held.owner)); });
}

nb::dict metadata_of(const Archive& archive) {
  nb::dict pairs;
  for (const auto& [key, value] : without_gil([&] { return metadata(archive); })) pairs[text(key)] = text(value);
  return pairs;
}

/// `model` is the entry of the graph whose tensors the sites are of.
nb::dict row_of(const ListedEntry& entry, std::string_view model) {
  nb::list sites, names;
  for (const TensorInfo& tensor : entry.tensors) {
    names.append(text(tensor.name));
    if (entry.graphs.front() == model) sites.append(text(tensor.site));
  }
  nb::dict row;
  row["name"] = text(entry.name);
  row["offset"] = entry.offset;
  row["size"] = entry.size;
  row["crc32"] = entry.crc32;
  row["alignment"] = entry.alignment;
  row["kind"] = text(to_string(entry.kind));
  row["sites"] = sites;
  row["tensors"] = names;
  row["dtype"] = entry.tensors.empty() ? nb::str("") : text(to_string(entry.tensors.front().type));
  row["shape"] = entry.tensors.empty() ? nb::object(nb::none()) : nb::object(shape_of(entry.tensors.front().dims));
  nb::list graphs;
  for (const std::string& graph : entry.graphs) graphs.append(text(graph));
  row["graphs"] = graphs;
  return row;
}

/// Returns all entries; the model is last.
nb::list entry_list(const Archive& archive) {
  const Listing listing = without_gil([&] { return ls(archive); });
  nb::list rows;
  const std::string_view model = archive.model_entry().name;
  for (const ListedEntry& entry : listing.entries) rows.append(row_of(entry, model));
  rows.append(row_of(listing.model, model));
  return rows;
}

/// Returns the digest, and the name and digest of each entry.
nb::tuple digest_of(const Archive& archive, std::size_t threads, ProgressCallback progress) {
  const DigestOptions options{.threads = threads, .progress = interruptible(std::move(progress))};
  const Digest found = without_gil([&] { return digest(archive, options); });
  nb::list entries;
  for (const EntryDigest& entry : found.entries) entries.append(nb::make_tuple(text(entry.name), text(entry.hex)));
  return nb::make_tuple(text(found.hex), entries);
}

/// Returns the names of the entries that `find` returns.
template <typename Find>
nb::list names_found(const Find& find) {
  nb::list names;
  for (const ArchiveEntry& entry : without_gil(find)) names.append(text(entry.name));
  return names;
}

// --- archives that Python code reads ---

RangedArchive open_ranges(nb::callable read, std::uint64_t size, std::string name) {
  auto file = python_file(std::move(read), size, std::move(name));
  return without_gil([&] { return RangedArchive(Archive::open(std::move(file))); });
}

/// Returns what `find` returns, as a buffer that keeps the archive's memory.
template <typename Find>
ByteSpan read_unlocked(const RangedArchive& archive, const Find& find) {
  return ByteSpan::borrow(without_gil(find), archive.owner());
}

ByteSpan whole_file(const RangedArchive& archive) {
  return read_unlocked(archive, [&] {
    archive.prefetch(archive.file(), Prefetch::populate);
    return archive.file();
  });
}

void read_entries(const RangedArchive& archive, const std::vector<std::string>& names) {
  std::vector<ArchiveEntry> entries;
  for (const std::string& name : names) entries.push_back(entry_of(archive, name));
  without_gil([&] { archive.prefetch(entries, Prefetch::populate); });
}

/// Returns the ranges of the file that tell what is in the archive: headers, graphs, the model, and all that follows
/// it.
nb::list outline(const RangedArchive& archive) {
  const Listing listing = without_gil([&] { return ls(archive); });
  nb::list ranges;
  for (const ListedEntry& entry : listing.entries) {
    const std::uint64_t end = entry.offset + (entry.kind == EntryKind::graph ? entry.size : 0);
    ranges.append(nb::make_tuple(entry.header_offset, end));
  }
  ranges.append(nb::make_tuple(listing.model.header_offset, listing.file_size));
  return ranges;
}

void bind_ranged(nb::module_& module) {
  nb::class_<RangedArchive, Archive>(module, "RangedArchive")
      .def_static("open_ranges", open_ranges)
      .def("tensors", [](const RangedArchive& archive) { return tensor_list(archive, true); })
      .def("metadata", metadata_of)
      .def("bytes",
           [](const RangedArchive& archive, const std::string& name) {
             const ArchiveEntry entry = entry_of(archive, name);
             return read_unlocked(archive, [&] { return archive.bytes(entry); });
           })
      .def("model",
           [](const RangedArchive& archive) { return read_unlocked(archive, [&] { return archive.model(); }); })
      .def("file", whole_file)
      .def(
          "resolve",
          [](const RangedArchive& archive, const std::string& location, std::uint64_t offset,
             std::optional<std::uint64_t> length) {
            return read_unlocked(archive, [&] { return archive.resolve(location, offset, length); });
          },
          nb::arg("location"), nb::arg("offset") = 0, nb::arg("length") = nb::none())
      .def("graph", [](const RangedArchive& of,
                       const std::string& name) { return without_gil([&] { return RangedArchive(of.graph(name)); }); })
      .def("outline", outline)
      .def("read_entries", read_entries);
}

/// Returns a copy of the entry, whose CRC-32 was compared.
nb::object copy_of_entry(const Archive& archive, const std::string& name) {
  const ArchiveEntry entry = entry_of(archive, name);
  return copied_bytes(entry.size, [&](const ByteSink& sink) { archive.copy(entry, sink); });
}

}  // namespace

void bind_archive(nb::module_& module) {
  nb::enum_<Prefetch>(module, "Prefetch")
      .value("none", Prefetch::none)
      .value("will_need", Prefetch::will_need)
      .value("populate", Prefetch::populate);
  // Pooled, because each array of an archive that is verified or read in ranges has one.
  nb::class_<ByteSpan>(module, "Buffer", nb::type_slots(buffer_slots), nb::pooled()).def("__len__", &ByteSpan::size);
  module.def("is_zip", [](const nb::object& object) { return looks_like_zip(hold_buffer(object).bytes); });
  const auto borrowed = [](const Archive& archive, Bytes bytes) { return ByteSpan::borrow(bytes, archive.owner()); };
  nb::class_<Archive>(module, "Archive")
      .def_static("open", open_path, nb::arg("path"), nb::arg("copy_in") = false, nb::arg("prefetch") = Prefetch::none,
                  nb::arg("threads") = 0)
      .def_static("open_part", open_part, nb::arg("descriptor"), nb::arg("offset"), nb::arg("length").none(),
                  nb::arg("copy_in"), nb::arg("prefetch"), nb::arg("threads"))
      .def_static("open_buffer", open_buffer)
      .def("names",
           [](const Archive& archive) {
             nb::list names;
             for (std::size_t i = 0; i < archive.size(); ++i) names.append(text(archive.entry(i).name));
             return names;
           })
      .def("entries", entry_list)
      .def("tensors", [](const Archive& archive) { return tensor_list(archive, false); })
      .def("steps", steps_list)
      .def("copy", copy_of_entry)
      .def("entry_of", entry_name)
      .def("data", data_of)
      .def("arrays", arrays_of, nb::arg("closed"), nb::arg("dtypes"), nb::arg("view"), nb::arg("convert"),
           nb::arg("before") = nb::none())
      .def("side_files", [](const Archive& of) { return names_found([&] { return side_files(of); }); })
      .def("graphs", [](const Archive& of) { return names_found([&] { return of.graphs(); }); })
      .def("graph", [](const Archive& of, const std::string& name) { return of.graph(name); })
      .def("model_name", [](const Archive& of) { return text(of.model_entry().name); })
      .def("is_graph", [](const Archive& of) { return of.model_entry().name != model_entry_name; })
      .def("entries_of_graphs", [](const Archive& of) { return names_found([&] { return entries_of_graphs(of); }); })
      .def("metadata", metadata_of)
      .def("bytes",
           [borrowed](const Archive& archive, const std::string& name) {
             return borrowed(archive, archive.bytes(entry_of(archive, name)));
           })
      .def("model", [borrowed](const Archive& archive) { return borrowed(archive, archive.model()); })
      .def("file", [borrowed](const Archive& archive) { return borrowed(archive, archive.file()); })
      .def("same_state",
           [](const Archive& one, const Archive& other) { return without_gil([&] { return same_state(one, other); }); })
      .def(
          "resolve",
          [borrowed](const Archive& archive, const std::string& location, std::uint64_t offset,
                     std::optional<std::uint64_t> length) {
            return borrowed(archive, archive.resolve(location, offset, length));
          },
          nb::arg("location"), nb::arg("offset") = 0, nb::arg("length") = nb::none())
      .def("digest", digest_of, nb::arg("threads"), nb::arg("progress").none())
      .def("verify", [](const Archive& archive, const std::string& name) {
        const ArchiveEntry entry = entry_of(archive, name);
        without_gil([&] { archive.verify(entry); });
      });
  bind_ranged(module);
}

}  // namespace onnxar::python
