#include "archive/unpacked_zip.h"

#include <algorithm>
#include <utility>

#include "archive/changed.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "onnxar/error.h"
#include "zip/format.h"

namespace onnxar {
namespace {

/// Runs `action`, and adds the path to its errors. An error of the format becomes io.changed if the file was changed.
template <typename Action>
auto errors_with_change(const std::filesystem::path& path, const base::MappedFile& file, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw with_change(error.with_path(path), file, path);
  }
}

/// Hands out a stored entry from the mapping, and compares its CRC-32 at the end.
class StoredSource final : public ByteSource {
 public:
  StoredSource(const base::MappedFile& file, const zip::ForeignEntry& entry, const std::filesystem::path& path,
               std::size_t threads)
      : file_(file), entry_(entry), path_(path), threads_(threads) {}
  [[nodiscard]] std::uint64_t size() const override { return entry_.size; }
  void read(const ByteSink& sink) const override {
    const Bytes bytes = stored();
    const std::uint32_t crc = base::crc32_while(0, bytes, [&] { sink(bytes); }, threads_);
    errors_with_change(path_, file_, [&] { zip::expect_crc(entry_, crc); });
  }

  void locate(const std::function<void(const Location&)>& visit) const override {
    visit({stored(), true, file_.origin()});
  }

 private:
  [[nodiscard]] Bytes stored() const { return base::section(file_.bytes(), entry_.data_offset, entry_.size); }

  const base::MappedFile& file_;
  const zip::ForeignEntry& entry_;
  const std::filesystem::path& path_;
  std::size_t threads_;
};

/// Inflates a deflated entry directly to the sink, and compares its CRC-32 at the end.
class InflatingSource final : public ByteSource {
 public:
  InflatingSource(const base::MappedFile& file, const zip::ForeignEntry& entry, const std::filesystem::path& path)
      : file_(file), entry_(entry), path_(path) {}
  [[nodiscard]] std::uint64_t size() const override { return entry_.size; }
  void read(const ByteSink& sink) const override {
    try {
      zip::read_verified(file_.bytes(), entry_, sink);
    } catch (const Error& error) {
      const bool is_of_entry = error.code() == Code::zip_data_inflate || error.code() == Code::zip_data_crc;
      if (!is_of_entry) throw;  // it comes from the sink, and has the sink's path
      throw with_change(error.with_path(path_), file_, path_);
    }
  }

 private:
  const base::MappedFile& file_;
  const zip::ForeignEntry& entry_;
  const std::filesystem::path& path_;
};

Bytes spooled(Spool& spool, Bytes file, const zip::ForeignEntry& entry) {
  return spool.bytes(entry.header_offset, [&](const ByteSink& sink) { zip::read_verified(file, entry, sink); });
}

/// Hands out a part of an entry, which is inflated to the spool at the first read.
class SpooledSource final : public ByteSource {
 public:
  SpooledSource(Spool& spool, const base::MappedFile& file, const zip::ForeignEntry& entry, Bytes part,
                const std::filesystem::path& path)
      : spool_(spool), file_(file), entry_(entry), part_(part), path_(path) {}
  [[nodiscard]] std::uint64_t size() const override { return part_.size(); }
  void read(const ByteSink& sink) const override {
    errors_with_change(path_, file_, [&] { static_cast<void>(spooled(spool_, file_.bytes(), entry_)); });
    sink(part_);
  }

 private:
  Spool& spool_;
  const base::MappedFile& file_;
  const zip::ForeignEntry& entry_;
  Bytes part_;
  const std::filesystem::path& path_;
};

}  // namespace

UnpackedZip::UnpackedZip(const std::filesystem::path& path, std::filesystem::path folder, std::uint64_t max_expansion,
                         const HasStandIns& has_stand_ins)
    : path_(path),
      folder_(std::move(folder)),
      file_(base::MappedFile::open(path)),
      directory_(errors_with_change(path, file_, [this] { return zip::ForeignDirectory::read(file_.bytes(), {}); })),
      expansion_(file_.bytes().size(), max_expansion),
      model_(errors_with_change(
          path, file_, [&] { return find_foreign_model(file_.bytes(), directory_, expansion_, has_stand_ins); })),
      used_(directory_.entries().size()) {
  used_[model_.index] = true;
}

void UnpackedZip::use(std::size_t index) {
  if (used_[index]) return;  // an entry that several tensors share is counted once
  errors_with_change(path_, file_, [&] { expansion_.add(entry(index)); });
  used_[index] = true;
}

Bytes UnpackedZip::place_of(std::size_t index) {
  use(index);
  if (!entry(index).deflated) return base::section(file_.bytes(), entry(index).data_offset, entry(index).size);
  if (!spool_) {
    const auto is_used = [](const zip::ForeignEntry& entry) { return !is_left_out(entry); };
    spool_ = std::make_unique<Spool>(folder_, room_to_inflate(directory_, expansion_, is_used));
  }
  return spool_->place_of(entry(index).header_offset, entry(index).size);
}

Bytes UnpackedZip::bytes(std::size_t index) {
  const Bytes place = place_of(index);
  if (!entry(index).deflated) return place;
  return errors_with_change(path_, file_, [&] { return spooled(*spool_, file_.bytes(), entry(index)); });
}

void UnpackedZip::verify(std::size_t index) const {
  if (entry(index).deflated) return;  // verified when it was inflated
  const Bytes data = base::section(file_.bytes(), entry(index).data_offset, entry(index).size);
  errors_with_change(path_, file_, [&] { zip::expect_crc(entry(index), base::crc32(0, data)); });
}

std::unique_ptr<const ByteSource> UnpackedZip::source(std::size_t index, std::size_t threads) {
  use(index);
  if (entry(index).deflated) return std::make_unique<InflatingSource>(file_, entry(index), path_);
  return std::make_unique<StoredSource>(file_, entry(index), path_, threads);
}

std::unique_ptr<const ByteSource> UnpackedZip::inflated_source(std::size_t index, Bytes part) const {
  return std::make_unique<SpooledSource>(*spool_, file_, entry(index), part, path_);
}

}  // namespace onnxar
