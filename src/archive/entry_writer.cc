// Adds entries and the model to a new or an edited archive, from memory, files and streams.
#include "archive/entry_writer.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/model_proof.h"
#include "archive/opening.h"
#include "base/checked.h"
#include "base/errors.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/sources.h"
#include "base/text.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar {
namespace {

/// Presents a caller's stream as a source.
class StreamSource final : public ByteSource {
 public:
  StreamSource(std::uint64_t size, const StreamReader& read) : size_(size), read_(read) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  /// Never asks for more bytes than the entry has left, because the next entry may follow in the same stream.
  void read(const ByteSink& sink) const override {
    std::vector<std::byte> buffer(base::in_memory(std::min<std::uint64_t>(size_, 1U << 20U)));
    for (std::uint64_t left = size_; left != 0;) {
      const std::span<std::byte> room =
          std::span(buffer).first(base::in_memory(std::min<std::uint64_t>(left, buffer.size())));
      const std::size_t count = read_(room);
      if (count == 0) return;
      if (count > room.size()) {
        throw Error(Code::usage_argument, base::concat("the function that reads the entry returned ", count,
                                                       ", but was asked for ", room.size(), " bytes or less"));
      }
      sink(Bytes(buffer).first(count));
      left -= count;
    }
  }

 private:
  std::uint64_t size_;
  const StreamReader& read_;
};

/// True if the entry is the model or a graph.
bool is_model(std::string_view name) { return name == model_entry_name || is_graph_name(name); }

}  // namespace

EntryWriter::EntryWriter(zip::Writer writer, std::uint64_t alignment, std::filesystem::path target)
    : writer_(std::move(writer)), alignment_(alignment), target_(std::move(target)) {}

EntryWriter::EntryWriter(Edit edit, std::uint64_t alignment, std::filesystem::path target)
    : edit_(std::move(edit)), alignment_(alignment), target_(std::move(target)) {}

zip::Writer& EntryWriter::writer() {
  if (!writer_) writer_.emplace(edit_.open());
  return *writer_;
}

template <bool in_entry, typename Action>
decltype(auto) EntryWriter::step(const Action& action) {
  try {
    return steps_.take([&]() -> decltype(auto) {
      if (begun_.has_value() != in_entry) refuse_order();
      return action();
    });
  } catch (const Error& error) {
    throw error.with_path(target_);
  }
}

void EntryWriter::refuse_order() const {
  throw Error(Code::usage_argument,
              begun_ ? "this entry was begun and did not end; end it first" : "no entry was begun; begin one first",
              {begun_.value_or(""), std::nullopt});
}

void EntryWriter::reserve(std::uint64_t size) {
  step([&] { writer().reserve(size); });
}

void EntryWriter::attempt(const std::function<void()>& action) { step(action); }

void EntryWriter::add(std::string_view name, const FileRange& range) {
  step([&] {
    check_reserved(name, {std::string(name), std::nullopt});
    const auto file = base::MappedFile::open(range.path);
    const std::uint64_t size = file.bytes().size();
    const auto length = base::length_within(range.offset, range.length, size);
    if (!length) {
      throw Error(Code::io_source_size, base::range_fault(range.offset, range.length, "the file", size),
                  {std::string(name), std::nullopt}, range.path);
    }
    write_next(name, base::MappedSource(base::section(file.bytes(), range.offset, *length), file.origin()));
  });
}

void EntryWriter::add(std::string_view name, std::uint64_t size, const StreamReader& read) {
  step([&] {
    check_reserved(name, {std::string(name), std::nullopt});
    base::check_callable(read, "the function that reads the entry");
    write_next(name, StreamSource(size, read));
  });
}

void EntryWriter::add(std::string_view name, const ByteSource& source) {
  step([&] {
    check_reserved(name, {std::string(name), std::nullopt});
    write_next(name, source);
  });
}

void EntryWriter::add_graph(std::string_view name, const ByteSource& model) {
  step([&] {
    const std::string entry = graph_file_name(name);
    check_reserved(entry, {entry, std::nullopt});
    if (!is_graph_name(entry)) {
      throw Error(Code::usage_argument, "a graph needs a name, also after its last slash",
                  {std::string(name), std::nullopt});
    }
    write_next(entry, model);
  });
}

void EntryWriter::begin(std::string_view name, std::uint64_t size) {
  step([&] {
    check_reserved(name, {std::string(name), std::nullopt});
    prepare(name);
    writer().begin(name, alignment_, size);
    begun_ = name;
  });
}

void EntryWriter::write(Bytes bytes) {
  step<true>([&] { writer().write(bytes); });
}

void EntryWriter::end() {
  step<true>([&] {
    writer().end();
    begun_.reset();
  });
}

/// Makes the preparations for writing an entry or the model.
void EntryWriter::prepare(std::string_view name) {
  if (name != model_entry_name) expect_graphs_last(name);
  if (edit_.before) edit_.before(name);
  if (!first_other_ && !is_model(name) && !is_key(name)) first_other_ = writer().added();
}

void EntryWriter::write_next(std::string_view name, const ByteSource& source) {
  prepare(name);
  write(name, source);
}
void EntryWriter::write(std::string_view name, const ByteSource& source) { writer().add(name, alignment_, source); }

void EntryWriter::check_model_size(std::uint64_t size) const {
  if (fits_protobuf(size) && size <= edit_.max_model_size) return;
  const std::string text = fits_protobuf(size)
                               ? base::concat("the model alone is ", base::human_size(size), ", over the limit of ",
                                              base::human_size(edit_.max_model_size))
                               : oversize_text("the model alone is", size);
  throw Error(Code::archive_model_too_large, text, {std::string(model_entry_name), std::nullopt}, target_,
              {Hint::lower_threshold});
}

/// Enforces W13: an edit cannot replace or remove an entry that lies before a weight.
void EntryWriter::expect_graphs_last(std::string_view name) {
  if (is_graph_name(name)) {
    graph_ = name;
  } else if (!graph_.empty()) {
    throw Error(Code::usage_argument,
                base::concat("it comes after the graph ", base::quoted(graph_),
                             ", which no edit could then replace or remove; add weights and side files before graphs"),
                {std::string(name), std::nullopt});
  }
}

/// Enforces W13 for weights. A weight may have any name, so only links distinguish it from a side file.
void EntryWriter::expect_weights_first() {
  if (!first_other_) return;
  std::vector<std::string_view> names;  // names of weights and side files; graphs come after them
  base::KeyedMap<std::string_view, std::size_t> places;
  for (std::size_t i = *first_other_; i < writer().added() && !is_model(writer().added_name(i)); ++i) {
    places.emplace(writer().added_name(i), names.size());
    names.push_back(writer().added_name(i));
  }
  if (names.size() == 1) return;
  std::vector<bool> is_weight(names.size());
  const auto note = [&](const onnx::TensorSite& site) {
    if (!site.tensor.is_external() || !site.tensor.external.location) return;
    const auto place = places.find(*site.tensor.external.location);
    if (place != places.end()) is_weight[place->second] = true;
  };
  for (std::size_t i = *first_other_; i < writer().added(); ++i) {
    if (!is_model(writer().added_name(i))) continue;
    const base::MappedFile model = writer().map_added(i);
    onnx::walk_tensors(model.bytes(), note);
  }
  std::optional<std::size_t> side_file;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!side_file && !is_weight[i] && !is_key(names[i])) side_file = i;
    if (!side_file || !is_weight[i]) continue;
    throw Error(Code::usage_argument,
                base::concat("it comes before the weight ", base::quoted(names[i]),
                             ", so no edit could replace or remove it; add side files after all weights"),
                {std::string(names[*side_file]), std::nullopt});
  }
}

/// Reads the models back from the file, so that the proof covers the bytes that readers will find.
void EntryWriter::prove_models(const Proofs& proofs) {
  const Entries entries = proofs.written ? writer().sorted_sizes() : Entries();
  for (std::size_t i = 0; i < writer().added(); ++i) {
    const std::string_view name = writer().added_name(i);
    if (!is_model(name)) continue;
    const base::MappedFile model = writer().map_added(i);
    if (proofs.written) prove_written(name, model.bytes(), entries);
    if (proofs.further) proofs.further(name, model.bytes());
  }
  if (proofs.written) expect_weights_first();
}

void EntryWriter::finish(const ByteSource& model, base::Sync before_end, base::Sync sync, const Proofs& proofs) {
  step([&] {
    // Asks for the size once, so that the model that was checked is the model that is written.
    const base::ExactSource exact(model, "the model", {std::string(model_entry_name), std::nullopt});
    check_model_size(exact.size());
    write_next(model_entry_name, exact);
    if (proofs.written || proofs.further) prove_models(proofs);
    // Closing throws if there was a call meanwhile: then the file must not become valid.
    base::OutputFile file = std::move(writer()).finish(before_end, [this] { steps_.close(); });
    file.publish(sync);
  });
}

}  // namespace onnxar
