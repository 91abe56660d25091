// Adds entries and the model to a new or an edited archive, from memory, files and streams.
#include "archive/entry_writer.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/keys.h"
#include "archive/model_proof.h"
#include "base/annotated.h"
#include "base/byte_range.h"
#include "base/checked.h"
#include "base/file_origin.h"
#include "base/kept.h"
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

/// Presents a range of a file as a source. Opens the file when its size is asked for, which a writer does in a step.
class FileRangeSource final : public ByteSource {
 public:
  FileRangeSource(base::Kept<const FileRange> range, base::Kept<std::string_view> entry)
      : range_(range), entry_(entry) {}
  [[nodiscard]] std::uint64_t size() const override {
    file_.emplace(base::MappedFile::open(range_.path));
    const std::uint64_t size = file_->bytes().size();
    const auto length = base::length_within(range_.offset, range_.length, size);
    if (!length) {
      throw Error(Code::io_source_size, base::range_fault(range_.offset, range_.length, "the file", size),
                  {std::string(entry_), std::nullopt}, range_.path);
    }
    return *length;
  }
  void read(const ByteSink& sink) const override { source().read(sink); }
  void locate(const std::function<void(const Location&)>& visit) const override { source().locate(visit); }

 private:
  [[nodiscard]] base::MappedSource source() const {
    const Bytes rest = base::section(file_->bytes(), range_.offset, file_->bytes().size() - range_.offset);
    return {rest.first(base::in_memory(range_.length.value_or(rest.size()))), file_->origin()};
  }

  const FileRange& range_;
  std::string_view entry_;
  mutable std::optional<base::MappedFile> file_;
};

/// Presents a caller's stream as a source.
class StreamSource final : public ByteSource {
 public:
  StreamSource(std::uint64_t size, base::Kept<const StreamReader> read) : size_(size), read_(read) {}
  [[nodiscard]] std::uint64_t size() const override {
    base::check_callable(read_, "the function that reads the entry");
    return size_;
  }
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

detail::EntryState::EntryState(zip::Writer opened, std::uint64_t alignment_of, std::filesystem::path path)
    : opened_writer(std::move(opened)), alignment(alignment_of), target(std::move(path)) {}

detail::EntryState::EntryState(os::File lock_of, std::unique_ptr<EditSteps> steps_of_edit, std::uint64_t alignment_of,
                               std::filesystem::path path)
    : lock(std::move(lock_of)), alignment(alignment_of), target(std::move(path)), edit(std::move(steps_of_edit)) {}

zip::Writer& detail::EntryState::writer() {
  if (!opened_writer) opened_writer.emplace(edit->open(lock));
  return *opened_writer;
}

void detail::EntryState::refuse_order() const {
  throw Error(Code::usage_argument,
              begun ? "this entry was begun but not ended; end it first" : "no entry was begun; begin one first",
              {begun.value_or(""), std::nullopt});
}

void detail::EntryState::prepare(std::string_view name) {
  if (name != model_entry_name) expect_graphs_last(name);
  if (edit) edit->prepare(name, [this]() -> zip::Writer& { return writer(); });
  if (!first_other_ && !is_model(name) && !is_key(name)) first_other_ = writer().added();
}

void detail::EntryState::check_model_size(std::uint64_t size) const {
  const std::uint64_t most = edit ? edit->max_model_size() : model_size_maximum;
  if (fits_protobuf(size) && size <= most) return;
  const std::string text = fits_protobuf(size) ? base::concat("the model alone is ", base::over_limit(size, most))
                                               : oversize_text("the model alone is", size);
  throw Error(Code::archive_model_too_large, text, {std::string(model_entry_name), std::nullopt}, target,
              {Hint::lower_threshold});
}

/// Enforces W13: an edit cannot replace or remove an entry that lies before a weight.
void detail::EntryState::expect_graphs_last(std::string_view name) {
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
void detail::EntryState::expect_weights_first() {
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
    const auto location = site.tensor.linked_location();
    const auto place = location ? places.find(*location) : places.end();
    if (place != places.end()) is_weight[place->second] = true;
  };
  for (std::size_t i = *first_other_; i < writer().added(); ++i) {
    if (!is_model(writer().added_name(i))) continue;
    const base::MappedFile model = writer().map_added(i);
    onnx::walk_tensors(model.bytes(), note);
  }
  std::optional<std::string_view> side_file;
  for (const std::string_view name : names) {
    const bool weighs = is_weight[places.at(name)];
    if (!side_file && !weighs && !is_key(name)) side_file = name;
    if (!side_file || !weighs) continue;
    throw Error(Code::usage_argument,
                base::concat("it comes before the weight ", base::quoted(name),
                             ", so no edit could replace or remove it; add side files after all weights"),
                {std::string(*side_file), std::nullopt});
  }
}

/// Reads the models back from the file, so that the proof covers the bytes that readers will find.
void detail::EntryState::prove_models(const Proofs& proofs) {
  const NamedSizes entries = proofs.written ? writer().sorted_sizes() : NamedSizes();
  for (std::size_t i = 0; i < writer().added(); ++i) {
    const std::string_view name = writer().added_name(i);
    if (!is_model(name)) continue;
    const base::MappedFile model = writer().map_added(i);
    if (proofs.written) prove_written(name, model.bytes(), entries);
    if (proofs.further) proofs.further(name, model.bytes());
  }
  if (proofs.written) expect_weights_first();
}

void detail::EntryState::finish(const ByteSource& model, base::Sync before_end, base::Sync sync, const Proofs& proofs) {
  step([&] {
    // Asks for the size once, so that the model that was checked is the model that is written.
    const base::ExactSource exact(model, "the model", {std::string(model_entry_name), std::nullopt});
    check_model_size(exact.size());
    prepare(model_entry_name);
    writer().add(model_entry_name, alignment, exact);
    if (proofs.written || proofs.further) prove_models(proofs);
    // Closing throws if there was a call meanwhile: then the file must not become valid.
    base::OutputFile file = std::move(writer()).finish(before_end, [this] { steps.close(); });
    file.publish(sync);
  });
}

detail::EntryState& EntryWriter::state() const { return parts_in(state_); }

void EntryWriter::reserve(std::uint64_t bytes) {
  state().step([&] { state_->writer().reserve(bytes); });
}

void EntryWriter::add(std::string_view name, const ByteSource& source) {
  state().step([&] {
    check_reserved(name, {std::string(name), std::nullopt});
    state_->prepare(name);
    state_->writer().add(name, state_->alignment, source);
  });
}

void EntryWriter::add(std::string_view name, Bytes bytes) { add(name, SpanSource(bytes)); }
void EntryWriter::add(std::string_view name, const FileRange& range) { add(name, FileRangeSource(range, name)); }
void EntryWriter::add(std::string_view name, std::uint64_t size, const StreamReader& read) {
  add(name, StreamSource(size, read));
}

void EntryWriter::add_graph(std::string_view name, Bytes model) { add_graph(name, SpanSource(model)); }
void EntryWriter::add_graph(std::string_view name, const ByteSource& model) {
  const std::string entry = graph_file_name(name);
  state().step([&] {
    check_reserved(entry, {entry, std::nullopt});
    if (!is_graph_name(entry)) {
      throw Error(Code::usage_argument, "a graph needs a name, also after its last slash",
                  {std::string(name), std::nullopt});
    }
    state_->prepare(entry);
    state_->writer().add(entry, state_->alignment, model);
  });
}

void EntryWriter::begin(std::string_view name, std::uint64_t size) {
  state().step([&] {
    check_reserved(name, {std::string(name), std::nullopt});
    state_->prepare(name);
    state_->writer().begin(name, state_->alignment, size);
    state_->begun = name;
  });
}

void EntryWriter::write(Bytes bytes) {
  state().step<true>([&] { state_->writer().write(bytes); });
}

void EntryWriter::end() {
  state().step<true>([&] {
    state_->writer().end();
    state_->begun.reset();
  });
}

}  // namespace onnxar
