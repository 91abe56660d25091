#include "onnxar/archive_writer.h"

#include <utility>
#include <vector>

#include "archive/keys.h"
#include "base/checked.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "zip/names.h"
#include "zip/writer.h"

namespace onnxar {

struct ArchiveWriter::Parts {
  zip::Writer writer;
  WriterOptions options;
  std::filesystem::path target;
};

namespace {

constexpr std::uint64_t model_maximum = (1ULL << 31U) - 1;  // protobuf parses no longer message

void check_alignment(std::uint64_t alignment) {
  if (zip::is_valid_alignment(alignment)) return;
  throw Error(Code::usage_argument,
              base::concat("alignment ", alignment, " is not possible; it must be a power of two from 64 to 32768"));
}

/// A caller's stream as a source.
class StreamSource final : public ByteSource {
 public:
  StreamSource(std::uint64_t size, const StreamReader& read) : size_(size), read_(read) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(const ByteSink& sink) const override {
    std::vector<std::byte> buffer(1U << 20U);
    while (const std::size_t count = read_(buffer)) {
      if (count > buffer.size())
        throw Error(Code::usage_argument, "a StreamReader returned more than it was asked for");
      sink(Bytes(buffer).first(count));
    }
  }

 private:
  std::uint64_t size_;
  const StreamReader& read_;
};

}  // namespace

ArchiveWriter::ArchiveWriter(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
ArchiveWriter::ArchiveWriter(ArchiveWriter&& other) noexcept = default;
ArchiveWriter& ArchiveWriter::operator=(ArchiveWriter&& other) noexcept = default;
ArchiveWriter::~ArchiveWriter() = default;

ArchiveWriter ArchiveWriter::create(const std::filesystem::path& target, const WriterOptions& options) {
  check_alignment(options.alignment);
  auto file = base::OutputFile::create(target, options.replace ? base::Existing::replace : base::Existing::refuse);
  return ArchiveWriter(std::make_unique<Parts>(Parts{zip::Writer({std::move(file), options.sync}), options, target}));
}

void ArchiveWriter::reserve(std::uint64_t bytes) { parts_->writer.reserve(bytes); }

void ArchiveWriter::add(std::string_view name, Bytes bytes) { add(name, SpanSource(bytes)); }

void ArchiveWriter::add(std::string_view name, const FileRange& range) {
  const auto file = base::MappedFile::open(range.path);
  const auto part = base::slice(file.bytes(), range.offset, range.length);
  if (!part) {
    throw Error(Code::io_source_size,
                base::concat("offset ", range.offset, " and length ", range.length, " leave the file of ",
                             file.bytes().size(), " bytes"),
                {std::string(name), std::nullopt}, range.path);
  }
  add(name, SpanSource(*part));
}

void ArchiveWriter::add(std::string_view name, std::uint64_t size, const StreamReader& read) {
  add(name, StreamSource(size, read));
}

void ArchiveWriter::add(std::string_view name, const ByteSource& source) {
  if (is_reserved_name(name) || zip::equal_folded(name, model_entry_name)) {
    throw Error(Code::archive_name_reserved,
                "names that begin with two underscores and a capital are reserved, as is the model's in any case",
                {std::string(name), std::nullopt}, parts_->target);
  }
  try {
    parts_->writer.add(name, zip::entry_alignment(parts_->options.alignment, source.size()), source);
  } catch (const Error& error) {
    throw error.with_path(parts_->target);
  }
}

void ArchiveWriter::finish(Bytes model) { finish(SpanSource(model)); }

void ArchiveWriter::finish(const ByteSource& model) {
  if (model.size() > model_maximum) {
    throw Error(Code::archive_model_too_large,
                base::concat("the model alone is ", base::human_size(model.size()),
                             ", and protobuf reads less than 2 GiB: move more tensors out of it"),
                {std::string(model_entry_name), std::nullopt}, parts_->target);
  }
  try {
    parts_->writer.add(model_entry_name, zip::entry_alignment(parts_->options.alignment, model.size()), model);
  } catch (const Error& error) {
    throw error.with_path(parts_->target);
  }
  base::OutputFile file = std::move(parts_->writer).finish();
  file.publish(parts_->options.sync ? base::Sync::full : base::Sync::none);
}

std::uint64_t archive_size(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                           std::uint64_t model_size, std::uint64_t alignment) {
  check_alignment(alignment);
  std::uint64_t position = 0;
  std::uint64_t directory = 0;
  const auto add = [&](std::string_view name, std::uint64_t size) {
    const zip::Placement placement = zip::place(position, name.size(), size, zip::entry_alignment(alignment, size));
    position = placement.end();
    directory += zip::central_header_size(name.size(), placement);
  };
  for (const auto& [name, size] : names_and_sizes) add(name, size);
  add(model_entry_name, model_size);
  return position + directory + zip::end_records_size(names_and_sizes.size() + 1, directory, position);
}

}  // namespace onnxar
