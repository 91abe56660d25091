// Printing a loaded model as text.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/options.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

enum class LargeData : std::uint8_t { printed, left_out };

/// The text of a model. Payloads are read from its table while they are printed. Every reading gives the same text.
class TextSource final : public ByteSource {
 public:
  /// `model` must outlive this. Payloads of at least `threshold` bytes are large. Errors: onnx.model.invalid;
  /// usage.not_loaded if data to be printed is in a file that was not loaded; onnx.model.expansion.
  TextSource(const LoadedModel& model, LargeData large, std::uint64_t threshold);

  /// Removes the name that the model has among the graphs of an archive.
  void drop_model_name();

  /// Prints everything once to count it, as no buffer holds the text.
  [[nodiscard]] std::uint64_t size() const override;
  void read(const ByteSink& sink) const override;

  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  /// What the text cannot carry.
  [[nodiscard]] std::vector<Finding> losses() const;

 private:
  const LoadedModel& model_;
  LargeData large_;
  std::uint64_t threshold_;
  schema::ModelProto proto_;  // raw_data of a payload is its link
  std::uint64_t left_out_ = 0;
  std::vector<Finding> losses_;
};

/// Writes `model` as text. If `output` is a folder, the file is named after `input`. Errors: as `unpack`.
ConvertReport save_text(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                        const std::filesystem::path& input = {});

/// `options`, with a parser for text if they have none.
LoadOptions with_text_parser(const LoadOptions& options);

}  // namespace onnxar
