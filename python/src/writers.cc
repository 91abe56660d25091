// Writes archives for Python, whose functions provide the weights one after another.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "buffers.h"
#include "channel.h"
#include "conversions.h"
#include "exclusive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/model_stream.h"

namespace onnxar::python {
namespace {

/// The file-like object for a weight. It has only `write`.
class Sink {
 public:
  explicit Sink(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}

  std::size_t write(const nb::object& object) const {
    const HeldBuffer held = hold_buffer(object);
    const std::shared_ptr<Channel> channel = channel_;  // the object may be freed during the call
    without_gil([&] { channel->write(held.bytes); });
    return held.bytes.size();
  }

 private:
  std::shared_ptr<Channel> channel_;
};

/// A weight that a Python function writes: `write_to(file)`.
class WrittenSource final : public ByteSource {
 public:
  WrittenSource(std::uint64_t size, nb::callable write_to) : size_(size), write_to_(std::move(write_to)) {}
  WrittenSource(const WrittenSource&) = delete;
  WrittenSource& operator=(const WrittenSource&) = delete;
  ~WrittenSource() override {
    const nb::gil_scoped_acquire gil;
    if (gil.is_valid()) {
      write_to_.reset();
    } else {
      write_to_.release();  // the interpreter has ended and freed its objects
    }
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  void read(const ByteSink& sink) const override {
    const nb::gil_scoped_acquire gil;
    if (!gil.is_valid())
      throw Error(Code::usage_argument, "the interpreter is shutting down, so the weight cannot be written");
    const auto channel = std::make_shared<Channel>(sink, size_);
    try {
      write_to_(nb::cast(Sink(channel)));
    } catch (...) {
      without_gil([&] { channel->abandon(); });
      throw;
    }
    without_gil([&] { channel->close(); });
  }

 private:
  std::uint64_t size_;
  nb::callable write_to_;
};

using OneArchiveWriter = Exclusive<ArchiveWriter>;
using OneModelWriter = Exclusive<ModelWriter>;

OneArchiveWriter create(const std::filesystem::path& path, std::uint64_t alignment, bool overwrite, bool sync) {
  const WriterOptions options{.alignment = alignment, .output = {.overwrite = overwrite, .sync = sync}};
  return OneArchiveWriter(without_gil([&] { return ArchiveWriter::create(path, options); }));
}

void add_weight(OneArchiveWriter& writer, const std::string& name, std::uint64_t size, nb::callable write_to) {
  const WrittenSource source(size, std::move(write_to));
  without_gil([&] { writer.use([&](ArchiveWriter& used) { used.add(name, source); }); });
}

void finish(OneArchiveWriter& writer, const nb::bytes& model) {
  const Bytes bytes = as_bytes({model.c_str(), model.size()});
  without_gil([&] { writer.use([&](ArchiveWriter& used) { used.finish(bytes); }); });
}

std::string add_source(OneModelWriter& writer, std::uint64_t size, nb::callable write_to) {
  const auto source = std::make_shared<WrittenSource>(size, std::move(write_to));
  return writer.use([&](ModelWriter& used) { return used.add(source); });
}

nb::dict save_model(OneModelWriter& writer, const nb::bytes& model, const std::filesystem::path& path,
                    const SaveOptions& save, const LoadOptions& load) {
  const SaveOptions options = interruptible(save);
  const LoadOptions load_options = load;
  const Bytes bytes = as_bytes({model.c_str(), model.size()});
  const auto saved = [&](ModelWriter& used) { return used.save(bytes, path, options, load_options); };
  return converted(without_gil([&] { return writer.use(saved); }));
}

nb::dict replace_model(OneModelWriter& writer, const nb::bytes& model, const std::filesystem::path& path,
                       const SaveOptions& save, const LoadOptions& load, const std::vector<std::string>& remove,
                       const Archive* prepared_from, bool append_external, const std::string& graph) {
  const ReplaceOptions options = replace_options(save, remove, append_external, prepared_from, graph);
  const LoadOptions load_options = load;
  const Bytes bytes = as_bytes({model.c_str(), model.size()});
  const auto replaced = [&](ModelWriter& used) { return used.replace(path, bytes, options, load_options); };
  return as_dict(without_gil([&] { return writer.use(replaced); }));
}

nb::bytes link_bytes(const std::string& location, std::uint64_t size) {
  const std::string fields = link_fields(location, size);
  return nb::bytes(fields.data(), fields.size());
}

}  // namespace

void bind_writers(nb::module_& module) {
  nb::class_<Sink>(module, "Sink").def("write", &Sink::write);
  nb::class_<OneModelWriter>(module, "ModelWriter")
      .def(nb::init<>())
      .def("add", add_source)
      .def("save", save_model)
      .def("replace", replace_model, nb::arg("model"), nb::arg("path"), nb::arg("save"), nb::arg("load"),
           nb::arg("remove"), nb::arg("prepared_from").none(), nb::arg("append_external") = false,
           nb::arg("graph") = "");
  nb::class_<KeyMaker>(module, "KeyMaker")
      .def(nb::init<>())
      .def("reserve", [](KeyMaker& keys, const std::string& name) { keys.reserve(name); })
      .def("make", [](KeyMaker& keys, const std::string& name) { return keys.make(name); });
  nb::class_<OneArchiveWriter>(module, "ArchiveWriter")
      .def_static("create", create)
      .def("add", add_weight)
      .def("finish", finish);
  module.def("link_fields", link_bytes);
}

}  // namespace onnxar::python
