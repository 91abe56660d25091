// Collects small writes to a file in a buffer, and passes large ones on.
#include "base/buffered_output.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/checked.h"
#include "base/crc32.h"
#include "base/file_origin.h"
#include "base/little_endian.h"

namespace onnxar::base {
namespace {

constexpr std::size_t buffer_size = 1U << 20U;
// The initial size of the buffer. Most outputs are a few small messages, for which the system would map and clear the
// whole buffer.
constexpr std::size_t first_buffer_size = 32U << 10U;
// From this size on, copying a piece into the buffer is slower than a system call.
constexpr std::size_t direct_from = 64U << 10U;
// Calls end at multiples of this in the file. File systems that cache in large pages begin a new page there.
constexpr std::uint64_t write_step = 8U << 20U;
constexpr std::uint64_t write_back_step = 32U << 20U;
// A file system lets one thread at a time write to a file. A second thread can compute the CRC meanwhile; a third would
// wait.
constexpr std::size_t most_threads = 2;
// The number of bytes that a thread sums at a time when nothing is written.
constexpr std::size_t read_step = 2U << 20U;
// The number of bytes that a thread sums and then writes from its core's cache. Smaller pieces fit a nearer cache;
// larger pieces get larger pages in the page cache, which are faster to map. Measured: see bench/RESULTS.md.
constexpr std::size_t summed_step = 1U << 20U;

}  // namespace

BufferedOutput::BufferedOutput(OutputFile file, bool write_back, std::uint64_t position)
    : file_(std::move(file)), write_back_(write_back), flushed_(position), written_back_(position) {
  buffer_.reserve(first_buffer_size);
}

ThreadPool BufferedOutput::summing_threads(std::size_t threads) {
  return ThreadPool(std::min(allowed_threads(threads), most_threads));
}

void BufferedOutput::append(Bytes bytes) { append_any(bytes, nullptr); }

void BufferedOutput::append(const ByteSource& source) {
  const FileOrigins origins(source, direct_from);
  source.read([&](Bytes bytes) { append_any(bytes, origins.find(bytes)); });
  origins.expect_unwritten();
}

void BufferedOutput::append_any(Bytes bytes, const FileOrigin* origin) {
  if (bytes.size() < direct_from && buffer_.size() + bytes.size() <= buffer_size) {
    if (buffer_.size() + bytes.size() > buffer_.capacity()) buffer_.reserve(buffer_size);
    base::append(buffer_, bytes);
    return;
  }
  if (!append_shared(bytes, origin)) write(bytes);
}

/// Returns the whole blocks in `bytes`, if they begin at block boundaries both in this file and in the file that they
/// may be mapped from. A mapping begins on a page, so the address of a byte determines its position in its block.
Bytes BufferedOutput::blocks_of(Bytes bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (bytes.size() < shared_from || (address - position()) % shared_block != 0) return {};
  const std::size_t before = in_memory(align_up(address, shared_block) - address);
  return bytes.subspan(before, (bytes.size() - before) / shared_block * shared_block);
}

bool BufferedOutput::append_shared(Bytes bytes, const FileOrigin* origin) {
  if (origin == nullptr || !file_.may_share()) return false;
  const Bytes blocks = blocks_of(bytes);
  if (blocks.empty()) return false;
  const auto before = static_cast<std::size_t>(blocks.data() - bytes.data());
  // Shares the blocks first: if the file system refuses, nothing has been appended yet.
  if (!file_.share_at(position() + before, blocks, *origin)) return false;
  append(bytes.first(before));
  flush();
  flushed_ += blocks.size();
  append(bytes.subspan(before + blocks.size()));
  return true;
}

void BufferedOutput::write(Bytes bytes) {
  while (!bytes.empty()) {
    // The buffer and the piece go out in one call, which ends at a multiple of write_step.
    const std::uint64_t room = write_step - position() % write_step;
    const Bytes piece = bytes.first(in_memory(std::min<std::uint64_t>(bytes.size(), room)));
    file_.write_at(flushed_, buffer_, piece);
    flushed_ += buffer_.size() + piece.size();
    buffer_.clear();
    bytes = bytes.subspan(piece.size());
    begin_write_back();
  }
}

std::uint32_t BufferedOutput::append_with_crc(std::uint32_t crc, Bytes bytes, ThreadPool& threads) {
  return append_any_with_crc(crc, bytes, nullptr, threads);
}

std::uint32_t BufferedOutput::append_with_crc(std::uint32_t crc, const ByteSource& source, ThreadPool& threads) {
  const FileOrigins origins(source, direct_from);
  source.read([&](Bytes bytes) { crc = append_any_with_crc(crc, bytes, origins.find(bytes), threads); });
  // The kernel reads a mapping again to write it, so the written bytes may differ from the summed ones.
  origins.expect_unwritten();
  return crc;
}

/// Writes and sums large pieces on several threads. Each thread writes the bytes that it has just summed, so that the
/// kernel copies them from the core's cache.
std::uint32_t BufferedOutput::append_any_with_crc(std::uint32_t crc, Bytes bytes, const FileOrigin* origin,
                                                  ThreadPool& threads) {
  if (bytes.size() < worth_a_thread) {
    crc = crc32(crc, bytes);
    append(bytes);
    return crc;
  }
  if (append_shared(bytes, origin)) return crc32_in_pieces(crc, bytes, {read_step}, threads, [](std::size_t, Bytes) {});
  flush();
  while (!bytes.empty()) {
    // Only write-back needs calls that end before the last byte.
    const std::uint64_t most = write_back_ ? write_back_step : bytes.size();
    const Bytes part = bytes.first(in_memory(std::min<std::uint64_t>(bytes.size(), most)));
    const auto to_border = static_cast<std::size_t>(summed_step - flushed_ % summed_step);
    crc = crc32_in_pieces(crc, part, {summed_step, to_border}, threads,
                          [&](std::size_t begin, Bytes piece) { file_.write_at(flushed_ + begin, piece); });
    flushed_ += part.size();
    bytes = bytes.subspan(part.size());
    begin_write_back();
  }
  return crc;
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
    append(Bytes(zeros).first(in_memory(std::min<std::uint64_t>(sizeof zeros, position - this->position()))));
  }
}

void BufferedOutput::overwrite(std::uint64_t offset, Bytes bytes) {
  // A range across `flushed_` would take two writes; flushing first makes it one.
  if (offset < flushed_ && offset + bytes.size() > flushed_) flush();
  if (offset < flushed_) {
    file_.write_at(offset, bytes);
  } else {
    std::ranges::copy(bytes, buffer_.begin() + static_cast<std::ptrdiff_t>(offset - flushed_));
  }
}

MappedFile BufferedOutput::map(std::uint64_t offset, std::uint64_t size) {
  flush();
  return file_.map({offset, size});
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
  file_.give_back_room(flushed_);
  return std::move(file_);
}

}  // namespace onnxar::base
