#include "base/buffered_output.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/checked.h"
#include "base/little_endian.h"

namespace onnxar::base {
namespace {

constexpr std::size_t buffer_size = 1U << 20U;
constexpr std::size_t direct_from = 64U << 10U;
// Calls end at multiples of this in the file, where file systems that cache in large pages have a border too.
constexpr std::uint64_t write_step = 8U << 20U;
constexpr std::uint64_t write_back_step = 32U << 20U;
constexpr std::size_t block_size = 4096;
// Having the file system share blocks takes about as long as copying so many bytes.
constexpr std::size_t shared_from = 1U << 20U;

}  // namespace

BufferedOutput::BufferedOutput(OutputFile file, bool write_back, std::uint64_t position)
    : file_(std::move(file)), write_back_(write_back), flushed_(position), written_back_(position) {
  buffer_.reserve(buffer_size);
}

void BufferedOutput::append(Bytes bytes) {
  if (bytes.size() < direct_from && buffer_.size() + bytes.size() <= buffer_size) {
    base::append(buffer_, bytes);
    return;
  }
  if (!append_shared(bytes)) write(bytes);
}

/// The whole blocks among them, if blocks begin at the same bytes here and in the file that they may be mapped from:
/// mappings begin on pages, so their addresses tell.
Bytes BufferedOutput::blocks_of(Bytes bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (bytes.size() < shared_from || (address - position()) % block_size != 0) return {};
  const std::size_t before = align_up(address, block_size) - address;
  return bytes.subspan(before, (bytes.size() - before) / block_size * block_size);
}

bool BufferedOutput::append_shared(Bytes bytes) {
  if (!file_.may_share()) return false;
  const Bytes blocks = blocks_of(bytes);
  if (blocks.empty()) return false;
  const auto before = static_cast<std::size_t>(blocks.data() - bytes.data());
  if (!file_.share_at(position() + before, blocks)) return false;
  append(bytes.first(before));
  flush();
  flushed_ += blocks.size();
  append(bytes.subspan(before + blocks.size()));
  return true;
}

void BufferedOutput::write(Bytes bytes) {
  while (!bytes.empty()) {
    const std::uint64_t room = write_step - position() % write_step;
    const Bytes piece = bytes.first(std::min<std::uint64_t>(bytes.size(), room));
    file_.write_at(flushed_, buffer_, piece);
    flushed_ += buffer_.size() + piece.size();
    buffer_.clear();
    bytes = bytes.subspan(piece.size());
    begin_write_back();
  }
}

void BufferedOutput::begin_write_back() {
  if (write_back_ && flushed_ - written_back_ >= write_back_step) {
    file_.start_writeback(written_back_, flushed_ - written_back_);
    written_back_ = flushed_;
  }
}

void BufferedOutput::pad_to(std::uint64_t position) {
  static constexpr std::byte zeros[4096]{};
  while (this->position() < position) {
    append(Bytes(zeros).first(std::min<std::uint64_t>(sizeof zeros, position - this->position())));
  }
}

void BufferedOutput::overwrite(std::uint64_t offset, Bytes bytes) {
  if (offset < flushed_ && offset + bytes.size() > flushed_) flush();
  if (offset < flushed_) {
    file_.write_at(offset, bytes);
  } else {
    std::ranges::copy(bytes, buffer_.begin() + static_cast<std::ptrdiff_t>(offset - flushed_));
  }
}

void BufferedOutput::flush() {
  file_.write_at(flushed_, buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

void BufferedOutput::sync() {
  flush();
  file_.sync();
}

void BufferedOutput::begin_last_write() {
  flush();
  file_.begin_last_write();
}

OutputFile BufferedOutput::finish() && {
  flush();
  file_.set_size(flushed_);
  return std::move(file_);
}

}  // namespace onnxar::base
