// The reader of reader/ in tests: its errors and handles as values, sources and allocators that fail.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/onnxar_c.h"  // both faces fit into one program
#include "onnxar_reader.h"
#include "support/wire_builder.h"

namespace onnxar::testing {

struct CloseReader {
  void operator()(onnxar_reader* archive) const { onnxar_reader_close(archive); }
};
struct CloseWalk {
  void operator()(onnxar_reader_walk* walk) const { onnxar_reader_walk_close(walk); }
};
using Reader = std::unique_ptr<onnxar_reader, CloseReader>;
using ReaderWalk = std::unique_ptr<onnxar_reader_walk, CloseWalk>;

/// Code, entry and offset of an error.
struct ReaderFault {
  std::string code;
  std::string entry;  ///< the first 1024 bytes
  std::optional<std::uint64_t> offset;

  friend bool operator==(const ReaderFault&, const ReaderFault&) = default;
  friend void PrintTo(const ReaderFault& fault, std::ostream* out) {  // NOLINT(readability-identifier-naming)
    *out << fault.code << " entry \"" << fault.entry << "\" at ";
    if (fault.offset) *out << *fault.offset;
  }
};

inline ReaderFault fault_of(const onnxar_reader_error& error) {
  const std::size_t length = std::min<std::size_t>(error.entry_length, 1024);
  ReaderFault fault = {error.code, std::string(&error.entry[0], length), {}};
  if (error.offset != OAR_NO_OFFSET) fault.offset = error.offset;
  return fault;
}

/// The fault of a call that returned `result`; nothing if it succeeded.
inline std::optional<ReaderFault> fault_after(int result, const onnxar_reader_error& error) {
  if (result >= 0) return std::nullopt;
  return fault_of(error);
}

/// Bytes that are read by callbacks, and fail at a given read. Reads out of bounds fail the test.
class ByteSource {
 public:
  explicit ByteSource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] onnxar_reader_source source() { return {bytes_.size(), &ByteSource::read, this}; }

  std::size_t reads = 0;
  std::size_t longest = 0;
  std::size_t fails_at = std::numeric_limits<std::size_t>::max();

 private:
  static int read(void* context, std::uint64_t offset, std::size_t length, void* buffer) {
    auto& self = *static_cast<ByteSource*>(context);
    EXPECT_GT(length, 0U);
    EXPECT_LE(offset, self.bytes_.size());
    EXPECT_LE(length, self.bytes_.size() - offset);
    if (self.reads++ == self.fails_at) return 1;
    self.longest = std::max(self.longest, length);
    std::memcpy(buffer, self.bytes_.data() + offset, length);
    return 0;
  }

  std::span<const std::byte> bytes_;
};

/// An allocator that fails at a given allocation, and counts.
class Allocations {
 public:
  [[nodiscard]] onnxar_reader_options options() {
    onnxar_reader_options options = {};
    options.allocate = &Allocations::allocate;
    options.release = &Allocations::release;
    options.allocator_context = this;
    return options;
  }

  std::size_t count = 0;
  std::size_t live = 0;
  std::size_t largest = 0;
  std::size_t total = 0;
  std::size_t fails_at = std::numeric_limits<std::size_t>::max();

 private:
  static void* allocate(void* context, std::size_t size) {
    auto& self = *static_cast<Allocations*>(context);
    self.largest = std::max(self.largest, size);
    self.total += size;
    if (self.count++ == self.fails_at) return nullptr;
    void* block = std::malloc(size);
    // What the reader does not set itself is not zero by chance.
    if (block != nullptr) std::memset(block, 0xA5, size);
    self.live += block != nullptr ? 1 : 0;
    return block;
  }
  static void release(void* context, void* block) {
    EXPECT_NE(block, nullptr);
    --static_cast<Allocations*>(context)->live;
    std::free(block);
  }
};

inline Reader opened(std::span<const std::byte> bytes, std::optional<ReaderFault>& fault,
                     const onnxar_reader_options& options = {}) {
  onnxar_reader* archive = nullptr;
  onnxar_reader_error error = {};
  fault = fault_after(onnxar_reader_open_memory(bytes.data(), bytes.size(), &options, &archive, &error), error);
  EXPECT_EQ(archive == nullptr, fault.has_value());
  return Reader(archive);
}

/// An archive that opens. The bytes have to outlive it.
inline Reader opened(std::span<const std::byte> bytes) {
  std::optional<ReaderFault> fault;
  Reader archive = opened(bytes, fault);
  EXPECT_EQ(fault, std::nullopt);
  return archive;
}

inline Reader opened(ByteSource& bytes, std::optional<ReaderFault>& fault, const onnxar_reader_options& options = {}) {
  onnxar_reader* archive = nullptr;
  onnxar_reader_error error = {};
  const onnxar_reader_source source = bytes.source();
  fault = fault_after(onnxar_reader_open_source(&source, &options, &archive, &error), error);
  EXPECT_EQ(archive == nullptr, fault.has_value());
  return Reader(archive);
}

inline std::optional<ReaderFault> fault_of_use(const onnxar_reader* archive, std::size_t index) {
  onnxar_reader_error error = {};
  onnxar_reader_range range = {};
  return fault_after(onnxar_reader_get_data(archive, index, &range, &error), error);
}

inline std::optional<ReaderFault> fault_of_use(const onnxar_reader* archive) {
  for (std::size_t i = 0; i < onnxar_reader_count(archive); ++i) {
    if (auto fault = fault_of_use(archive, i)) return fault;
  }
  return std::nullopt;
}

inline std::optional<ReaderFault> fault_of_check(const onnxar_reader* archive, unsigned flags) {
  onnxar_reader_error error = {};
  return fault_after(onnxar_reader_check(archive, flags, &error), error);
}

/// Calls `visit` with each tensor of a model, and gives the fault that ends the walk.
inline std::optional<ReaderFault> walk_model(
    const onnxar_reader* archive, std::size_t index,
    const std::function<void(const onnxar_reader_walk*, const onnxar_reader_tensor&)>& visit) {
  onnxar_reader_walk* walk = nullptr;
  onnxar_reader_error error = {};
  onnxar_reader_tensor tensor = {};
  int result = onnxar_reader_walk_open(archive, index, &walk, &error);
  const ReaderWalk owner(walk);
  while (result == 0 && (result = onnxar_reader_walk_next(walk, &tensor, &error)) > 0) {
    visit(walk, tensor);
    result = 0;
  }
  return fault_after(result, error);
}

inline std::string_view name_of(const onnxar_reader_tensor& tensor) { return {tensor.name, tensor.name_length}; }

inline std::string site_of(const onnxar_reader_walk* walk) {
  std::string site(onnxar_reader_walk_site(walk, nullptr, 0) + 1, '\0');
  EXPECT_EQ(onnxar_reader_walk_site(walk, site.data(), site.size()) + 1, site.size());
  site.pop_back();
  return site;
}

}  // namespace onnxar::testing
