// Arrays in a `.npz`: a zip file with a `.npy` (numpy/lib/format.py describes it) for each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "onnxar/bytes.h"
#include "onnxar/tensor.h"
#include "zip/lenient_directory.h"

namespace onnxar {

struct NpyArray {
  std::string descr;  ///< `<f4`
  std::vector<std::int64_t> dims;
  Bytes data;  ///< a view of what was parsed
};

/// Errors: numpy.array.malformed (no `.npy`, a header that is not as NumPy writes it, data of another length),
/// numpy.array.unsupported (of a version above 3, in Fortran's order, big-endian, of Python objects or records).
NpyArray parse_npy(Bytes file);

/// Whether elements that stand as `descr` are those of a tensor of this type, bit for bit. Types that NumPy lacks may
/// be its unsigned integers, or plain bytes (`|V2`).
bool is_numpy_form(DataType type, std::string_view descr);

/// Owns the mapping until all arrays that were read are gone, too. Threads: const throughout.
class NpzFile {
 public:
  /// Errors: io.*, zip.*.
  static NpzFile open(const std::filesystem::path& path);
  /// Whether the file is a zip of nothing but `.npy` files. Errors: io.*.
  static bool is_one(const std::filesystem::path& path);

  /// Of the arrays, without `.npy`, in the order of the file.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool contains(const std::string& name) const { return find(name).has_value(); }

  struct Array {
    std::string descr;
    std::vector<std::int64_t> dims;
    ByteSpan data;
  };
  /// The array of this name, verified against its CRC-32. What is deflated is inflated to a file without a name in
  /// `folder`. Errors: usage.no_such_tensor; as parse_npy; zip.data.crc, zip.data.inflate, io.*.
  [[nodiscard]] Array read(const std::string& name, const std::filesystem::path& folder) const;

 private:
  NpzFile(const std::filesystem::path& path, std::shared_ptr<const base::MappedFile> file,
          zip::LenientDirectory directory)
      : path_(path), file_(std::move(file)), directory_(std::move(directory)) {}
  [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const;
  [[nodiscard]] std::shared_ptr<const base::MappedFile> inflated(const zip::LenientEntry& entry,
                                                                 const std::filesystem::path& folder) const;

  std::filesystem::path path_;
  std::shared_ptr<const base::MappedFile> file_;
  zip::LenientDirectory directory_;
};

}  // namespace onnxar
