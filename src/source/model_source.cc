#include "source/model_source.h"

#include <utility>

#include "archive/access.h"
#include "archive/changed.h"
#include "archive/entry_source.h"
#include "archive/foreign_faults.h"
#include "base/annotate.h"
#include "base/checked.h"
#include "base/text.h"
#include "onnx/tensor_length.h"
#include "onnx/tensor_values.h"
#include "onnx/text_format.h"
#include "source/checksum.h"
#include "source/foreign_source.h"
#include "tensors/entry_uses.h"
#include "tensors/external_tensor.h"
#include "zip/end_records.h"

namespace onnxar {
namespace {

/// Whether it says where in the file it is. Inner errors count from the model's first byte and name nothing.
bool is_placed(const Error& error) { return !error.path().empty() || !error.entry().empty(); }

/// The last entry whose local header begins at `offset` or before; the first one is at 0.
std::size_t entry_at_or_before(const Archive& archive, std::uint64_t offset) {
  std::size_t first = 0;
  for (std::size_t count = archive.size(); count > 1;) {
    const std::size_t half = count / 2;
    if (archive.entry(first + half).header_offset <= offset) first += half;
    count -= half;
  }
  return first;
}

/// What a tensor refers to that has the archive's own file, in which the archive begins at `at`, for its location:
/// bytes of one of the first `count` entries.
std::pair<ArchiveEntry, Bytes> part_of_file(const Archive& archive, std::uint64_t at, std::size_t count,
                                            const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  const auto length = slice.length ? slice.length : site.tensor.expected_size();
  const std::uint64_t offset = slice.offset >= at ? slice.offset - at : 0;  // where no data is
  const std::size_t index = entry_at_or_before(archive, offset);
  if (length && index < count) {
    const ArchiveEntry entry = archive.entry(index);
    const Bytes whole = archive.bytes(entry);
    const auto begin = static_cast<std::uint64_t>(whole.data() - archive.file().data());
    const auto part = offset < begin ? std::nullopt : base::slice(whole, offset - begin, *length);
    if (part) return {entry, *part};
  }
  throw Error(Code::onnx_external_out_of_range,
              base::concat("it refers to bytes of the archive's own file, from ", slice.offset,
                           " on, that do not all lie in one entry of weights"),
              {"", site.tensor.range.begin});
}

[[noreturn]] void refuse_what_is_not_in(const Archive& target, const onnx::TensorSite& site,
                                        const std::string& location) {
  throw Error(Code::onnx_external_missing,
              base::concat("it refers to ", base::quoted(location), ", which is no entry of weights of ",
                           base::quoted(target.path().filename().string())),
              {"", site.tensor.range.begin}, {}, {Hint::data_beside});
}

/// PyTorch's folders hold the model under an archive's name for it.
std::optional<std::filesystem::path> model_in_folder(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path model = path / model_entry_name;
  if (std::filesystem::is_directory(path, failed) && std::filesystem::exists(model, failed)) return model;
  return std::nullopt;
}

/// A zip file with bytes before it and a comment after it neither begins nor ends as one.
bool is_zip_in_disguise(const std::filesystem::path& path) {
  const auto file = base::MappedFile::open(path);
  return !looks_like_zip(file.bytes()) && zip::has_end_record(file.bytes());
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
    // Of what edits write last, the archive's own fault also says whether there is a state to go back to.
    if (error.code() == fault.code() && id(fault.code()).starts_with("zip.end.")) throw fault;
    throw;
  }
}

}  // namespace

std::string describe(const onnx::TensorSite& site) {
  return base::concat("tensor ", base::quoted(site.tensor.name), " (", site.path(), ")");
}

std::string no_data(const onnx::TensorSite& site) {
  const auto size = site.tensor.expected_size();
  const std::string amount = size ? base::concat(*size, " bytes") : "elements";
  return base::concat(describe(site), ": it has no data, and ", onnx::required_amount(site.tensor.type, amount));
}

void check_payload(const onnx::TensorSite& site, std::uint64_t size) {
  const auto added = [&site] { return base::Annotation{.prefix = describe(site), .advice = {Hint::set_payload}}; };
  base::annotated(added, [&] {
    check_link(site.tensor);
    check_length(site.tensor, size);
  });
}

ModelSource ModelSource::open(const std::filesystem::path& path, const LoadOptions& options) {
  ModelSource source = open_alone(path, options);
  if (!source.archive_) source.files_.emplace(path, options.external_data_dir);
  return source;
}

ModelSource ModelSource::open_alone(const std::filesystem::path& path, const LoadOptions& options) {
  auto file = std::make_shared<const base::MappedFile>(base::MappedFile::open(path));
  if (looks_like_zip(file->bytes())) return of(Archive::open(path), options);
  return of_file_alone(std::move(file), path, options);
}

ModelSource ModelSource::of(std::shared_ptr<const base::MappedFile> file, const std::filesystem::path& path,
                            const LoadOptions& options) {
  ModelSource source = of_file_alone(std::move(file), path, options);
  source.files_.emplace(path, options.external_data_dir);
  return source;
}

ModelSource ModelSource::of_file_alone(std::shared_ptr<const base::MappedFile> file, const std::filesystem::path& path,
                                       const LoadOptions& options) {
  if (file->bytes().empty()) throw Error(Code::onnx_model_invalid, "the file is empty", {"", 0}, path);
  ModelSource source(options);
  source.path_ = path;
  try {
    const Bytes bytes = file->bytes();
    source.set_model(bytes, std::move(file));
  } catch (const Error& error) {
    throw error.with_path(path);
  }
  return source;
}

void ModelSource::set_model(Bytes bytes, std::shared_ptr<const void> owner) {
  model_ = bytes;
  owner_ = std::move(owner);
  from_text_ = onnx::looks_like_text(bytes);
  if (!from_text_) return;
  if (!options_.text_parser) {
    throw Error(Code::usage_no_text_parser, "this is a model in protobuf's text format, and nothing here reads it", {},
                {}, {Hint::text_parser});
  }
  auto parsed = std::make_shared<const std::vector<std::byte>>(options_.text_parser(bytes));
  model_ = *parsed;
  owner_ = std::move(parsed);
}

ModelSource ModelSource::open_for(const Archive& target, const std::filesystem::path& path, bool files,
                                  const LoadOptions& options) {
  ModelSource source = files ? open(path, options) : open_alone(path, options);
  source.target_ = &target;
  return source;
}

ModelSource ModelSource::of_bytes_for(const Archive& target, Bytes model, bool files, const LoadOptions& options) {
  ModelSource source(options);
  source.set_model(model, nullptr);
  source.target_ = &target;
  if (files && !options.external_data_dir.empty()) source.files_.emplace("", options.external_data_dir);
  return source;
}

ModelSource ModelSource::of(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options) {
  if (looks_like_zip(bytes)) return of(Archive::open(bytes, std::move(owner)), options);
  if (bytes.empty()) throw Error(Code::onnx_model_invalid, "the model is empty", {"", 0});
  ModelSource source(options);
  source.set_model(bytes, std::move(owner));
  if (!options.external_data_dir.empty()) source.files_.emplace("", options.external_data_dir);
  return source;
}

ModelSource ModelSource::of(Archive archive, const LoadOptions& options) {
  ModelSource source(options);
  source.path_ = archive.path();
  source.select(archive, archive.entry(archive.size() - 1));
  source.archive_.emplace(std::move(archive));
  return source;
}

void ModelSource::select(const Archive& archive, const ArchiveEntry& entry) {
  selected_ = entry.name;
  model_ = archive.bytes(entry);
  model_offset_ = static_cast<std::uint64_t>(model_.data() - archive.file().data());
  owner_ = archive.owner();
  if (options_.verify_data) verify_model(archive, entry);
}

std::vector<std::string> ModelSource::graphs() const {
  if (foreign_) return foreign_->graphs();
  std::vector<std::string> names;
  if (!archive_) return names;
  for (const ArchiveEntry& entry : graph_entries(*archive_)) names.emplace_back(entry.name);
  return names;
}

void ModelSource::select_graph(const std::string& name) {
  if (archive_) return select(*archive_, *archive_->find(name));
  foreign_->select_graph(name);
  model_ = foreign_->model();
}

void ModelSource::select_model() {
  if (archive_) return select(*archive_, archive_->entry(archive_->size() - 1));
  if (foreign_) foreign_->select_model();
  if (foreign_) model_ = foreign_->model();
}

/// A model that an edit appended may be cut off and another one put there: so it is copied, and the copy is verified.
void ModelSource::verify_model(const Archive& archive, const ArchiveEntry& entry) {
  if (entry.index < ArchiveAccess::directory(archive).first_appended()) return archive.verify(entry);
  const auto copy = std::make_shared<const ByteSpan>(gathered(EntrySource(archive, entry)));
  model_ = copy->bytes();
  owner_ = copy;
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
  if (is_zip_in_disguise(path)) return {ForeignSource::open_zip(path, options), options};
  try {
    ModelSource source = open(path, options);
    // Otherwise a local header that no archive has would only be seen at its first use.
    if (source.archive_) prove_local_headers(*source.archive_);
    return source;
  } catch (const Error& error) {
    if (may_be_foreign_zip(error.code())) {
      return {open_foreign_zip(path, options, error), options};
    }
    throw;
  }
}

std::uint64_t ModelSource::input_size() const {
  if (archive_) return archive_->file().size();
  if (foreign_) return foreign_->input_size();
  return model_.size() + (files_ ? files_->size() : 0) + (target_ == nullptr ? 0 : target_->file().size());
}

Error ModelSource::located(const Error& error) const {
  if (is_placed(error)) return error;
  if (foreign_) return base::annotate(error, {.place = foreign_->place(error.offset()), .path = path_});
  if (from_text_) return base::annotate(error, {.place = Place{}, .path = path_});  // its bytes are not the file's
  const Error placed =
      base::annotate(error, {.entry = archive_ ? selected_ : "", .base = model_offset_, .path = path_});
  // A copy was verified: what is wrong with that is wrong with the model.
  const bool from_mapping = archive_ && base::lies_in(model_, archive_->file());
  return from_mapping ? told_apart_in_model(placed, *archive_) : placed;
}

Place ModelSource::place_of(const onnx::TensorSite& site) const {
  if (foreign_) return foreign_->place(site.tensor.range.begin);
  if (from_text_) return {};
  return {archive_ ? selected_ : "", model_offset_ + site.tensor.range.begin};
}

template <typename Action>
auto ModelSource::naming(const onnx::TensorSite& site, const Action& action) const {
  try {
    return action();
  } catch (const Error& error) {
    if (is_placed(error)) throw;
    throw located(base::annotate(error, {.prefix = describe(site)}));
  }
}

Payload ModelSource::external_payload(const onnx::TensorSite& site) {
  Payload payload = naming(site, [&] { return resolve(site, proved_link(site.tensor)); });
  if (options_.verify_data) hold_against_checksum(payload, site);
  return payload;
}

std::optional<ModelSource::Claim> ModelSource::claim_of(const Payload& payload, const onnx::TensorSite& site) const {
  if (!site.tensor.external.checksum || !is_whole(payload)) return std::nullopt;
  auto checksum = parse_checksum(*site.tensor.external.checksum);
  if (!checksum) return std::nullopt;
  std::string message = base::concat(describe(site), ": the bytes of ", base::quoted(*site.tensor.external.location),
                                     " have another SHA-1 than the ", *checksum,
                                     " that the model gives: they were changed, or belong to another model");
  return Claim{std::move(*checksum),
               {Severity::error, Code::onnx_external_checksum, place_of(site), std::move(message)}};  // M22
}

void ModelSource::hold_against_checksum(Payload& payload, const onnx::TensorSite& site) {
  auto claim = claim_of(payload, site);
  if (!claim) return;
  const auto [first, added] = claimed_.try_emplace(payload.span.bytes().data(), claim->checksum);
  if (first->second != claim->checksum) throw claim->error(path_);
  payload.source = std::make_shared<ChecksumSource>(std::move(payload.source), std::move(claim->checksum),
                                                    std::move(claim->mismatch), path_);
}

bool ModelSource::is_whole(const Payload& payload) const {
  if (foreign_) return false;  // its bytes have been held against the zip's own CRC-32
  if (!payload.entry) return files_ && files_->is_whole_file(payload.span.bytes());
  const bool in_linked = linked_ && base::lies_in(payload.span.bytes(), linked_->file());
  const Archive& archive = archive_ ? *archive_ : in_linked ? *linked_ : *target_;
  return payload.size() == archive.entry(*payload.entry).size;
}

void ModelSource::prove_type(const onnx::TensorSite& site) const {
  naming(site, [&] { onnx::prove_type(site.tensor); });
}

void ModelSource::prove_link(const onnx::TensorSite& site) const {
  naming(site, [&] { static_cast<void>(proved_link(site.tensor)); });
}

Payload ModelSource::resolve(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  if (archive_) return resolve_in_archive(site, slice);
  if (foreign_) return foreign_->resolve(site.tensor, slice);
  if (target_ != nullptr) {
    if (auto payload = resolve_in_target(site, slice)) return std::move(*payload);
    if (!files_) refuse_what_is_not_in(*target_, site, slice.location);
  }
  if (!files_) {
    throw Error(
        Code::onnx_external_missing,
        base::concat("its data is in the file ", base::quoted(slice.location), ", but a model in memory has no folder"),
        {"", site.tensor.range.begin}, {}, {Hint::data_folder_of_bytes});
  }
  if (linked_archive(slice.location, site.tensor.range.begin) != nullptr) return resolve_in_linked(site, slice);
  ByteSpan span = files_->resolve(slice, site.tensor.expected_size(), site.tensor.range.begin);
  const Bytes bytes = span.bytes();
  return {std::make_shared<SpanSource>(bytes), std::move(span), std::nullopt};
}

Payload ModelSource::resolve_in_archive(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  const auto [entry, part] = part_named(*archive_, site.tensor, slice);
  return payload_in(*archive_, entry, part);
}

std::optional<Payload> ModelSource::resolve_in_target(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  const auto borrowed = [this](const ArchiveEntry& entry, Bytes part) {
    return Payload{std::make_shared<SpanSource>(part), ByteSpan::borrow(part, target_->owner()), entry.index};
  };
  // What names an archive's file is never an entry, though one may have that name: their bytes are others.
  const auto entry = is_link_to(slice.location) ? std::nullopt : target_->find(slice.location);
  // The old model is an entry, too, but will not be one any more.
  if (entry && entry->name != model_entry_name) {
    Payload payload = borrowed(*entry, part_of(*target_, *entry, site.tensor, slice));
    const auto& checksum = site.tensor.external.checksum;
    if (checksum && payload.size() == entry->size) payload.checksum = parse_checksum(*checksum).value_or("");
    return payload;
  }
  if (!is_target_file(slice.location)) return std::nullopt;
  if (const LinkMarker* of_file = marker_of(slice.location)) prove_target_state(*of_file);
  const auto [in, part] = part_of_file(*target_, 0, target_->size() - 1, site, slice);
  return borrowed(in, part);
}

bool ModelSource::is_link_to(const std::string& archive) {
  if (!link_to_) link_to_ = LinkMarker::archives(model_);
  return link_to_->contains(archive);
}

bool ModelSource::is_target_file(const std::string& location) {
  if (location == target_->path().filename()) return true;
  if (real_target_name_.empty()) real_target_name_ = base::real_path(target_->path()).filename().string();
  return location == real_target_name_;
}

const LinkMarker* ModelSource::marker_of(const std::string& archive) {
  if (broken_link_) throw Error(*broken_link_);
  try {
    if (!marker_) marker_ = LinkMarker::read(model_);
  } catch (const Error& error) {
    broken_link_ = located(error);
    throw Error(*broken_link_);
  }
  return *marker_ && (*marker_)->archive == archive ? &**marker_ : nullptr;
}

Archive ModelSource::open_linked(const LinkMarker& marker, Bytes file, std::shared_ptr<const void> owner,
                                 const std::filesystem::path& path) {
  try {
    return marker.open(file, std::move(owner), path);
  } catch (const Error& error) {
    broken_link_ = located(error);
    throw Error(*broken_link_);
  }
}

void ModelSource::prove_target_state(const LinkMarker& marker) {
  if (!target_proved_) open_linked(marker, target_->file(), nullptr, target_->path());
  target_proved_ = true;
}

const Archive* ModelSource::linked_archive(const std::string& location, std::uint64_t offset_of_tensor) {
  const LinkMarker* marker = files_ ? marker_of(location) : nullptr;
  if (marker == nullptr) return nullptr;
  if (!linked_) {
    const ExternalFiles::Mapping file = files_->map(location, offset_of_tensor);
    linked_ = std::make_shared<const Archive>(open_linked(*marker, file->bytes(), file, files_->folder() / location));
  }
  return linked_.get();
}

Payload ModelSource::resolve_in_linked(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  const auto [entry, part] = part_of_file(*linked_, (*marker_)->offset, linked_->size(), site, slice);
  return payload_in(*linked_, entry, part);
}

Payload ModelSource::payload_in(const Archive& archive, const ArchiveEntry& entry, Bytes part) {
  auto source = part.size() == entry.size ? entry_source(archive, entry)
                : !options_.verify_data   ? std::make_shared<const SpanSource>(part)
                                          : sliced_.source(archive, entry, part);
  return {std::move(source), ByteSpan::borrow(part, archive.owner()), entry.index};
}

std::shared_ptr<const ByteSource> ModelSource::entry_source(const Archive& archive, const ArchiveEntry& entry) const {
  if (options_.verify_data) return std::make_shared<EntrySource>(archive, entry, options_.threads);
  return std::make_shared<SpanSource>(archive.bytes(entry));
}

}  // namespace onnxar
