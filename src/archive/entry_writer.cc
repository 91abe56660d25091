#include "archive/entry_writer.h"

#include <utility>
#include <vector>

#include "archive/keys.h"
#include "base/checked.h"
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

void check_alignment(std::uint64_t alignment) {
  if (zip::is_valid_alignment(alignment)) return;
  throw Error(Code::usage_argument,
              base::concat("alignment ", alignment, " is not possible; it must be a power of two from 64 to 32768"));
}

EntryWriter::EntryWriter(zip::Writer writer, std::uint64_t alignment, std::filesystem::path target)
    : writer_(std::move(writer)), alignment_(alignment), target_(std::move(target)) {
  check_alignment(alignment);
}

void EntryWriter::add(std::string_view name, const FileRange& range) {
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

void EntryWriter::add(std::string_view name, std::uint64_t size, const StreamReader& read) {
  add(name, StreamSource(size, read));
}

void EntryWriter::add(std::string_view name, const ByteSource& source) {
  if (is_reserved_name(name) || zip::equal_folded(name, model_entry_name)) {
    throw Error(Code::archive_name_reserved,
                "names that begin with two underscores and a capital are reserved, as is the model's in any case",
                {std::string(name), std::nullopt}, target_);
  }
  write(name, source);
}

void EntryWriter::write(std::string_view name, const ByteSource& source) {
  try {
    writer_.add(name, zip::entry_alignment(alignment_, source.size()), source);
  } catch (const Error& error) {
    throw error.with_path(target_);
  }
}

void EntryWriter::check_model_size(std::uint64_t size) const {
  if (size <= model_maximum) return;
  throw Error(Code::archive_model_too_large,
              base::concat("the model alone is ", base::human_size(size),
                           ", and protobuf reads less than 2 GiB: move more tensors out of it"),
              {std::string(model_entry_name), std::nullopt}, target_);
}

base::OutputFile EntryWriter::finish(const ByteSource& model, base::Sync before_end) {
  check_model_size(model.size());
  write(model_entry_name, model);
  try {
    return std::move(writer_).finish(before_end);
  } catch (const Error& error) {
    throw error.with_path(target_);
  }
}

}  // namespace onnxar
