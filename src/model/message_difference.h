// Compares two messages of the same type, field by field.
//
// The comparison uses reflection, so that it covers fields that ONNX adds later. It walks two messages at once, and
// matches their elements by name; the walk in model/walk.h has one model and cannot serve here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnxar/model/model.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Finds the differences of messages. Pairs of tensors are passed to `tensors`, which compares their data.
class MessageDifference {
 public:
  /// A tensor in both models or in one, with its sites.
  struct TensorPair {
    const schema::TensorProto* before = nullptr;
    const schema::TensorProto* after = nullptr;
    std::string site_before, site_after;
  };
  MessageDifference(std::vector<GraphChange>& changes, std::function<void(const TensorPair&)> tensors)
      : changes_(changes), tensors_(std::move(tensors)) {}

  void compare(const schema::ModelProto& before, const schema::ModelProto& after);

 private:
  struct Place {
    std::string before, after;  // sites
    std::string name;
  };
  using Message = google::protobuf::Message;
  using Field = google::protobuf::FieldDescriptor;

  void messages(const Message& before, const Message& after, const Place& place);
  void field(const Message& before, const Message& after, const Field& field, const Place& place);
  void one_message(const Message& before, const Message& after, const Field& field, const Place& place);
  void list_of_messages(const Message& before, const Message& after, const Field& field, const Place& place);
  void values(const Message& before, const Message& after, const Field& field, const Place& place);
  void only_in(Change change, const Message& message, const Place& place);

  std::vector<GraphChange>& changes_;
  std::function<void(const TensorPair&)> tensors_;
};

}  // namespace onnxar
