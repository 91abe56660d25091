// Field numbers of ONNX's protobuf schema (onnx.proto, IR version 14), for the messages that lead to tensors.
#pragma once

#include <cstdint>

namespace onnxar::onnx {

/// The first IR version in which an initializer need not be an input, too.
inline constexpr std::uint32_t first_ir_with_own_initializers = 4;

namespace model_field {
inline constexpr std::uint32_t ir_version = 1, graph = 7, metadata_props = 14, training_info = 20, functions = 25;
}
namespace graph_field {
inline constexpr std::uint32_t node = 1, initializer = 5, input = 11, output = 12, sparse_initializer = 15;
}
namespace value_field {
inline constexpr std::uint32_t name = 1;
}
namespace node_field {
inline constexpr std::uint32_t input = 1, output = 2, op_type = 4, attribute = 5, domain = 7;
}
namespace function_field {
inline constexpr std::uint32_t node = 7, attribute_proto = 11;
}
namespace attribute_field {
inline constexpr std::uint32_t name = 1, t = 5, g = 6, tensors = 10, graphs = 11, sparse_tensor = 22,
                               sparse_tensors = 23;
}
namespace training_field {
inline constexpr std::uint32_t initialization = 1, algorithm = 2;
}
namespace sparse_field {
inline constexpr std::uint32_t values = 1, indices = 2;
}
namespace tensor_field {
inline constexpr std::uint32_t dims = 1, data_type = 2, segment = 3, float_data = 4, int32_data = 5, string_data = 6,
                               int64_data = 7, name = 8, raw_data = 9, double_data = 10, uint64_data = 11,
                               external_data = 13, data_location = 14;
}
namespace entry_field {
inline constexpr std::uint32_t key = 1, value = 2;
}

/// TensorProto.DataLocation
inline constexpr std::uint64_t location_default = 0, location_external = 1;

}  // namespace onnxar::onnx
