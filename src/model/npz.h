// Reads arrays from a `.npz`: a zip file with one `.npy` per array.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/opened_input.h"
#include "archive/unpacked_zip.h"
#include "base/keyed_hash.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// An open `.npz` file. The mapping lives as long as this object and every array read from it. Threads: one call at a
/// time.
class NpzFile {
 public:
  /// Opens the file. Names of arrays may be any text. Deflated arrays are inflated to a nameless file in `folder`, and
  /// may have `max_expansion` times as many bytes as the `.npz`. Throws zip.*.
  static NpzFile open(const OpenedInput& input, const std::filesystem::path& folder, std::uint64_t max_expansion);
  /// True if the file is a zip that holds only `.npy` files.
  static bool is_one(const OpenedInput& input);

  /// Returns the names of the arrays, without `.npy`, in the order of the file.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool contains(const std::string& name) const { return find(name).has_value(); }

  struct Array {
    std::string descr;
    std::vector<std::int64_t> dims;
    ByteSpan data;
  };
  /// Reads the array of this name and compares its CRC-32. Throws usage.no_such_tensor, what `parse_npy` throws,
  /// zip.data.crc, zip.data.inflate, zip.limit.expansion or io.*.
  [[nodiscard]] Array read(const std::string& name);

 private:
  /// Throws zip.name.duplicate.
  explicit NpzFile(std::shared_ptr<UnpackedZip> zip);
  [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const;
  [[nodiscard]] Bytes bytes_of(std::size_t index);

  std::shared_ptr<UnpackedZip> zip_;                      // shared with arrays
  base::KeyedMap<std::string_view, std::size_t> places_;  // indices of entries by name
};

}  // namespace onnxar
