#include "archive/entry_writer.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "archive/keys.h"
#include "base/callables.h"
#include "base/checked.h"
#include "base/exact_source.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "zip/names.h"

namespace onnxar {
namespace {

constexpr std::uint64_t model_maximum = (1ULL << 31U) - 1;  // protobuf parses no longer message

/// A caller's stream as a source.
class StreamSource final : public ByteSource {
 public:
  StreamSource(std::uint64_t size, const StreamReader& read) : size_(size), read_(read) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  /// What follows in the stream may be something else, so never more is asked for than is left.
  void read(const ByteSink& sink) const override {
    std::vector<std::byte> buffer(std::min<std::uint64_t>(size_, 1U << 20U));
    for (std::uint64_t left = size_; left != 0;) {
      const std::span<std::byte> room = std::span(buffer).first(std::min<std::uint64_t>(left, buffer.size()));
      const std::size_t count = read_(room);
      if (count == 0) return;
      if (count > room.size()) {
        throw Error(Code::usage_argument, base::concat("a StreamReader returned ", count, ", but was asked for ",
                                                       room.size(), " bytes at most"));
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

void check_alignment(std::uint64_t alignment) {
  if (zip::is_valid_alignment(alignment)) return;
  throw Error(Code::usage_argument,
              base::concat("alignment ", alignment, " is not possible; it must be a power of two from 64 to 32768"));
}

void refuse_dry_run(const OutputOptions& options) {
  if (!options.dry_run) return;
  throw Error(Code::usage_argument, "a writer has no dry run; archive_size says how large the file would be");
}

EntryWriter::EntryWriter(zip::Writer writer, std::uint64_t alignment, std::filesystem::path target)
    : writer_(std::move(writer)), alignment_(alignment), target_(std::move(target)) {
  check_alignment(alignment);
}

EntryWriter::EntryWriter(Open open, std::uint64_t alignment, std::filesystem::path target)
    : open_(std::move(open)), alignment_(alignment), target_(std::move(target)) {
  check_alignment(alignment);
}

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
    check_name(name);
    const auto file = base::MappedFile::open(range.path);
    const std::uint64_t size = file.bytes().size();
    const std::uint64_t length = range.length.value_or(range.offset <= size ? size - range.offset : 0);
    const auto part = base::slice(file.bytes(), range.offset, length);
    if (!part) {
      throw Error(Code::io_source_size,
                  base::concat("offset ", range.offset, " and length ", length, " leave the file of ", size, " bytes"),
                  {std::string(name), std::nullopt}, range.path);
    }
    write(name, SpanSource(*part));
  });
}

void EntryWriter::add(std::string_view name, std::uint64_t size, const StreamReader& read) {
  step("add", [&] {
    check_name(name);
    base::check_callable(read, "the StreamReader");
    write(name, StreamSource(size, read));
  });
}

void EntryWriter::add(std::string_view name, const ByteSource& source) {
  step("add", [&] {
    check_name(name);
    write(name, source);
  });
}

void EntryWriter::check_name(std::string_view name) const {
  if (is_reserved_name(name) || zip::equal_folded(name, model_entry_name)) {
    throw Error(Code::archive_name_reserved,
                "names that begin with two underscores and a capital are reserved, as is the model's in any case",
                {std::string(name), std::nullopt}, target_);
  }
}

void EntryWriter::write(std::string_view name, const ByteSource& source) {
  const base::ExactSource exact(source, "the data", {std::string(name), std::nullopt});
  writer().add(name, zip::entry_alignment(alignment_, exact.size()), exact);
}

void EntryWriter::check_model_size(std::uint64_t size) const {
  if (size <= model_maximum) return;
  throw Error(Code::archive_model_too_large,
              base::concat("the model alone is ", base::human_size(size),
                           ", and protobuf reads less than 2 GiB: move more tensors out of it"),
              {std::string(model_entry_name), std::nullopt}, target_);
}

std::optional<std::uint64_t> EntryWriter::size_of(const Entries& entries, std::string_view name) {
  const auto found = std::ranges::lower_bound(entries, name, {}, [](const auto& entry) { return entry.first; });
  if (found == entries.end() || found->first != name) return std::nullopt;
  return found->second;
}

/// What a reader will find in the file, however it came there.
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
    const base::ExactSource exact(model, "the model", {std::string(model_entry_name), std::nullopt});
    check_model_size(exact.size());
    write(model_entry_name, exact);
    if (prove) prove_written(prove);
    base::OutputFile file = std::move(writer()).finish(before_end);
    steps_.close();
    file.publish(sync);
  });
}

}  // namespace onnxar
