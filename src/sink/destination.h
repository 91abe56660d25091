// Where a plain model is written to: a file, or a folder with all that came along.
#pragma once

#include <filesystem>
#include <string>

#include "onnxar/options.h"

namespace onnxar {

struct Destination {
  std::filesystem::path path;  ///< of the file, or of the folder
  std::string model;           ///< the model's file name in the folder; empty where the destination is a file

  /// `output` names a folder if it ends in `/`; `input`, or `model` where that is empty, gives the name
  /// of the model in it. An archive is always a file.
  static Destination of(const std::filesystem::path& output, const std::filesystem::path& input, Format format);

  [[nodiscard]] bool is_folder() const noexcept { return !model.empty(); }
  /// A folder with room for the output that is there already.
  [[nodiscard]] std::filesystem::path folder_above() const;
};

}  // namespace onnxar
