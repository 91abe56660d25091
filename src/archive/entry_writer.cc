#include "archive/entry_writer.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/keys.h"
#include "base/checked.h"
#include "base/errors.h"
#include "base/exact_source.h"
#include "base/mapped_file.h"
#include "base/ranges.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"

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
        throw Error(Code::usage_argument, base::concat("a StreamReader returned ", count, ", but was asked for ",
                                                       room.size(), " bytes or less"));
      }
      sink(Bytes(buffer).first(count));
      left -= count;
    }
  }

 private:
  std::uint64_t size_;
  const StreamReader& read_;
};

}  // namespace

void refuse_dry_run(const OutputOptions& options) {
  if (!options.dry_run) return;
  throw Error(Code::usage_argument, "a writer does not support dry_run; archive_size computes the size of the file");
}

EntryWriter::EntryWriter(zip::Writer writer, std::uint64_t alignment, std::filesystem::path target)
    : writer_(std::move(writer)), alignment_(alignment), target_(std::move(target)) {}

EntryWriter::EntryWriter(Open open, std::uint64_t alignment, std::filesystem::path target)
    : open_(std::move(open)), alignment_(alignment), target_(std::move(target)) {}

zip::Writer& EntryWriter::writer() {
  if (!writer_) writer_.emplace(open_());
  return *writer_;
}

template <typename Action>
decltype(auto) EntryWriter::step(std::string_view name, const Action& action) {
  try {
    return steps_.take(name, action);
  } catch (const Error& error) {
    throw error.with_path(target_);
  }
}

void EntryWriter::reserve(std::uint64_t size) {
  step("reserve", [&] { writer().reserve(size); });
}

void EntryWriter::attempt(std::string_view step_name, const std::function<void()>& action) { step(step_name, action); }

void EntryWriter::add(std::string_view name, const FileRange& range) {
  step("add", [&] {
    check_reserved(name, {std::string(name), std::nullopt});
    const auto file = base::MappedFile::open(range.path);
    const std::uint64_t size = file.bytes().size();
    const auto length = base::length_within(range.offset, range.length, size);
    if (!length) {
      throw Error(Code::io_source_size, base::range_fault(range.offset, range.length, "the file", size),
                  {std::string(name), std::nullopt}, range.path);
    }
    write(name, base::MappedSource(base::section(file.bytes(), range.offset, *length), file.origin()));
  });
}

void EntryWriter::add(std::string_view name, std::uint64_t size, const StreamReader& read) {
  step("add", [&] {
    check_reserved(name, {std::string(name), std::nullopt});
    base::check_callable(read, "the StreamReader");
    write(name, StreamSource(size, read));
  });
}

void EntryWriter::add(std::string_view name, const ByteSource& source) {
  step("add", [&] {
    check_reserved(name, {std::string(name), std::nullopt});
    write(name, source);
  });
}

void EntryWriter::write(std::string_view name, const ByteSource& source) {
  // Asks for the size once: a source that answers differently later could break the alignment.
  const base::ExactSource exact(source, "the data", {std::string(name), std::nullopt});
  writer().add(name, zip::entry_alignment(alignment_, exact.size()), exact);
}

void EntryWriter::check_model_size(std::uint64_t size) const {
  if (fits_protobuf(size)) return;
  throw Error(Code::archive_model_too_large, oversize_text("the model alone is", size),
              {std::string(model_entry_name), std::nullopt}, target_, {Hint::lower_threshold});
}

std::optional<std::uint64_t> EntryWriter::size_of(const Entries& entries, std::string_view name) {
  const auto found = std::ranges::equal_range(entries, name, {}, [](const auto& entry) { return entry.first; });
  if (found.empty()) return std::nullopt;
  return found.front().second;
}

/// Reads the models back from the file, so that the proof covers the bytes that readers will find.
void EntryWriter::prove_written(const ProveModel& prove) {
  const Entries entries = writer().sorted_sizes();
  for (std::size_t i = 0; i < writer().added(); ++i) {
    const std::string_view name = writer().added_name(i);
    if (name != model_entry_name && !is_graph_name(name)) continue;
    const base::MappedFile model = writer().map_added(i);
    prove(name, model.bytes(), entries);
  }
}

void EntryWriter::finish(std::string_view step_name, const ByteSource& model, base::Sync before_end, base::Sync sync,
                         const ProveModel& prove) {
  step(step_name, [&] {
    // Asks for the size once, so that the model that was checked is the model that is written.
    const base::ExactSource exact(model, "the model", {std::string(model_entry_name), std::nullopt});
    check_model_size(exact.size());
    write(model_entry_name, exact);
    if (prove) prove_written(prove);
    base::OutputFile file = std::move(writer()).finish(before_end);
    steps_.close();  // throws if another thread called meanwhile: the file must not be published then
    file.publish(sync);
  });
}

}  // namespace onnxar
