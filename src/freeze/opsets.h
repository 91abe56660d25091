// The sets of operators that a model imports.
#pragma once

#include <cstdint>

#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Takes out imports, of the model and of its functions, of domains that nothing in them uses; how many went. What a
/// function imports or is in the model imports, too, and ONNX's own operators stay: runtimes rely on both where they
/// put functions in the place of their calls. The last import stays as well, as there has to be one.
std::uint64_t drop_unused_opsets(schema::ModelProto& model);

}  // namespace onnxar
