// Describes the tensors of an archive for Python, and makes arrays of them.
#include "tensors.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "ranged_archive.h"
#include "values.h"

namespace onnxar::python {
namespace {

void expect_own(const Archive& archive, const OwnedTensor& of) {
  const std::shared_ptr<const void>& wanted = archive.owner();
  if (of.all->archive.owner_before(wanted) || wanted.owner_before(of.all->archive)) {
    throw Error(Code::usage_argument, "the tensor belongs to a different archive", {of.tensor->name, std::nullopt},
                archive.path());
  }
}

}  // namespace

nb::tuple tensor_list(const Archive& archive, bool by_ranges) {
  const auto all = std::make_shared<const TensorsOf>(
      TensorsOf{without_gil([&] { return tensors(archive); }), archive.owner(), by_ranges});
  nb::list_builder list(all->list.size());
  nb::list_builder names(all->list.size());
  std::size_t without_array = 0;
  for (const StoredTensor& tensor : all->list) {
    list.put(OwnedTensor{all, &tensor});
    names.put(text(tensor.name));
    if (bits_per_element(tensor.type) == 0) ++without_array;
  }
  return nb::make_tuple(list.commit(), names.commit(), without_array);
}

nb::object entry_name(const Archive& archive, const OwnedTensor& of) {
  expect_own(archive, of);
  // The model of an archive that Python code reads may have to be read first.
  const auto find = [&] { return tensor_entry(archive, *of.tensor); };
  const auto entry = of.all->by_ranges ? without_gil(find) : find();
  return entry ? text(entry->name) : nb::none();
}

ByteSpan data_of(const Archive& archive, const OwnedTensor& of) {
  expect_own(archive, of);
  // To look up an entry takes as long as to release the interpreter's lock. To copy or decode data may take longer.
  constexpr std::uint64_t short_message = 4096;
  if (of.tensor->size <= short_message && !of.all->by_ranges) return tensor_data(archive, *of.tensor);
  return without_gil([&] { return tensor_data(archive, *of.tensor); });
}

nb::tuple as_tuple(std::span<const FieldStep> steps) {
  nb::list path;
  for (const FieldStep& step : steps) {
    path.append(nb::make_tuple(text(step.field), step.index ? nb::object(nb::int_(*step.index)) : nb::none()));
  }
  return nb::tuple(path);
}

nb::list steps_list(const Archive& archive) {
  nb::list list;
  for (const auto& steps : without_gil([&] { return steps_of_tensors(archive); })) list.append(as_tuple(steps));
  return list;
}

ArrayMaker::ArrayMaker(nb::object archive, nb::object closed, nb::list dtypes, nb::object view, nb::object convert,
                       nb::object before)
    : archive_(std::move(archive)),
      closed_(std::move(closed)),
      dtypes_(std::move(dtypes)),
      view_(std::move(view)),
      convert_(std::move(convert)),
      before_(std::move(before)) {
  if (!nb::isinstance<Archive>(archive_) || !nb::inst_ready(archive_))
    throw nb::type_error("the archive is not initialised");
  const Archive& opened = *nb::inst_ptr<Archive>(archive_);
  // Arrays share one buffer of the file, unless its bytes must be read or verified before they are used.
  if (before_.is_none() && !nb::isinstance<RangedArchive>(archive_)) {
    file_ = nb::cast(ByteSpan::borrow(opened.file(), opened.owner()));
  }
}

nb::object ArrayMaker::make(const nb::object& key, const OwnedTensor& of) const {
  if (!archive_) return closed_();
  // Python code that runs meanwhile, on this thread or another, may close the archive.
  const nb::object held = archive_, file = file_, before = before_;
  const nb::dict replaced = replaced_;
  if (PyObject* found = PyDict_GetItemWithError(replaced.ptr(), key.ptr())) return nb::borrow(found);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  const Archive& archive = *nb::inst_ptr<Archive>(held);
  if (!before.is_none()) before(nb::find(of));
  ByteSpan data = data_of(archive, of);
  const nb::object dtype = dtype_of(*of.tensor, data.bytes());
  const nb::tuple shape = shape_of(of.tensor->dims);
  if (!dtype) return convert_(std::move(data), static_cast<int>(of.tensor->type), shape, key);
  if (!file) return view_(shape, dtype, std::move(data));
  const Bytes bytes = archive.file();
  const std::byte* begin = data.bytes().data();
  const bool is_in_file = !std::less<>()(begin, bytes.data()) && std::less<>()(begin, bytes.data() + bytes.size());
  return is_in_file ? view_(shape, dtype, file, begin - bytes.data()) : view_(shape, dtype, std::move(data));
}

void ArrayMaker::close() {
  // Released last, when this object no longer refers to them: their ends may run Python code that uses it.
  const nb::object archive = std::move(archive_), file = std::move(file_), before = std::move(before_);
  const nb::dict replaced = std::exchange(replaced_, nb::dict());
}

nb::object ArrayMaker::dtype_of(const StoredTensor& tensor, Bytes data) const {
  constexpr std::size_t most_dimensions = 32;
  const auto number = static_cast<std::size_t>(tensor.type);
  const std::size_t width = bits_per_element(tensor.type) / 8;
  if (width == 0 || number >= dtypes_.size() || data.empty() || tensor.dims.size() > most_dimensions) return {};
  if (reinterpret_cast<std::uintptr_t>(data.data()) % width != 0) return {};
  nb::object dtype = dtypes_[number];
  return dtype.is_none() ? nb::object() : dtype;
}

ArrayMaker arrays_of(nb::object archive, nb::object closed, nb::list dtypes, nb::object view, nb::object convert,
                     nb::object before) {
  return {std::move(archive), std::move(closed),  std::move(dtypes),
          std::move(view),    std::move(convert), std::move(before)};
}

void bind_tensors(nb::module_& module) {
  nb::class_<OwnedTensor>(module, "StoredTensor")
      .def_prop_ro("name", [](const OwnedTensor& of) { return text(of.tensor->name); })
      .def_prop_ro("site", [](const OwnedTensor& of) { return text(of.tensor->site); })
      .def_prop_ro("output", [](const OwnedTensor& of) { return text(of.tensor->output); })
      .def_prop_ro("dtype", [](const OwnedTensor& of) { return static_cast<int>(of.tensor->type); })
      .def_prop_ro("bits", [](const OwnedTensor& of) { return bits_per_element(of.tensor->type); })
      .def_prop_ro("shape", [](const OwnedTensor& of) { return shape_of(of.tensor->dims); });
  nb::class_<ArrayMaker>(module, "ArrayMaker")
      .def("make", &ArrayMaker::make)
      .def_prop_ro("replaced", &ArrayMaker::replaced)
      .def("close", &ArrayMaker::close);
}

}  // namespace onnxar::python
