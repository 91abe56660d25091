#include "archive/unpacked_zip.h"

#include "archive/changed.h"
#include "base/buffered_output.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/output_file.h"
#include "onnxar/error.h"
#include "zip/format.h"

namespace onnxar {
namespace {

/// Whatever is wrong with bytes of the file names it.
template <typename Action>
auto naming(const std::filesystem::path& path, Bytes file, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw told_apart(error.with_path(path), file, path);
  }
}

/// A stored entry, held against its CRC-32 while it is read.
class StoredSource final : public ByteSource {
 public:
  StoredSource(Bytes bytes, const zip::LenientEntry& entry, const std::filesystem::path& path, std::size_t threads)
      : bytes_(bytes), entry_(entry), path_(path), threads_(threads) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override {
    const std::uint32_t crc = base::crc32_while(0, bytes_, [&] { sink(bytes_); }, threads_);
    naming(path_, bytes_, [&] { zip::expect_crc(entry_, crc); });
  }

 private:
  Bytes bytes_;
  const zip::LenientEntry& entry_;
  const std::filesystem::path& path_;
  std::size_t threads_;
};

}  // namespace

UnpackedZip::UnpackedZip(const std::filesystem::path& path, const std::filesystem::path& folder)
    : path_(path),
      file_(base::MappedFile::open(path)),
      directory_(naming(path, file_.bytes(), [this] { return zip::LenientDirectory::read(file_.bytes(), {}); })),
      model_(naming(path, file_.bytes(), [this] { return find_foreign_model(file_.bytes(), directory_); })) {
  naming(path, file_.bytes(), [&] { inflate_all(folder); });
}

void UnpackedZip::inflate_all(const std::filesystem::path& folder) {
  std::uint64_t end = 0;
  bool any = false;
  for (const zip::LenientEntry& entry : directory_.entries()) {
    places_.push_back(end);
    if (!entry.deflated || is_left_out(entry)) continue;
    end = base::align_up(end + entry.size, zip::alignment_minimum);
    any = true;
  }
  if (!any) return;
  base::BufferedOutput out(base::OutputFile::create_nameless(folder), false);
  out.reserve(end);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!entry(i).deflated || is_left_out(entry(i))) continue;
    out.pad_to(places_[i]);
    std::uint32_t crc = 0;
    zip::data_source(file_.bytes(), entry(i))->read([&](Bytes piece) {
      crc = base::crc32(crc, piece);
      out.append(piece);
    });
    zip::expect_crc(entry(i), crc);
  }
  out.pad_to(end);
  inflated_.emplace(std::move(out).finish().map());
}

Bytes UnpackedZip::bytes(std::size_t index) const {
  if (entry(index).deflated) return inflated_->bytes().subspan(places_[index], entry(index).size);
  return file_.bytes().subspan(entry(index).data_offset, entry(index).size);
}

void UnpackedZip::verify(std::size_t index) const {
  if (entry(index).deflated) return;
  naming(path_, file_.bytes(), [&] { zip::expect_crc(entry(index), base::crc32(0, bytes(index))); });
}

std::unique_ptr<const ByteSource> UnpackedZip::source(std::size_t index, std::size_t threads) const {
  if (entry(index).deflated) return std::make_unique<SpanSource>(bytes(index));
  return std::make_unique<StoredSource>(bytes(index), entry(index), path_, threads);
}

}  // namespace onnxar
