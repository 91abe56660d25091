// Protobuf as the oracle: on random models, the wire layer finds the tensors that protobuf's reflection finds, and its
// edits give the same messages as protobuf's edits.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx/rewrite.h"
#include "onnxar/error.h"
#include "support/model_samples.h"
#include "support/random_models.h"
#include "support/sources.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace pb = google::protobuf;
using schema::ModelProto;
using schema::TensorProto;

// --- what both sides say --------------------------------------------------------------------------------------------

/// One tensor, as each side describes it.
struct Told {
  std::string name;
  std::int64_t type = 0;
  std::vector<std::int64_t> dims;
  std::optional<std::string> raw_data;
  bool external = false;
  bool segment = false;
  std::map<std::string, std::string> pairs;  // of external_data, without unknown keys
  bool operator==(const Told&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Told& told) {
  return out << told.name << " type " << told.type << " dims " << ::testing::PrintToString(told.dims) << " raw "
             << (told.raw_data ? std::to_string(told.raw_data->size()) : "none") << " external " << told.external;
}

using Tensors = std::map<std::string, Told>;  // by path

Told told_by(const onnx::TensorSite& site) {
  const onnx::TensorView& view = site.tensor;
  Told told{std::string(view.name),
            static_cast<std::int64_t>(view.type),
            view.dims,
            {},
            view.is_external(),
            view.segment,
            {}};
  if (view.raw_data) told.raw_data = std::string(as_text(view.raw_data->of(site.model)));
  const auto pair = [&told](const char* key, const std::optional<std::string_view>& value) {
    if (value) told.pairs.emplace(key, *value);
  };
  pair("location", view.external.location);
  pair("offset", view.external.offset);
  pair("length", view.external.length);
  pair("checksum", view.external.checksum);
  return told;
}

Told told_by(const TensorProto& tensor) {
  Told told{tensor.name(), tensor.data_type(), {tensor.dims().begin(), tensor.dims().end()}, {}, {}, {}, {}};
  if (tensor.has_raw_data()) told.raw_data = tensor.raw_data();
  told.external = tensor.data_location() == TensorProto::EXTERNAL;
  told.segment = tensor.has_segment();
  for (const auto& entry : tensor.external_data()) {
    static constexpr std::array<std::string_view, 4> known = {"location", "offset", "length", "checksum"};
    if (std::ranges::find(known, entry.key()) != known.end()) told.pairs.emplace(entry.key(), entry.value());
  }
  return told;
}

std::string path_of(const onnx::TensorSite& site) {
  std::string path;
  for (const onnx::Level& level : site.levels) {
    path += "." + std::string(level.label) + (level.repeated ? "[" + std::to_string(level.index) + "]" : "");
  }
  return path;
}

/// Calls `visit` with the path of every TensorProto anywhere below `message`, and the tensor itself.
void visit_tensors(pb::Message& message, const std::string& path,
                   const std::function<void(const std::string&, TensorProto&)>& visit) {
  if (message.GetDescriptor()->full_name() == TensorProto::descriptor()->full_name()) {
    visit(path, dynamic_cast<TensorProto&>(message));
    return;
  }
  const pb::Reflection& reflection = *message.GetReflection();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const std::string here = path + "." + field->name();
    if (!field->is_repeated()) {
      visit_tensors(*reflection.MutableMessage(&message, field), here, visit);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      const std::string element = here + "[" + std::to_string(i) + "]";
      visit_tensors(*reflection.MutableRepeatedMessage(&message, field, i), element, visit);
    }
  }
}

Tensors told_by_the_wire(const Blob& model) {
  Tensors tensors;
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) {
    EXPECT_TRUE(tensors.emplace(path_of(site), told_by(site)).second) << path_of(site);
  });
  return tensors;
}

Tensors told_by_protobuf(ModelProto& model) {
  Tensors tensors;
  visit_tensors(model, "",
                [&](const std::string& path, TensorProto& tensor) { tensors.emplace(path, told_by(tensor)); });
  return tensors;
}

ModelProto parsed(const Blob& bytes) {
  ModelProto model;
  if (!model.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) throw std::logic_error("no model");
  return model;
}

Blob serialized(const ModelProto& model) {
  std::string text;
  pb::io::StringOutputStream out(&text);
  pb::io::CodedOutputStream coded(&out);
  coded.SetSerializationDeterministic(true);
  EXPECT_TRUE(model.SerializeToCodedStream(&coded));
  coded.Trim();
  return blob(text);
}

// --- edits on both sides --------------------------------------------------------------------------------------------

/// The edit of the tensor at a path. Both sides choose the same one.
struct Choice {
  enum class Action : std::uint8_t { keep, link, put_inline };
  Action action = Action::keep;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  Blob payload;
};

Choice choice_for(const std::string& path, std::uint32_t seed) {
  std::seed_seq mix(path.begin(), path.end());
  std::vector<std::uint32_t> words(1);
  mix.generate(words.begin(), words.end());
  Random random(words[0] ^ seed);
  Choice choice;
  choice.action = static_cast<Choice::Action>(below(random, 3));
  choice.offset = below(random, 2) * 64;
  choice.length = below(random, 3) == 0 ? 0 : below(random, 100000);
  choice.payload = pattern(below(random, 2) == 0 ? below(random, 40) : below(random, 20000), seed);
  return choice;
}

Blob edited_on_the_wire(const Blob& model, std::uint32_t seed) {
  const auto decide = [seed](const onnx::TensorSite& site) {
    const Choice choice = choice_for(path_of(site), seed);
    if (choice.action == Choice::Action::keep) return onnx::TensorEdit::keep();
    if (choice.action == Choice::Action::link)
      return onnx::TensorEdit::link_to({"w.bin", choice.offset, choice.length});
    return onnx::TensorEdit::put_inline(std::make_shared<CountedSource>(choice.payload));
  };
  return onnx::rewrite_tensors(model, decide).flat();
}

void add_pair(TensorProto& tensor, const std::string& key, const std::string& value) {
  auto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

void edit_by_protobuf(TensorProto& tensor, const Choice& choice) {
  if (choice.action == Choice::Action::keep) return;
  for (const int number : {4, 5, 7, 9, 10, 11, 13, 14}) {
    TensorProto::GetReflection()->ClearField(&tensor, TensorProto::descriptor()->FindFieldByNumber(number));
  }
  if (choice.action == Choice::Action::put_inline) {
    tensor.set_raw_data(text_of(choice.payload));
    return;
  }
  add_pair(tensor, "location", "w.bin");
  add_pair(tensor, "offset", std::to_string(choice.offset));
  add_pair(tensor, "length", std::to_string(choice.length));
  tensor.set_data_location(TensorProto::EXTERNAL);
}

/// Removes locations of DEFAULT, which say nothing: the wire layer keeps them, and the edits above do not.
ModelProto without_defaults(ModelProto model) {
  visit_tensors(model, "", [](const std::string&, TensorProto& tensor) {
    if (tensor.data_location() == TensorProto::DEFAULT) tensor.clear_data_location();
  });
  return model;
}

/// Compares the wire layer with protobuf on one model: the tensors that it finds, and the results of its edits.
void expect_agreement(const Blob& bytes, std::uint32_t seed) {
  ModelProto model = parsed(bytes);
  EXPECT_EQ(told_by_the_wire(bytes), told_by_protobuf(model));
  visit_tensors(model, "", [seed](const std::string& path, TensorProto& tensor) {
    edit_by_protobuf(tensor, choice_for(path, seed));
  });
  const ModelProto rewritten = without_defaults(parsed(edited_on_the_wire(bytes, seed)));
  model = without_defaults(model);
  EXPECT_TRUE(pb::util::MessageDifferencer::Equals(rewritten, model));
  EXPECT_EQ(serialized(rewritten), serialized(model)) << "unknown fields or their order have changed";
}

// --- the tests ------------------------------------------------------------------------------------------------------

TEST(WireOracleSlow, ReadsAndEditsRandomModelsLikeProtobuf) {
  std::size_t tensors = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Blob model = serialized(ModelMaker(seed).make());
    expect_agreement(model, seed);
    tensors += told_by_the_wire(model).size();
  }
  EXPECT_GT(tensors, 1000U) << "the models have grown too small to show anything";
}

TEST(WireOracleSlow, ReadsAndEditsEverySpellingLikeProtobuf) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_agreement(respelt_model(serialized(ModelMaker(seed).make()), seed), seed);
  }
}

TEST(WireOracleSlow, EditsOfCanonicalModelsAreCanonical) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    ModelProto model = without_defaults(ModelMaker(seed).make());
    const Blob edited = edited_on_the_wire(serialized(model), seed);
    visit_tensors(model, "", [seed](const std::string& path, TensorProto& tensor) {
      edit_by_protobuf(tensor, choice_for(path, seed));
    });
    EXPECT_EQ(edited, serialized(model)) << seed;
  }
}

/// Models that both accept must be read in the same way. Otherwise a payload could move that other readers never see.
TEST(WireOracleSlow, DamagedModelsAreRefusedOrReadAsByProtobuf) {
  std::vector<Blob> models;
  for (std::uint32_t seed = 0; seed < 50; ++seed) models.push_back(serialized(ModelMaker(seed).make()));
  std::size_t accepted = 0;
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    Blob bytes = models.at(seed % models.size());
    for (std::size_t i = 0; i <= below(random, 3); ++i) {
      bytes[below(random, bytes.size())] ^= static_cast<std::byte>(1U << below(random, 8));
    }
    ModelProto model;
    if (!model.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) continue;
    try {
      EXPECT_EQ(told_by_the_wire(bytes), told_by_protobuf(model)) << seed;
      ++accepted;
    } catch (const Error& error) {
      EXPECT_EQ(kind(error.code()), Kind::format);
    }
  }
  EXPECT_GT(accepted, 200U);
}

TEST(WireOracleSlow, UnknownLocationTypeChangesNothing) {
  const auto tensor_in_model = [](const Message& locations) {
    const Message tensor = Message().string(tensor_field::name, "w").raw(locations);
    return model({.graph = graph({.initializers = {tensor}})}).take();
  };
  constexpr std::uint32_t field = tensor_field::data_location;
  for (const Message& locations : {Message().varint(field, 1).varint(field, 7), Message().varint(field, 7),
                                   Message().varint(field, (1ULL << 32U) + 1)}) {
    const Blob bytes = tensor_in_model(locations);
    ModelProto model = parsed(bytes);
    EXPECT_EQ(told_by_the_wire(bytes), told_by_protobuf(model));
  }
}

TEST(WireOracleSlow, TheDepthLimitIsProtobufs) {
  // Nested graph.node.attribute, and a Constant: four messages, and three more per level.
  for (const std::size_t levels : {31U, 32U, 33U}) {
    const Blob bytes =
        model({.graph = subgraph_of_depth(levels, graph({.nodes = {constant("y", tensor("w", dtype::int8, {}))}}))})
            .take();
    ModelProto model;
    const bool protobuf_reads = model.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
    EXPECT_EQ(protobuf_reads, levels <= 32);
    const auto walk = [&bytes] { told_by_the_wire(bytes); };
    if (protobuf_reads) {
      EXPECT_NO_THROW(walk());
    } else {
      EXPECT_THROW(walk(), Error);
    }
  }
}

TEST(WireOracleSlow, LinkIsNotDeeperThanProtobufReads) {
  const auto deepest = [](const Message& tensor) {
    return model({.graph = subgraph_of_depth(32, graph({.nodes = {constant("y", tensor)}}))}).take();
  };
  ModelProto model;
  const Blob inside = deepest(tensor("w", dtype::uint8, {1}).raw_data(pattern(1)));
  ASSERT_TRUE(model.ParsePartialFromArray(inside.data(), static_cast<int>(inside.size())));
  const Blob outside = deepest(tensor("w", dtype::uint8, {1}).external("w", {}, 1));
  ASSERT_FALSE(model.ParsePartialFromArray(outside.data(), static_cast<int>(outside.size())));
  EXPECT_THROW(told_by_the_wire(outside), Error) << "external_data is a message, too";
}

// --- models of other makers -----------------------------------------------------------------------------------------

TEST(WireOracleSlow, ReadsAndEditsOnnxTestModelsLikeProtobuf) {
  std::vector<std::filesystem::path> models = onnx_test_models();
  models.resize(std::min<std::size_t>(models.size(), 200));  // most of the small ones have no tensor
  if (models.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  std::size_t tensors = 0;
  for (const std::filesystem::path& path : models) {
    SCOPED_TRACE(path);
    const Blob model = read_file(path);
    expect_agreement(model, 1);
    expect_agreement(respelt_model(model, 1), 2);
    tensors += told_by_the_wire(model).size();
  }
  EXPECT_GT(tensors, 100U);
}

}  // namespace
}  // namespace onnxar::testing
