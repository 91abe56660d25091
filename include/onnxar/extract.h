// Tensors of a model as files of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/options.h"
#include "onnxar/tensor.h"
#include "onnxar/visibility.h"

namespace ONNXAR_API onnxar {

struct ExtractOptions {
  bool raw = false;      ///< write the tensor's raw bytes alone; otherwise NumPy's format, `.npy`
  bool replace = false;  ///< replace existing outputs
  bool sync = true;      ///< sync files and folder before returning
  bool dry_run = false;  ///< find out what would be written, and write nothing
  LoadOptions load;
};

/// One tensor that was written.
struct ExtractedTensor {
  TensorInfo tensor;
  std::filesystem::path path;    ///< of the file
  std::uint64_t file_bytes = 0;  ///< its size
  std::string descr;             ///< the type of the elements in a `.npy`, as NumPy writes it: `<f4`
  /// Whether NumPy lacks the tensor's type: the elements are then its bits as integers of one byte or two, those
  /// below 8 bits one a byte.
  bool as_integers = false;
};

/// Writes one tensor of the model at `model`, in whatever form it is, from whatever site.
///
/// `which` is the tensor's name, else its key in the archive, else its site as TensorInfo has it
/// (`graph.node[3].attr.value`); then `output` is the file, or a folder that exists or a path that ends in `/`. Where
/// no tensor has that name, key or site and it holds `*`, `?` or `[`, it is a pattern, as shells have them, for the
/// names (the sites of tensors without one) of tensors, and `output` a folder, made if need be; a file in it is named
/// by the tensor's key as KeyMaker makes it. No data but that of these tensors is looked at; it is copied a piece at a
/// time, and what the archive has a CRC-32 for is verified. All files are complete before the first appears.
///
/// Errors: usage.no_such_tensor, naming near names; usage.ambiguous_tensor, with the sites of the candidates;
/// usage.argument; onnx.model.expansion; onnx.tensor.* (what `check` calls an error; .no_data, .strings;
/// .not_converted: NumPy has no such type, or typed data of too many values or out of range); output.exists, io.*, and
/// as `convert`. Cost: O(model) and what is written.
std::vector<ExtractedTensor> extract(const std::filesystem::path& model, std::string_view which,
                                     const std::filesystem::path& output, const ExtractOptions& options = {});

}  // namespace ONNXAR_API onnxar
