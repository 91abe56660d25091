// Gives this library access to the payloads of a Model.
#pragma once

#include "convert/loaded_model.h"
#include "convert/payload.h"
#include "onnxar/model/model.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// The table of a model's payloads.
struct PayloadTable {
  static LoadedModel& of(Model& model);
  /// Makes a new row of the table the tensor's only data. Throws what `Model::set_payload` throws.
  static void set(Model& model, schema::TensorProto& tensor, Payload payload);
  /// Does the same with the data of a linked tensor of another model; `model` then keeps that model's source. Saving
  /// reads it with its checks. Also throws what `Model::payload` throws.
  static void share(Model& model, schema::TensorProto& tensor, const Model& other, const schema::TensorProto& linked);
};

}  // namespace onnxar
