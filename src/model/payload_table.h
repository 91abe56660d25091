// Gives this library access to the parts of a Model, among them the table of its payloads.
#pragma once

#include "convert/loaded_model.h"
#include "convert/payload.h"
#include "onnxar/bytes.h"
#include "onnxar/model/model.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/options.h"

namespace onnxar {

struct Model::Parts {
  LoadedModel loaded;  // its skeleton is empty: `proto` replaces it
  schema::ModelProto proto;
  LoadOptions options;
};

/// The table of a model's payloads.
struct PayloadTable {
  /// Makes the parts of a freshly split model.
  static detail::Owned<Model::Parts> parts_of(LoadedModel loaded, const LoadOptions& options, bool no_copy);
  static LoadedModel& of(Model& model);
  /// Returns the payload that a linked tensor names. Throws onnx.external_data.marker and usage.not_loaded.
  static const Payload& linked(const LoadedModel& model, const schema::TensorProto& tensor);
  /// Returns the data of a tensor, linked or not, as `Model::payload` does.
  static ByteSpan payload(const LoadedModel& model, const schema::TensorProto& tensor);
  /// Makes a new row of the table the tensor's only data. Throws what `Model::set_payload` throws.
  static void set(Model& model, schema::TensorProto& tensor, Payload payload);
  /// Does the same with the data of a linked tensor of another model; `model` then keeps that model's source. Saving
  /// reads it with its checks. Also throws what `Model::payload` throws.
  static void share(Model& model, schema::TensorProto& tensor, const Model& other, const schema::TensorProto& linked);
};

}  // namespace onnxar
