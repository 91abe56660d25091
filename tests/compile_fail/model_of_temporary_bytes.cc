// A model in temporary bytes, with an owner that does not own them.
#include <vector>

#include "onnxar/model/model.h"

onnxar::Model dangling(std::shared_ptr<const void> owner) {
  return onnxar::Model::load(std::vector<std::byte>(100), std::move(owner));
}
