// Reads ranges of a file through Python code.
#include "python_file.h"

#include <utility>

namespace onnxar::python {
namespace {

class PythonFile final : public RandomAccess {
 public:
  PythonFile(nb::callable read, std::uint64_t size, std::string name)
      : read_(std::move(read)), size_(size), name_(std::move(name)) {}
  PythonFile(const PythonFile&) = delete;
  PythonFile& operator=(const PythonFile&) = delete;
  ~PythonFile() override {
    const nb::gil_scoped_acquire gil;
    if (gil.is_valid()) {
      read_.reset();
    } else {
      static_cast<void>(read_.release());  // the interpreter has ended, and its objects with it
    }
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::filesystem::path name() const override { return name_; }

  void read(std::span<const RangeTarget> ranges) const override {
    const nb::gil_scoped_acquire gil;
    nb::list targets;
    for (const RangeTarget& range : ranges) {
      const nb::object view = nb::steal(PyMemoryView_FromMemory(
          reinterpret_cast<char*>(range.target.data()), static_cast<Py_ssize_t>(range.target.size()), PyBUF_WRITE));
      if (!view) throw nb::python_error();
      targets.append(nb::make_tuple(range.offset, view));
    }
    try {
      read_(targets);
    } catch (...) {
      release(targets);  // the exception's traceback may keep them
      throw;
    }
    release(targets);
  }

 private:
  static void release(const nb::list& targets) {
    for (const nb::handle target : targets) target[1].attr("release")();
  }

  nb::callable read_;
  std::uint64_t size_;
  std::string name_;
};

}  // namespace

std::shared_ptr<const RandomAccess> python_file(nb::callable read, std::uint64_t size, std::string name) {
  return std::make_shared<const PythonFile>(std::move(read), size, std::move(name));
}

}  // namespace onnxar::python
