// Files that are read by ranges: on a server, in an object store, in another process.
//
// `Archive::open` takes one in place of a path. It reads the end of the file first, which tells what is in the archive,
// and then only what is asked for. onnxar/remote.h has one for addresses; a program may bring its own.
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

/// A range of a file, and the memory that it is read into.
struct RangeTarget {
  std::uint64_t offset = 0;  ///< bytes
  std::span<std::byte> target;
};

/// A file that is read by ranges and does not change meanwhile.
class RandomAccess {
 public:
  RandomAccess() = default;
  RandomAccess(const RandomAccess&) = delete;
  RandomAccess& operator=(const RandomAccess&) = delete;
  virtual ~RandomAccess() = default;

  /// The size of the file in bytes. It is the same at every call.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills every target with the bytes at its offset, or throws; then the targets may hold anything. All ranges lie in
  /// the file, in ascending order, and do not overlap. A range may be large, and there may be thousands: join and split
  /// them as the transport likes. All bytes must come from one version of the file. Called by one thread at a time.
  virtual void read(std::span<const RangeTarget> ranges) const = 0;
  /// What error messages call the file, such as its address without secrets. It need not be a path.
  [[nodiscard]] virtual std::filesystem::path name() const { return {}; }
};

/// Whether `text` begins as an address of onnxar/remote.h: `http://`, `https://`, `s3://`, in any case.
[[nodiscard]] bool is_address(std::string_view text) noexcept;

/// Opens addresses, for calls that take a path: returns the file that `path` names, or null if `path` is that of a
/// local file. Exceptions pass through.
using RangesOpener = std::function<std::shared_ptr<const RandomAccess>(const std::filesystem::path& path)>;

}  // namespace ONNXAR_API onnxar
