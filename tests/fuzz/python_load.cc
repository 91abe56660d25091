// What `onnxar.load` of the Python package does, call by call: the library reads an archive, protobuf parses its model,
// and each tensor that the library names gets its data. The result is the model that Model::load gives.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>

#include <string>

#include "fuzz/models.h"
#include "onnxar/archive.h"
#include "onnxar/model_stream.h"

namespace onnxar::fuzz::python_load_target {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// As `_proto.Descent`: follows the names of fields by reflection, as Python's getattr does.
Message& step_into(Message& message, const FieldStep& step) {
  const FieldDescriptor* const field = message.GetDescriptor()->FindFieldByName(std::string(step.field));
  require(field != nullptr && field->message_type() != nullptr, "a step names a field that holds messages");
  require(field->is_repeated() == step.index.has_value(), "a step into a repeated field has an index");
  const auto& access = *message.GetReflection();
  if (!step.index) {
    require(access.HasField(message, field), "a step leads to a message that is there");
    return *access.MutableMessage(&message, field);
  }
  require(*step.index < static_cast<std::uint64_t>(access.FieldSize(message, field)), "an index is of an element");
  return *access.MutableRepeatedMessage(&message, field, static_cast<int>(*step.index));
}

std::string data_of(const ModelReader& reader, std::size_t index) {
  std::string data;
  reader.read(index, [&](Bytes piece) { data += as_text(piece); });
  require(data.size() == reader.size_of(index), "as many bytes as announced");
  return data;
}

/// As `_proto.set_data`.
void set_data(schema::TensorProto& tensor, std::string data) {
  require(tensor.data_location() == schema::TensorProto::EXTERNAL, "the message that gets data has a link");
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(std::move(data));
}

std::optional<schema::ModelProto> loaded(Bytes input) {
  const ModelReader reader(Archive::open(input, nullptr), {.load_external_data = true});
  schema::ModelProto model;
  const Bytes bytes = reader.model();
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  std::size_t next = 0;
  reader.for_each([&](std::size_t index, std::span<const FieldStep> steps) {
    require(index == next++ && index < reader.size(), "tensors come in their order");
    Message* message = &model;
    for (const FieldStep& step : steps) message = &step_into(*message, step);
    require(message->GetDescriptor()->name() == "TensorProto", "the steps lead to a tensor");
    set_data(dynamic_cast<schema::TensorProto&>(*message), data_of(reader, index));
  });
  require(next == reader.size(), "every tensor is visited");
  return model;
}

/// The data of tensors that had links, by site.
void compare(const schema::ModelProto& model, Bytes input) {
  const auto direct = accepted([&] { return Model::load(input); });
  if (!direct) return;
  const Payloads expected = payloads_of(*direct);
  for_each_tensor(model, [&](const schema::TensorProto& tensor, const TensorInfo& info) {
    const auto found = expected.find(info.site);
    if (tensor.has_raw_data() && found != expected.end())
      require(tensor.raw_data() == as_text(found->second), "both ways give the same data");
  });
}

}  // namespace

void run(Bytes input) {
  const google::protobuf::LogSilencer silent;  // it reports names that are not UTF-8, in builds with assertions
  const auto model = accepted([&] { return loaded(input); });
  if (model && *model) compare(**model, input);
}

}  // namespace onnxar::fuzz::python_load_target
