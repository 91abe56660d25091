// Reads a side file as a whole, in one state.
#include "convert/whole_file.h"

#include <cstdint>
#include <utility>

#include "base/file_origin.h"
#include "base/open_file.h"

namespace onnxar {
namespace {

constexpr std::uint64_t stays_mapped_from = 1U << 20U;

class WholeFile final : public ByteSource {
 public:
  WholeFile(std::shared_ptr<const base::MappedFile> file, OpensFile open)
      : size_(file->bytes().size()), identity_(file->identity()) {
    if (size_ < stays_mapped_from) {
      open_ = std::move(open);
    } else {
      mapped_ = std::move(file);
    }
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  void read(const ByteSink& sink) const override {
    const auto file = mapped_ ? mapped_ : open_();
    const base::FileOrigin* const origin = file->origin();
    if (file->bytes().size() != size_ || !(file->identity() == identity_)) throw changed(*file);
    sink(file->bytes());
    if (origin != nullptr) origin->expect_whole();
  }

  void locate(const std::function<void(const Location&)>& visit) const override {
    if (mapped_) visit({mapped_->bytes(), false, mapped_->origin()});
  }

 private:
  static Error changed(const base::MappedFile& file) {
    return base::changed_while_read(file.origin() == nullptr ? std::filesystem::path() : file.origin()->path());
  }

  std::uint64_t size_;
  os::FileIdentity identity_;
  std::shared_ptr<const base::MappedFile> mapped_;
  OpensFile open_;
};

}  // namespace

std::shared_ptr<const ByteSource> whole_file(const OpensFile& open) { return whole_file(open(), open); }

std::shared_ptr<const ByteSource> whole_file(std::shared_ptr<const base::MappedFile> file, OpensFile open) {
  return std::make_shared<const WholeFile>(std::move(file), std::move(open));
}

}  // namespace onnxar
