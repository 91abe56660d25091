// For each line of its input, an archive and an output separated by a tab, writes the model as ONNX Runtime's loader
// with the change would have it, and prints what is wrong with the archive, or an empty line.
#include <fstream>
#include <iostream>
#include <string>

#include "core/graph/onnx_archive.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto tab = line.find('\t');
    const std::string archive = line.substr(0, tab);
    onnx::ModelProto model;
    std::string wrong = "this is not an archive";
    if (onnxruntime::IsOnnxArchive(archive)) wrong = onnxruntime::LoadOnnxArchive(archive, model);
    if (wrong.empty()) {
      std::ofstream output(line.substr(tab + 1), std::ios::binary);
      if (!model.SerializeToOstream(&output)) return 1;
    }
    for (char& each : wrong) each = each == '\n' ? ' ' : each;
    std::cout << wrong << std::endl;
  }
}
