#include "shell/addresses.h"

#include <utility>

namespace onnxar::tool {

Archive open_archive(const std::filesystem::path& path) {
  auto file = address_opener()(path);
  return file ? Archive::open(std::move(file)) : Archive::open(path);
}

}  // namespace onnxar::tool
