// The differences of two messages of one type, field by field.
//
// This goes through two messages at once, by reflection and matched by name, so that no field is forgotten when ONNX
// adds one. It shares nothing with walk (graph/walk.h), which goes through one model's graphs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnxar/model/diff.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Finds the differences of messages. The data of tensors is left to `tensors`.
class MessageDifference {
 public:
  /// A tensor of both models or of one, with its sites.
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
