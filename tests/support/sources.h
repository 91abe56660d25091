// Sources of bytes that are not there before they are read.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "onnxar/bytes.h"
#include "support/wire_builder.h"

namespace onnxar::testing {

/// Hands out its bytes in small pieces, counts how often, and fails if it is told to.
class CountedSource final : public ByteSource {
 public:
  explicit CountedSource(Blob bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override {
    ++reads;
    if (fails) throw std::runtime_error("no paper");
    constexpr std::size_t piece = 7;
    for (Bytes rest = bytes_; !rest.empty(); rest = rest.subspan(std::min(piece, rest.size()))) {
      sink(rest.first(std::min(piece, rest.size())));
    }
  }

  mutable int reads = 0;
  bool fails = false;

 private:
  Blob bytes_;
};

/// Announces a size, and fails the test if it is read.
class AnnouncedSource final : public ByteSource {
 public:
  explicit AnnouncedSource(std::uint64_t size) : size_(size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(const ByteSink& /*sink*/) const override { ADD_FAILURE() << "read"; }

 private:
  std::uint64_t size_;
};

}  // namespace onnxar::testing
