// For each line of its input, an archive, an output and a graph (or nothing) separated by tabs, writes the model as
// ONNX Runtime's loader with the change would have it, and prints what is wrong with the archive, or an empty line.
// Loads the archive also from memory, and prints what differs.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

#include "core/graph/onnx_archive.h"

namespace {

std::string load(const std::string& path, const std::string& graph, onnx::ModelProto& model) {
  const int file = open(path.c_str(), O_RDONLY);
  const bool is_archive = onnxruntime::IsOnnxArchive(file);
  std::string wrong = "this is not an archive";
  if (is_archive) wrong = onnxruntime::LoadOnnxArchive(file, path, graph, model);
  close(file);

  std::ifstream stream(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (onnxruntime::IsOnnxArchive(bytes.data(), bytes.size()) != is_archive) return "the bytes begin otherwise";
  for (const bool use_bytes : {false, true}) {
    onnx::ModelProto other;
    if (!is_archive) continue;
    const std::string same = onnxruntime::LoadOnnxArchive(bytes.data(), bytes.size(), graph, use_bytes, other);
    if (same != wrong) return "in memory: " + same + ", in the file: " + wrong;
  }
  return wrong;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string archive, output, graph;
    std::getline(std::getline(std::getline(words, archive, '\t'), output, '\t'), graph);
    onnx::ModelProto model;
    std::string wrong = load(archive, graph, model);
    if (wrong.empty()) {
      std::ofstream stream(output, std::ios::binary);
      if (!model.SerializeToOstream(&stream)) return 1;
    }
    for (char& each : wrong) each = each == '\n' ? ' ' : each;
    std::cout << wrong << std::endl;
  }
}
