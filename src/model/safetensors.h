// Reads tensors from a safetensors file: the length of a JSON object, the object, and the data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "onnxar/bytes.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// A tensor in the header of a safetensors file.
struct SafeTensor {
  DataType type = DataType::undefined;
  std::vector<std::int64_t> dims;
  Bytes data;  ///< a view into the file
};

/// Reads the header of a whole file. Strict: each tensor has the three members of the format, its data has the length
/// that type and dims require, and all data together covers the file after the header without holes or overlaps.
/// Errors: safetensors.malformed, at the offset; safetensors.type (a type that ONNX lacks). Cost: O(header).
std::map<std::string, SafeTensor> parse_safetensors(Bytes file);

/// An open safetensors file. The mapping lives as long as this object and every span that was read from it.
class SafetensorsFile {
 public:
  /// Errors: io.*; as parse_safetensors.
  static SafetensorsFile open(const std::filesystem::path& path);
  /// Errors: io.*.
  static bool is_one(const std::filesystem::path& path);

  [[nodiscard]] const std::map<std::string, SafeTensor>& tensors() const noexcept { return tensors_; }
  [[nodiscard]] ByteSpan data(const SafeTensor& tensor) const { return ByteSpan::borrow(tensor.data, file_); }

 private:
  std::shared_ptr<const base::MappedFile> file_;
  std::map<std::string, SafeTensor> tensors_;
};

}  // namespace onnxar
