// Inflates the entries of a foreign zip within limits of their size, and verifies their bytes.
#include "archive/unpacked_zip.h"

#include <algorithm>
#include <utility>

#include "base/annotated.h"
#include "base/byte_range.h"
#include "base/crc32.h"
#include "base/kept.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

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
  SpooledSource(std::shared_ptr<const UnpackedZip> zip, std::shared_ptr<Spool> spool, std::size_t index,
                base::Kept<Bytes> part)
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
