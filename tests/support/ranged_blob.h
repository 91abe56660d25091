// A file in memory that is read by ranges, and notes how.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "support/zip_builder.h"

namespace onnxar::testing {

class RangedBlob final : public RandomAccess {
 public:
  struct Read {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    friend bool operator==(const Read&, const Read&) = default;
  };

  explicit RangedBlob(Blob bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] std::filesystem::path name() const override { return "blob:x"; }
  /// Throws std::logic_error if the ranges are not as RandomAccess::read promises.
  void read(std::span<const RangeTarget> ranges) const override {
    if (fails || calls >= most_calls) throw Error(Code::io_failed, "no connection", {}, name());
    ++calls;
    std::uint64_t end = 0;
    for (const RangeTarget& range : ranges) {
      if (range.offset < end || range.offset > bytes_.size() || range.target.size() > bytes_.size() - range.offset) {
        throw std::logic_error("ranges that a RandomAccess does not get");
      }
      end = range.offset + range.target.size();
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(range.offset), range.target.size(),
                  range.target.begin());
      reads.push_back({range.offset, range.target.size()});
    }
  }

  mutable std::size_t calls = 0;
  mutable std::vector<Read> reads;
  bool fails = false;
  std::size_t most_calls = ~std::size_t{0};  // later ones fail

 private:
  Blob bytes_;
};

inline std::shared_ptr<RangedBlob> by_ranges(Blob bytes) { return std::make_shared<RangedBlob>(std::move(bytes)); }

}  // namespace onnxar::testing
