// Arrays in a `.npz`: a zip file with a `.npy` (numpy/lib/format.py describes it) for each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/spool.h"
#include "archive/zip_expansion.h"
#include "base/mapped_file.h"
#include "onnxar/bytes.h"
#include "onnxar/tensor.h"
#include "zip/foreign_directory.h"

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

/// Owns the mapping until all arrays that were read are gone, too. Threads: one at a time, as `read` counts.
class NpzFile {
 public:
  /// What is deflated is inflated to one file without a name in `folder`: so many bytes as the .npz has, times
  /// `max_expansion`, at most. Errors: io.*, zip.*.
  static NpzFile open(const std::filesystem::path& path, const std::filesystem::path& folder,
                      std::uint64_t max_expansion);
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
  /// The array of this name, verified against its CRC-32.
  /// Errors: usage.no_such_tensor; as parse_npy; zip.data.crc, zip.data.inflate, zip.limit.expansion, io.*.
  [[nodiscard]] Array read(const std::string& name);

 private:
  /// What arrays are views of.
  struct Contents {
    base::MappedFile file;
    zip::ForeignDirectory directory;
    Spool spool;
  };

  NpzFile(const std::filesystem::path& path, std::shared_ptr<Contents> contents, ZipExpansion expansion)
      : path_(path), contents_(std::move(contents)), expansion_(expansion) {}
  [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const;
  [[nodiscard]] Bytes bytes_of(std::size_t index);

  std::filesystem::path path_;
  std::shared_ptr<Contents> contents_;
  ZipExpansion expansion_;
  std::set<std::size_t> counted_;  // by index: inflated once, and counted once
};

}  // namespace onnxar
