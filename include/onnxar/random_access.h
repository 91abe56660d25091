// Files that are read by ranges: on a server, in an object store, in another process.
//
//   class Memory final : public onnxar::RandomAccess {
//     std::uint64_t size() const override { return bytes.size(); }
//     void read(std::span<const onnxar::RangeTarget> ranges) const override {
//       for (const auto& [offset, target] : ranges) std::memcpy(target.data(), &bytes[offset], target.size());
//     }
//   };
//   const onnxar::Archive archive = onnxar::Archive::open(std::make_shared<Memory>());
//
// `Archive::open` reads the end of the file first, which tells what is in it, and then only what is used.
// onnxar/remote.h has a RandomAccess for addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

struct RangeTarget {
  std::uint64_t offset = 0;  ///< bytes
  std::span<std::byte> target;
};

/// A file that does not change meanwhile.
class RandomAccess {
 public:
  RandomAccess() = default;
  RandomAccess(const RandomAccess&) = delete;
  RandomAccess& operator=(const RandomAccess&) = delete;
  virtual ~RandomAccess() = default;

  /// Bytes; the same at every call.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills every target with the bytes at its offset, or throws. The ranges lie in the file, ascend and do not overlap;
  /// there may be thousands, and large ones: join and split them as the transport likes. All bytes must come from one
  /// version of the file. Called by one thread at a time.
  virtual void read(std::span<const RangeTarget> ranges) const = 0;
  /// For error messages, such as the address without secrets. It need not be a path.
  [[nodiscard]] virtual std::filesystem::path name() const { return {}; }
};

/// Whether it begins as an address of onnxar/remote.h, in any case: `http://`, `https://`, `s3://`.
[[nodiscard]] bool is_address(std::string_view text) noexcept;

/// For calls that take a path: the file that an address names, or null for the path of a local file.
using RangesOpener = std::function<std::shared_ptr<const RandomAccess>(const std::filesystem::path& path)>;

}  // namespace ONNXAR_API onnxar
