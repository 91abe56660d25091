// Prints the weights of an ONNX archive with this library: load ARCHIVE
#include <zlib.h>

#include <iomanip>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>

#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/listing.h"
#include "onnxar/tensors.h"

int main(int argc, char** argv) try {
  if (argc != 2) throw std::invalid_argument("usage: load ARCHIVE");
  const onnxar::Archive archive = onnxar::Archive::open(argv[1]);
  for (const onnxar::Finding& finding : onnxar::check(argv[1])) {  // no byte of a weight is read
    if (finding.severity == onnxar::Severity::error) throw std::runtime_error(to_string(finding));
  }
  std::set<std::string> linked;  // where in the model they are
  for (const onnxar::ListedEntry& entry : onnxar::ls(archive).entries) {
    for (const onnxar::TensorInfo& tensor : entry.tensors) linked.insert(tensor.site);
  }
  for (const onnxar::StoredTensor& tensor : onnxar::tensors(archive)) {
    if (!tensor.site.starts_with("graph.initializer[") || !linked.contains(tensor.site)) continue;
    const onnxar::ByteSpan data = onnxar::tensor_data(archive, tensor);  // mapped, not copied
    std::cout << tensor.name << ' ' << static_cast<int>(tensor.type) << ' ';
    for (std::size_t i = 0; i < tensor.dims.size(); ++i) std::cout << (i == 0 ? "" : ",") << tensor.dims[i];
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(data.bytes().data()), data.size());
    std::cout << ' ' << std::hex << std::setw(8) << std::setfill('0') << crc << std::dec << '\n';
  }
} catch (const std::exception& error) {
  std::cerr << "load: " << error.what() << '\n';
  return 1;
}
