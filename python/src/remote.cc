// Binds files on servers that onnxar::remote reads in ranges.
#include "onnxar/remote.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "conversions.h"
#include "ranged_archive.h"

namespace onnxar::python {
namespace {

using Seconds = std::chrono::duration<double>;
using Range = std::pair<std::uint64_t, std::uint64_t>;  // the first byte, and the byte after the last one

/// Reads a file by one thread at a time.
class RemoteFile {
 public:
  explicit RemoteFile(std::shared_ptr<const RandomAccess> file) : file_(std::move(file)) {}

  [[nodiscard]] const std::shared_ptr<const RandomAccess>& file() const noexcept { return file_; }
  void read(const std::vector<RangeTarget>& targets) {
    const std::scoped_lock lock(reading_);
    file_->read(targets);
  }

 private:
  std::shared_ptr<const RandomAccess> file_;
  std::mutex reading_;
};

std::chrono::milliseconds time_of(double seconds) {
  constexpr double most = 1e9;  // some decades; the count of milliseconds does not overflow
  return std::chrono::ceil<std::chrono::milliseconds>(Seconds(std::min(seconds, most)));
}

/// Ends a call that waits for a server if the user interrupts it.
void raise_interrupt(std::string_view, std::chrono::milliseconds waited) {
  if (waited.count() == 0) return;
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

RemoteOptions remote_options(double timeout) {
  RemoteOptions options = remote_options_of_environment();
  options.stall_timeout = time_of(timeout);
  options.connect_timeout = options.stall_timeout;
  options.waiting = raise_interrupt;
  return options;
}

/// `save` has the options of the output and `progress`. An empty digest is none.
nb::dict get_archive(const std::string& address, const std::filesystem::path& output, const SaveOptions& save,
                     const std::vector<std::filesystem::path>& reuse, const std::vector<std::string>& graphs,
                     const std::string& digest, double timeout) {
  GetOptions options{.remote = remote_options(timeout),
                     .output = save.output,
                     .progress = interruptible(save.progress),
                     .reuse = reuse,
                     .graphs = graphs,
                     .digest = digest};
  const GetReport report = without_gil([&] { return get(address, output, options); });
  nb::dict row;
  row["entries"] = report.entries;
  row["file_bytes"] = report.file_bytes;
  row["remote_bytes"] = report.remote_bytes;
  row["resumed_bytes"] = report.resumed_bytes;
  row["reused_bytes"] = report.reused_bytes;
  row["downloaded_bytes"] = report.downloaded_bytes;
  return row;
}

/// Returns null if libcurl is missing, or the server identifies no version of the file: a whole download is then all
/// that is safe. Times are in seconds. Throws what `open_remote` throws.
std::shared_ptr<RemoteFile> open_file(const std::string& address, double timeout, double pause) {
  RemoteOptions options = remote_options(timeout);
  options.pause = time_of(pause);
  try {
    return without_gil([&] { return std::make_shared<RemoteFile>(open_remote(address, options)); });
  } catch (const Error& error) {
    const bool has_no_version = error.code() == Code::remote_answer && error.advice().hint == Hint::get_whole;
    if (has_no_version || error.code() == Code::remote_no_libcurl) return nullptr;
    throw;
  }
}

/// Returns the bytes of ranges that ascend and do not overlap.
nb::list fetch(RemoteFile& file, const std::vector<Range>& ranges) {
  nb::list parts;
  std::vector<RangeTarget> targets;
  for (const auto& [begin, end] : ranges) {
    const auto size = static_cast<Py_ssize_t>(end - begin);
    const nb::object part = nb::steal(PyByteArray_FromStringAndSize(nullptr, size));
    if (!part.is_valid()) throw nb::python_error();
    auto* const data = reinterpret_cast<std::byte*>(PyByteArray_AsString(part.ptr()));
    targets.push_back({begin, {data, static_cast<std::size_t>(size)}});
    parts.append(part);
  }
  without_gil([&] { file.read(targets); });
  return parts;
}

}  // namespace

void bind_remote(nb::module_& module) {
  const RemoteOptions defaults;
  nb::class_<RemoteFile>(module, "RemoteFile")
      .def_prop_ro("name", [](const RemoteFile& of) { return text(of.file()->name().string()); })
      .def_prop_ro("size", [](const RemoteFile& of) { return of.file()->size(); })
      .def("open",
           [](const RemoteFile& of) { return without_gil([&] { return RangedArchive(Archive::open(of.file())); }); })
      .def("fetch", fetch, nb::arg("ranges"));
  module.def("is_library_address", [](const std::string& text) { return is_address(text); });
  module.def("get", get_archive);
  module.def("remote_file", open_file, nb::arg("address"), nb::arg("timeout"),
             nb::arg("pause") = Seconds(defaults.pause).count());
}

}  // namespace onnxar::python
