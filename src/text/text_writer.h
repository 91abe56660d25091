// A loaded model as text.
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

/// The text of a model, payloads read from its table where they are to be printed. Printing it twice gives the same.
class TextSource final : public ByteSource {
 public:
  /// `model` must outlive this. Payloads of `threshold` bytes and more are large. Errors: onnx.model.invalid;
  /// usage.not_loaded where data is to be printed that is in a file; onnx.model.expansion.
  TextSource(const LoadedModel& model, LargeData large, std::uint64_t threshold);

  /// Takes out the name that the model has among the graphs of an archive.
  void drop_model_name();

  /// Prints everything once, to count it.
  [[nodiscard]] std::uint64_t size() const override;
  void read(const ByteSink& sink) const override;

  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  /// What the text does not say of the model.
  [[nodiscard]] std::vector<Finding> losses() const;

 private:
  const LoadedModel& model_;
  LargeData large_;
  std::uint64_t threshold_;
  schema::ModelProto proto_;  // each payload's link stands where its bytes are to be printed
  std::uint64_t left_out_ = 0;
  std::vector<Finding> losses_;
};

/// Writes `model` as text; in a folder it is named by `input`. Errors: as `convert`.
ConvertReport save_text(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                        const std::filesystem::path& input = {});

/// `options` with a parser for text, if they have none.
LoadOptions with_text_parser(const LoadOptions& options);

}  // namespace onnxar
