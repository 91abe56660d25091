// Two messages of one type, field by field, whatever fields they have.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnxar/model/diff.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Finds what differs between messages, and leaves the data of tensors to `tensors`.
class MessageDifference {
 public:
  /// A tensor in both, or in one only, with the site in each.
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
