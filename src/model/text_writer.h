// Prints a loaded model as text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convert/loaded_model.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/options.h"

namespace onnxar {

enum class LargeData : std::uint8_t { printed, left_out };

/// The text of a model. Payloads are read while they are printed. Every read yields the same text.
class TextSource final : public ByteSource {
 public:
  /// `model` must outlive this object. Payloads of at least `threshold` bytes are large. Errors: onnx.model.invalid;
  /// usage.not_loaded (data to be printed is in a file that was not loaded); onnx.model.expansion.
  TextSource(const LoadedModel& model, LargeData large, std::uint64_t threshold);

  /// Removes the model's name among the graphs of an archive.
  void drop_model_name();

  /// Cost: prints the whole text to count its bytes.
  [[nodiscard]] std::uint64_t size() const override;
  void read(const ByteSink& sink) const override;

  /// The number of tensors whose data is left out.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  /// The losses of the text; empty if large data is left out.
  [[nodiscard]] std::vector<Finding> losses() const;

 private:
  const LoadedModel& model_;
  LargeData large_;
  std::uint64_t threshold_;
  schema::ModelProto proto_;  // raw_data of a tensor with a payload holds its link
  std::uint64_t left_out_ = 0;
  std::vector<Finding> losses_;
};

/// Writes `model` as a text file. If `output` is a folder, the file is named after `input`. Errors: as `unpack`.
ConvertReport save_text(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                        const std::filesystem::path& input = {});

/// Returns `options` with a parser for text, unless they have one.
LoadOptions with_text_parser(const LoadOptions& options);

// Losses of protobuf's text format.

/// Reports what a model loses when it is printed as text and parsed again. `proto` is the parsed skeleton of `model`.
std::vector<Finding> text_losses(const LoadedModel& model, const schema::ModelProto& proto);

}  // namespace onnxar
