// Copies a file in one of several ways, with or without computing its CRC-32: copying METHOD SOURCE OUTPUT. Run by
// packing.py, which compares `pack` with the fastest.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "base/crc32.h"
#include "onnxar/bytes.h"

namespace {

using onnxar::Bytes;

constexpr std::size_t piece = 1U << 20U, direct_piece = 4U << 20U, page = 4096;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

struct Files {
  int source = -1, output = -1;
  Bytes bytes;  // of the source, mapped
};

/// Where a CRC-32 goes, so that the compiler keeps it.
std::atomic<std::uint32_t> sink;

void digest(Bytes bytes) { sink ^= onnxar::base::crc32(0, bytes); }

void write_all(int file, Bytes bytes, std::size_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written <= 0) fail("pwrite");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
}

/// Calls `work` for each piece of `size` bytes, on so many threads.
void each_piece(std::size_t total, std::size_t size, int threads,
                const std::function<void(std::size_t, std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t at = next.fetch_add(size); at < total; at = next.fetch_add(size))
      work(at, std::min(size, total - at));
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
}

void by_range(const Files& files) {
  for (std::size_t left = files.bytes.size(); left != 0;) {
    const ssize_t copied = ::copy_file_range(files.source, nullptr, files.output, nullptr, left, 0);
    if (copied <= 0) fail("copy_file_range");
    left -= static_cast<std::size_t>(copied);
  }
}

void by_buffer(const Files& files) {
  std::vector<std::byte> buffer(piece);
  each_piece(files.bytes.size(), piece, 1, [&](std::size_t at, std::size_t size) {
    if (::pread(files.source, buffer.data(), size, static_cast<off_t>(at)) != static_cast<ssize_t>(size)) fail("pread");
    write_all(files.output, Bytes(buffer).first(size), at);
  });
}

void from_mapping(const Files& files, int threads, bool with_crc) {
  each_piece(files.bytes.size(), piece, threads, [&](std::size_t at, std::size_t size) {
    const Bytes part = files.bytes.subspan(at, size);
    if (with_crc) digest(part);
    write_all(files.output, part, at);
  });
}

/// Past the page cache: O_DIRECT, from buffers at pages. The last piece is padded, and the file cut.
void past_cache(const Files& files, int threads) {
  if (::fcntl(files.output, F_SETFL, ::fcntl(files.output, F_GETFL) | O_DIRECT) != 0) fail("O_DIRECT");
  each_piece(files.bytes.size(), direct_piece, threads, [&](std::size_t at, std::size_t size) {
    const std::unique_ptr<std::byte, void (*)(void*)> buffer(
        static_cast<std::byte*>(std::aligned_alloc(page, direct_piece)), std::free);
    const Bytes part = files.bytes.subspan(at, size);
    digest(part);
    std::memcpy(buffer.get(), part.data(), size);
    write_all(files.output, {buffer.get(), (size + page - 1) / page * page}, at);
  });
  if (::ftruncate(files.output, static_cast<off_t>(files.bytes.size())) != 0) fail("ftruncate");
}

void to_mapping(const Files& files, int threads) {
  void* const target = ::mmap(nullptr, files.bytes.size(), PROT_READ | PROT_WRITE, MAP_SHARED, files.output, 0);
  if (target == MAP_FAILED) fail("mmap");
  each_piece(files.bytes.size(), piece, threads, [&](std::size_t at, std::size_t size) {
    digest(files.bytes.subspan(at, size));
    std::memcpy(static_cast<std::byte*>(target) + at, files.bytes.data() + at, size);
  });
  if (::munmap(target, files.bytes.size()) != 0) fail("munmap");
}

struct Method {
  std::string_view name;
  std::function<void(const Files&)> copy;
};

const std::array methods = {
    Method{"copy_file_range", by_range},
    Method{"pread-pwrite", by_buffer},
    Method{"map-pwrite-1", [](const Files& files) { from_mapping(files, 1, false); }},
    Method{"map-crc-pwrite-1", [](const Files& files) { from_mapping(files, 1, true); }},
    Method{"map-crc-pwrite-2", [](const Files& files) { from_mapping(files, 2, true); }},
    Method{"map-crc-direct-2", [](const Files& files) { past_cache(files, 2); }},
    Method{"map-crc-map-2", [](const Files& files) { to_mapping(files, 2); }},
};

}  // namespace

int main(int count, char** words) {
  if (count != 4) return std::fprintf(stderr, "copying METHOD SOURCE OUTPUT\n"), 2;
  const auto* const method = std::ranges::find(methods, std::string_view(words[1]), &Method::name);
  if (method == methods.end()) return std::fprintf(stderr, "no method %s\n", words[1]), 2;
  Files files{::open(words[2], O_RDONLY), ::open(words[3], O_RDWR | O_CREAT | O_EXCL, 0644), {}};
  if (files.source < 0 || files.output < 0) fail("open");
  struct stat status{};
  if (::fstat(files.source, &status) != 0) fail("fstat");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, files.source, 0);
  if (mapped == MAP_FAILED || ::posix_fallocate(files.output, 0, status.st_size) != 0) fail("mmap or fallocate");
  files.bytes = {static_cast<const std::byte*>(mapped), size};
  method->copy(files);
  return 0;
}
