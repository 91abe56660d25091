// Writing: weights come from Python, one after another, when their turn is.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "binding.h"
#include "conversions.h"
#include "onnxar/archive_writer.h"
#include "onnxar/model_writer.h"

namespace onnxar::python {
namespace {

[[noreturn]] void refuse_size(std::uint64_t written, std::uint64_t size) {
  throw Error(Code::io_source_size, "a weight of " + std::to_string(size) + " bytes was announced, and " +
                                        std::to_string(written) + " were written");
}

/// What a weight is written to: a file that knows nothing but `write`.
class Sink {
 public:
  Sink(const ByteSink& sink, std::uint64_t size) : sink_(&sink), size_(size) {}

  std::size_t write(const nb::object& object) {
    const HeldBuffer held = hold_buffer(object);
    if (sink_ == nullptr) throw Error(Code::usage_argument, "the weight is written, and its file is closed");
    written_ += held.bytes.size();
    if (written_ > size_) refuse_size(written_, size_);
    without_gil([&] { (*sink_)(held.bytes); });
    return held.bytes.size();
  }

  /// Nothing more comes.
  void close() {
    sink_ = nullptr;
    if (written_ != size_) refuse_size(written_, size_);
  }
  void abandon() noexcept { sink_ = nullptr; }

 private:
  const ByteSink* sink_;
  std::uint64_t size_;
  std::uint64_t written_ = 0;
};

/// A weight that a Python function writes: `write_to(file)`.
class WrittenSource final : public ByteSource {
 public:
  WrittenSource(std::uint64_t size, nb::callable write_to) : size_(size), write_to_(std::move(write_to)) {}
  WrittenSource(const WrittenSource&) = delete;
  WrittenSource& operator=(const WrittenSource&) = delete;
  ~WrittenSource() override {
    const nb::gil_scoped_acquire gil;
    write_to_.reset();
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  void read(const ByteSink& sink) const override {
    const nb::gil_scoped_acquire gil;
    const nb::object file = nb::cast(Sink(sink, size_));
    Sink& written = *nb::inst_ptr<Sink>(file);
    try {
      write_to_(file);
    } catch (...) {
      written.abandon();
      throw;
    }
    written.close();
  }

 private:
  std::uint64_t size_;
  nb::callable write_to_;
};

void add_weight(ArchiveWriter& writer, const std::string& name, std::uint64_t size, nb::callable write_to) {
  const WrittenSource source(size, std::move(write_to));
  without_gil([&] { writer.add(name, source); });
}

nb::dict save_model(const ModelWriter& writer, const nb::bytes& model, const std::filesystem::path& path,
                    const SaveOptions& save, const LoadOptions& load) {
  const SaveOptions options = interruptible(save);
  const Bytes bytes = as_bytes({model.c_str(), model.size()});
  return as_dict(without_gil([&] { return writer.save(bytes, path, options, load); }));
}

}  // namespace

void bind_writers(nb::module_& module) {
  nb::class_<Sink>(module, "Sink").def("write", &Sink::write);
  nb::class_<ModelWriter>(module, "ModelWriter")
      .def(nb::init<>())
      .def("add",
           [](ModelWriter& writer, std::uint64_t size, nb::callable write_to) {
             return writer.add(std::make_shared<WrittenSource>(size, std::move(write_to)));
           })
      .def("save", save_model);
  nb::class_<KeyMaker>(module, "KeyMaker").def(nb::init<>()).def("make", [](KeyMaker& keys, const std::string& name) {
    return keys.make(name);
  });
  nb::class_<ArchiveWriter>(module, "ArchiveWriter")
      .def_static("create", [](const std::filesystem::path& path, std::uint64_t alignment, bool replace,
                               bool sync) { return ArchiveWriter::create(path, {alignment, replace, sync}); })
      .def("add", add_weight)
      .def("finish", [](ArchiveWriter& writer, const nb::bytes& model) {
        const Bytes bytes = as_bytes({model.c_str(), model.size()});
        without_gil([&] { writer.finish(bytes); });
      });
}

}  // namespace onnxar::python
