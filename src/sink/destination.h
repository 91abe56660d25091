// The destination of a plain model: a file, or a folder that also gets the side files and graphs.
#pragma once

#include <filesystem>
#include <string>

#include "onnxar/options.h"

namespace onnxar {

struct Destination {
  std::filesystem::path path;  ///< of the file, or of the folder
  std::string model;           ///< the model's file name in the folder; empty if the destination is a file

  /// `output` names a folder if it ends in `/`; the model's file in it gets the stem of `input`, or
  /// `model` if `input` is empty. An archive is always a file.
  static Destination of(const std::filesystem::path& output, const std::filesystem::path& input, Format format);

  [[nodiscard]] bool is_folder() const noexcept { return !model.empty(); }
  /// The folder that contains the output. It exists already, on the same disk.
  [[nodiscard]] std::filesystem::path folder_above() const;
};

}  // namespace onnxar
