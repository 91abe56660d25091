// Models in protobuf's text format, which people read and edit ("textproto", of onnx.ModelProto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "onnxar/byte_source.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "onnxar/visibility.h"

namespace ONNXAR_API onnxar {

/// A parser for LoadOptions::text_parser, with which `convert`, `check`, `replace_model` and all that take LoadOptions
/// read models in text form; external data lies in the text's folder. Messages nest up to `max_depth`. Memory: several
/// times the text.
[[nodiscard]] TextParser text_parser(std::size_t max_depth = LoadOptions().max_depth);

/// The model as bytes on the wire. Errors: onnx.text.syntax, with line and column of the first fault;
/// onnx.model.too_large.
[[nodiscard]] std::vector<std::byte> parse_text(Bytes text, std::size_t max_depth = LoadOptions().max_depth);

struct TextOptions {
  /// Print the data of all tensors, external data too: a model made of the text is the same. Otherwise payloads of
  /// `load.raw_data_threshold` bytes and more are a comment, external tensors keep their links, and no data is read.
  bool with_data = false;
  LoadOptions load;
};

struct TextReport {
  std::uint64_t left_out = 0;    ///< payloads that are but a comment
  std::vector<Finding> remarks;  ///< with data: what text cannot carry (unknown fields, NaNs with a payload, ...)
};

/// Hands out the text of the model at `model`, an archive or a `.onnx` file in whatever form. Payloads are escaped on
/// their way; none is gathered in memory. Errors: as `convert`; onnx.model.invalid where protobuf cannot parse it;
/// usage.argument (an empty sink).
TextReport print_text(const std::filesystem::path& model, const ByteSink& sink, const TextOptions& options = {});

/// Writes the model at `input` to `output` as text with all data in it; with its side files where that is a folder, as
/// `convert` has it. Of `save`, what says how to write holds. Remarks as `print_text`. Errors: as `convert` and
/// `print_text`.
ConvertReport convert_to_text(const std::filesystem::path& input, const std::filesystem::path& output,
                              const SaveOptions& save, const LoadOptions& load = {});

}  // namespace ONNXAR_API onnxar
