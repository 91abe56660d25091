// Finds the model in a foreign zip, and inflates its entries within limits of their size.
#include "archive/foreign_zip.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/crc32.h"
#include "base/errors.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/wire.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "zip/format.h"
#include "zip/names.h"

namespace onnxar {
namespace {

using base::concat;

constexpr std::string_view tf2onnx_model_name = "__MODEL_PROTO.onnx";
constexpr std::string_view finder_folder = "__MACOSX/";

bool has_onnx_suffix(std::string_view name) {
  constexpr std::string_view suffix = ".onnx";
  return name.size() > suffix.size() && zip::equal_folded(name.substr(name.size() - suffix.size()), suffix);
}

/// Returns the top-level folder that contains all files; empty if the files have no common folder.
std::string common_folder(const zip::ForeignDirectory& directory) {
  std::optional<std::string_view> folder;
  for (const zip::ForeignEntry& entry : directory.entries()) {
    if (is_left_out(entry)) continue;
    const std::string_view here = entry.name.substr(0, entry.name.find('/') + 1);
    if (folder && *folder != here) return "";
    folder = here;
  }
  return std::string(folder.value_or(""));
}

[[noreturn]] void refuse_many(const zip::ForeignEntry& first, const zip::ForeignEntry& second) {
  throw Error(Code::archive_model_missing,  // F39
              concat("the zip contains two models, ", base::quoted(first.name), " and this one: remove one of them"),
              {std::string(second.name), second.central_offset});
}

[[noreturn]] void refuse_none(const zip::ForeignDirectory& directory) {
  throw Error(Code::archive_model_missing,  // F39
              concat("no ", model_entry_name, ", ", tf2onnx_model_name,
                     " or .onnx file is in the root of this zip file, or in its only folder: it holds no ONNX model"),
              {"", directory.offset()});
}

/// Returns the only `*.onnx` directly in `folder`, the common folder of all files. Throws archive.model.missing if
/// there is none, or if there are several.
std::size_t find_onnx_file(const zip::ForeignDirectory& directory, std::string_view folder) {
  const auto entries = directory.entries();
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_left_out(entries[i])) continue;
    const std::string_view rest = entries[i].name.substr(folder.size());
    if (rest.find('/') != std::string_view::npos || !has_onnx_suffix(rest)) continue;
    if (found) refuse_many(entries[*found], entries[i]);
    found = i;
  }
  if (!found) refuse_none(directory);
  return *found;
}

/// Returns the context of errors in the zip file.
auto in_zip(const UnpackedZip& zip) {
  return [&zip] { return base::Annotation{.path = zip.path(), .file = &zip.file()}; };
}

/// Hands out an entry and compares its CRC-32 at the end. Reads a stored entry from the mapping, and inflates a
/// deflated one.
class VerifiedSource final : public ByteSource {
 public:
  VerifiedSource(std::shared_ptr<const UnpackedZip> zip, std::size_t index, std::size_t threads)
      : zip_(std::move(zip)), entry_(zip_->entry(index)), threads_(threads) {}
  [[nodiscard]] std::uint64_t size() const override { return entry_.size; }
  void read(const ByteSink& sink) const override {
    if (entry_.deflated) return inflate(sink);
    const Bytes bytes = stored();
    const std::uint32_t crc = base::crc32_while(0, bytes, [&] { sink(bytes); }, threads_);
    base::annotated(in_zip(*zip_), [&] { zip::expect_crc(entry_, crc); });
  }
  void locate(const std::function<void(const Location&)>& visit) const override {
    if (!entry_.deflated) visit({stored(), true, zip_->file().origin()});
  }

 private:
  [[nodiscard]] Bytes stored() const { return base::section(zip_->file().bytes(), entry_.data_offset, entry_.size); }
  void inflate(const ByteSink& sink) const {
    try {
      zip::read_verified(zip_->file().bytes(), entry_, sink);
    } catch (const Error& error) {
      const bool is_of_entry = error.code() == Code::zip_data_inflate || error.code() == Code::zip_data_crc;
      if (!is_of_entry) throw;  // it comes from the sink, and has the sink's path
      throw base::annotate(error, in_zip(*zip_)());
    }
  }

  std::shared_ptr<const UnpackedZip> zip_;
  zip::ForeignEntry entry_;
  std::size_t threads_;
};

Bytes spooled(Spool& spool, Bytes file, const zip::ForeignEntry& entry) {
  return spool.bytes(entry.header_offset, [&](const ByteSink& sink) { zip::read_verified(file, entry, sink); });
}

/// Hands out a part of an entry, which is inflated to the spool at the first read.
class SpooledSource final : public ByteSource {
 public:
  SpooledSource(std::shared_ptr<const UnpackedZip> zip, std::shared_ptr<Spool> spool, std::size_t index, Bytes part)
      : zip_(std::move(zip)), spool_(std::move(spool)), entry_(zip_->entry(index)), part_(part) {}
  [[nodiscard]] std::uint64_t size() const override { return part_.size(); }
  void read(const ByteSink& sink) const override {
    base::annotated(in_zip(*zip_), [&] { static_cast<void>(spooled(*spool_, zip_->file().bytes(), entry_)); });
    sink(part_);
  }

 private:
  std::shared_ptr<const UnpackedZip> zip_;
  std::shared_ptr<Spool> spool_;
  zip::ForeignEntry entry_;
  Bytes part_;
};

}  // namespace

void ZipExpansion::add(const zip::ForeignEntry& entry) {
  if (budget_.add(entry.size)) return;
  // The sum does not wrap: sizes are at most a thousand times the stored ones, and entries do not overlap.
  refuse(budget_.made() + entry.size, {std::string(entry.name), entry.central_offset});
}

void ZipExpansion::check(std::uint64_t bytes) const {
  if (!budget_.allows(bytes)) refuse(bytes, {});
}

void ZipExpansion::refuse(std::uint64_t bytes, const Place& place) const {
  const std::uint64_t needed = (bytes - 1) / budget_.input() + 1;
  throw Error(Code::zip_limit_expansion,  // F35
              base::concat("a zip file of ", base::human_size(budget_.input()), " would expand to ",
                           base::human_size(bytes), " or more, and the limit is ", budget_.times(), " times the file"),
              place, {}, {Hint::max_expansion_of, std::to_string(needed)});
}

void Spool::make_file() {
  base::OutputFile file = base::OutputFile::create_nameless(folder_);
  // A sparse file of the whole capacity can be mapped once. Growing it would need new mappings and move the bytes.
  file.set_size(capacity_);
  mapping_.emplace(file.map());
  file_.emplace(std::move(file));
}

Bytes Spool::place_of(std::uint64_t header_offset, std::uint64_t size) {
  const std::scoped_lock lock(mutex_);
  if (!file_) make_file();
  const auto [place, added] = places_.try_emplace(header_offset, Place{end_, size, false});
  if (added) end_ = base::align_up(end_ + size, zip::alignment_minimum);
  return base::section(mapping_->bytes(), place->second.offset, size);
}

Bytes Spool::bytes(std::uint64_t header_offset, const Fill& fill) {
  const std::scoped_lock lock(mutex_);
  Place& place = places_.at(header_offset);
  if (!place.filled) {
    std::uint64_t offset = place.offset;
    // Written by system calls: if the disk is full, they fail, while a store to the mapping raises SIGBUS.
    fill([&](Bytes piece) {
      file_->write_at(offset, piece);
      offset += piece.size();
    });
  }
  place.filled = true;  // not reached if `fill` threw, so the next call fills again
  return base::section(mapping_->bytes(), place.offset, place.size);
}

std::string_view to_string(Dialect dialect) noexcept {
  switch (dialect) {
    case Dialect::archive: return "a zip with the entries of an archive";
    case Dialect::pytorch: return "a PyTorch export (ZIP_ARCHIVE)";
    case Dialect::tf2onnx: return "a tf2onnx export (--large_model)";
    case Dialect::files: return "a zip of a .onnx file and its data files";
  }
  return "a zip";
}

// Searches the pieces as they come, because the model may be deflated. Parsing would need the whole model in memory
// before the zip is even accepted.
bool may_have_stand_ins(const ByteSource& model) {
  std::string field;
  onnx::append_bytes_field(field, onnx::tensor_field::raw_data, stand_in);
  return has_text(model, field);
}

bool has_text(const ByteSource& source, std::string_view text) {
  constexpr std::size_t step = 64U << 10U;
  const std::boyer_moore_horspool_searcher wanted(text.begin(), text.end());
  std::string window;  // the next bytes, after the last ones that were searched: pieces may split the text
  bool found = false;
  source.read([&](Bytes piece) {
    while (!found && !piece.empty()) {
      const Bytes next = piece.first(std::min(piece.size(), step));
      window += as_text(next);
      found = std::search(window.begin(), window.end(), wanted) != window.end();
      window.erase(0, window.size() - std::min(window.size(), text.size() - 1));
      piece = piece.subspan(next.size());
    }
  });
  return found;
}

bool is_left_out(const zip::ForeignEntry& entry) noexcept {  // F8
  return entry.folder || entry.name.starts_with(finder_folder);
}

ForeignModel find_foreign_model(Bytes file, const zip::ForeignDirectory& directory, ZipExpansion& expansion) {
  std::string folder = common_folder(directory);
  const auto plain = directory.find(folder + std::string(model_entry_name));
  const auto suffixed = directory.find(folder + std::string(tf2onnx_model_name));
  const auto entries = directory.entries();
  if (plain && suffixed) refuse_many(entries[*plain], entries[*suffixed]);
  // The fixed names come first: an archive or an export may also contain `.onnx` files, which are not its model.
  const std::size_t index = suffixed ? *suffixed : plain ? *plain : find_onnx_file(directory, folder);
  expansion.add(entries[index]);
  Dialect dialect = suffixed ? Dialect::tf2onnx : Dialect::files;
  if (plain)
    dialect = may_have_stand_ins(*zip::data_source(file, entries[index])) ? Dialect::pytorch : Dialect::archive;
  return {index, dialect, std::move(folder)};
}

UnpackedZip::UnpackedZip(std::shared_ptr<const base::MappedFile> file, std::filesystem::path path,
                         std::filesystem::path folder, std::uint64_t max_expansion, const zip::Limits& limits)
    : path_(std::move(path)),
      folder_(std::move(folder)),
      file_(std::move(file)),
      directory_(base::annotated(in_zip(*this), [&] { return zip::ForeignDirectory::read(file_->bytes(), limits); })),
      expansion_(file_->bytes().size(), max_expansion),
      used_(directory_.entries().size()) {}

ForeignModel UnpackedZip::find_model() {
  ForeignModel model =
      base::annotated(in_zip(*this), [&] { return find_foreign_model(file_->bytes(), directory_, expansion_); });
  used_[model.index] = true;
  return model;
}

void UnpackedZip::use(std::size_t index) {
  if (used_[index]) return;  // an entry that several tensors share is counted once
  base::annotated(in_zip(*this), [&] { expansion_.add(entry(index)); });
  used_[index] = true;
}

/// Returns the capacity for all deflated entries: the sum of their stated sizes, but not more than the limit. Counts
/// entries in `__MACOSX/` too, because a model may name them.
std::uint64_t UnpackedZip::room_to_inflate() const {
  std::uint64_t stated = 0, deflated = 0;
  for (const zip::ForeignEntry& entry : directory_.entries()) {
    if (!entry.deflated) continue;
    stated += entry.size;  // at most a thousand times the stored size, and entries do not overlap: no sum wraps
    ++deflated;
  }
  return std::min(stated, expansion_.most()) + deflated * zip::alignment_minimum;
}

Bytes UnpackedZip::place_of(std::size_t index) {
  use(index);
  if (!entry(index).deflated) return stored(index);
  if (!spool_) spool_ = std::make_shared<Spool>(folder_, room_to_inflate());
  return spool_->place_of(entry(index).header_offset, entry(index).size);
}

Bytes UnpackedZip::bytes(std::size_t index) {
  const Bytes place = place_of(index);
  if (!entry(index).deflated) return place;
  return base::annotated(in_zip(*this), [&] { return spooled(*spool_, file_->bytes(), entry(index)); });
}

Bytes UnpackedZip::stored(std::size_t index) const {
  return base::section(file_->bytes(), entry(index).data_offset, entry(index).size);
}

void UnpackedZip::verify(std::size_t index) const {
  if (entry(index).deflated) return;  // verified when it was inflated
  base::annotated(in_zip(*this), [&] { zip::expect_crc(entry(index), base::crc32(0, stored(index))); });
}

std::unique_ptr<const ByteSource> UnpackedZip::source(std::shared_ptr<UnpackedZip> zip, std::size_t index,
                                                      std::size_t threads) {
  zip->use(index);
  return std::make_unique<VerifiedSource>(std::move(zip), index, threads);
}

std::unique_ptr<const ByteSource> UnpackedZip::inflated_source(std::shared_ptr<const UnpackedZip> zip,
                                                               std::size_t index, Bytes part) {
  std::shared_ptr<Spool> spool = zip->spool_;
  return std::make_unique<SpooledSource>(std::move(zip), std::move(spool), index, part);
}

}  // namespace onnxar
