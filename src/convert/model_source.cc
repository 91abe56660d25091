#include "convert/model_source.h"

#include <utility>

#include "archive/entry_source.h"
#include "archive/plain_zip.h"
#include "base/checked.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "convert/foreign_source.h"

namespace onnxar {
namespace {

void check_link(const onnx::TensorView& tensor) {
  const Place place{"", tensor.range.begin};
  if (tensor.type == DataType::string) {
    throw Error(Code::onnx_external_string, "strings cannot be external data", place);
  }
  if (tensor.raw_data || tensor.typed_data) {
    throw Error(Code::onnx_external_data_beside, "the tensor's data is external, but the model holds data for it, too",
                place);
  }
}

/// A length that contradicts the shape is seen before anything is looked up.
void check_length(const onnx::TensorView& tensor, std::uint64_t length) {
  const auto expected = tensor.expected_size();
  if (!expected || *expected == length) return;
  throw Error(Code::onnx_tensor_length,
              base::concat("the external data is ", length, " bytes long, but type ", to_string(tensor.type),
                           " and the dimensions call for ", *expected),
              {"", tensor.range.begin});
}

/// PyTorch's folders hold the model under an archive's name for it.
std::optional<std::filesystem::path> model_in_folder(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path model = path / model_entry_name;
  if (std::filesystem::is_directory(path, failed) && std::filesystem::exists(model, failed)) return model;
  return std::nullopt;
}

void prove_local_headers(const Archive& archive) {
  for (std::size_t i = 0; i < archive.size(); ++i) static_cast<void>(archive.locate(archive.entry(i)));
}

/// `fault` is what is wrong with the file as an archive.
std::shared_ptr<ForeignSource> open_foreign_zip(const std::filesystem::path& path, const LoadOptions& options,
                                                const Error& fault) {
  try {
    return ForeignSource::open_zip(path, options);
  } catch (const Error& error) {
    // No model under any name: then this is all there is to say.
    const bool none = error.code() == Code::archive_model_missing && error.entry().empty();
    if (none && fault.code() == Code::archive_model_missing) throw fault;
    throw;
  }
}

}  // namespace

std::string describe(const onnx::TensorSite& site) {
  return base::concat("tensor ", base::quoted(site.tensor.name), " (", site.path(), ")");
}

ModelSource ModelSource::open(const std::filesystem::path& path, const LoadOptions& options) {
  auto mapping = std::make_shared<const base::MappedFile>(base::MappedFile::open(path));
  const Bytes file = mapping->bytes();
  if (looks_like_zip(file)) return of(Archive::open(path), options);
  if (file.empty()) throw Error(Code::onnx_model_invalid, "the file is empty", {"", 0}, path);
  ModelSource source(options);
  source.path_ = path;
  source.model_ = file;
  source.owner_ = std::move(mapping);
  source.files_.emplace(path, options.external_data_dir);
  return source;
}

ModelSource ModelSource::of(Archive archive, const LoadOptions& options) {
  ModelSource source(options);
  source.path_ = archive.path();
  const ArchiveEntry entry = archive.entry(archive.size() - 1);
  if (options.verify_data) archive.verify(entry);
  source.model_ = archive.model();
  source.model_offset_ = archive.locate(entry).offset;
  source.owner_ = archive.owner();
  source.archive_.emplace(std::move(archive));
  return source;
}

ModelSource::ModelSource(std::shared_ptr<ForeignSource> foreign, const LoadOptions& options)
    : options_(options),
      path_(foreign->path()),
      model_(foreign->model()),
      owner_(foreign),
      foreign_(std::move(foreign)) {}

ModelSource ModelSource::open_any(const std::filesystem::path& path, const LoadOptions& options) {
  if (!options.foreign_zips) return open(path, options);
  if (const auto model = model_in_folder(path)) return {ForeignSource::open_folder(*model, options), options};
  try {
    ModelSource source = open(path, options);
    // Otherwise a local header that no archive has would only be seen at its first use.
    if (source.archive_) prove_local_headers(*source.archive_);
    return source;
  } catch (const Error& error) {
    if (is_plain_zip_fault(error.code()) || error.code() == Code::archive_model_missing) {
      return {open_foreign_zip(path, options, error), options};
    }
    throw;
  }
}

Error ModelSource::located(const Error& error) const {
  if (!error.path().empty()) return error;  // it names another file, or its place already
  if (foreign_) return {error.code(), error.message(), foreign_->place(error.offset()), path_};
  Place place{archive_ ? std::string(model_entry_name) : "", error.offset()};
  if (place.offset) *place.offset += model_offset_;
  return {error.code(), error.message(), place, path_};
}

Place ModelSource::place_of(const onnx::TensorSite& site) const {
  if (foreign_) return foreign_->place(site.tensor.range.begin);
  return {archive_ ? std::string(model_entry_name) : "", model_offset_ + site.tensor.range.begin};
}

Payload ModelSource::external_payload(const onnx::TensorSite& site) {
  try {
    check_link(site.tensor);
    const onnx::ExternalSlice slice = onnx::parse_external_data(site.tensor.external, site.tensor.range.begin);
    if (slice.length) check_length(site.tensor, *slice.length);
    return resolve(site, slice);
  } catch (const Error& error) {
    if (!error.path().empty()) throw;
    throw located(Error(error.code(), base::concat(describe(site), ": ", error.message()), error.finding().place));
  }
}

Payload ModelSource::resolve(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  if (archive_) return resolve_in_archive(site, slice);
  if (foreign_) return foreign_->resolve(site.tensor, slice);
  ByteSpan span = files_->resolve(slice, site.tensor.expected_size(), site.tensor.range.begin);
  const Bytes bytes = span.bytes();
  return {std::make_shared<SpanSource>(bytes), std::move(span), std::nullopt};
}

Payload ModelSource::resolve_in_archive(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  const Place place{"", site.tensor.range.begin};
  const auto entry = archive_->find(slice.location);
  if (!entry) {
    throw Error(Code::onnx_external_missing,
                base::concat("it refers to ", base::quoted(slice.location), ", which is no entry of the archive"),
                place);
  }
  const Bytes whole = archive_->bytes(*entry);
  const std::uint64_t rest = slice.offset <= whole.size() ? whole.size() - slice.offset : 0;
  const std::uint64_t length = slice.length.value_or(site.tensor.expected_size().value_or(rest));
  const auto part = base::slice(whole, slice.offset, length);
  if (!part) {
    throw Error(Code::onnx_external_out_of_range,
                base::concat("offset ", slice.offset, " and length ", length, " leave the entry ",
                             base::quoted(slice.location), " of ", whole.size(), " bytes"),
                place);
  }
  ByteSpan span = ByteSpan::borrow(*part, archive_->owner());
  if (part->size() == whole.size()) return {entry_source(*entry), std::move(span), entry->index};
  if (options_.verify_data && verified_.insert(entry->index).second) archive_->verify(*entry);
  return {std::make_shared<SpanSource>(*part), std::move(span), entry->index};
}

std::shared_ptr<const ByteSource> ModelSource::entry_source(const ArchiveEntry& entry) const {
  if (options_.verify_data) return std::make_shared<EntrySource>(*archive_, entry);
  return std::make_shared<SpanSource>(archive_->bytes(entry));
}

}  // namespace onnxar
