// A model in bytes that an owner of something else is said to keep alive.
#include <vector>

#include "onnxar/model/model.h"

onnxar::Model dangling(std::shared_ptr<const void> owner) {
  return onnxar::Model::load(std::vector<std::byte>(100), std::move(owner));
}
