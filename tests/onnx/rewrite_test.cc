// Moving tensors out and in changes their data fields and the enclosing lengths, and no other byte.
#include "onnx/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "onnx/error_of.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using onnx::TensorEdit;
using Decide = std::function<TensorEdit(const onnx::TensorSite&)>;

/// A source that owns its bytes.
class TextPayload final : public ByteSource {
 public:
  explicit TextPayload(Blob bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override { sink(bytes_); }

 private:
  Blob bytes_;
};

Blob rewritten(const Blob& model, const Decide& decide) { return onnx::rewrite_tensors(model, decide).flat(); }

TensorEdit link(std::string_view location, std::uint64_t length) {
  return TensorEdit::link_to({std::string(location), 0, length});
}
TensorEdit put_inline(Blob bytes) { return TensorEdit::put_inline(std::make_shared<TextPayload>(std::move(bytes))); }

/// One initializer after `edit`; a second one beside it must not change.
std::string edited(const Message& tensor, const TensorEdit& edit) {
  const Message neighbour = testing::tensor("neighbour", dtype::int8, {3}).raw_data(pattern(3));
  const auto in_model = [&](const Message& first) {
    return model({.graph = graph({.initializers = {first, neighbour}})});
  };
  const Blob result = rewritten(in_model(tensor).take(), [&edit](const onnx::TensorSite& site) {
    return site.tensor.name == "neighbour" ? TensorEdit::keep() : edit;
  });
  std::string found;
  onnx::walk_tensors(result, [&](const onnx::TensorSite& site) {
    if (found.empty()) found = std::string(as_text(site.tensor.range.of(site.model)));
  });
  Message made;
  made.raw(as_bytes(found));
  EXPECT_EQ(result, in_model(made).view()) << "something else has changed, too";
  return found;
}

/// A model with tensors, made by `make`, at every kind of site.
Message every_site(const std::function<Message(std::string_view, std::size_t)>& make) {
  const auto sparse = [&](std::string_view name) {
    return sparse_tensor(make(name, 130), tensor("", dtype::int64, {1}).int64_data({1}), {5});
  };
  const Message inner = graph({.nodes = {constant("y", make("inner_constant", 16384))},
                               .initializers = {make("inner", 127)},
                               .sparse_initializers = {sparse("inner_sparse")}});
  const Message loop =
      node("Loop", {"a"}, {"b"},
           {attribute_i("before", -1), attribute_g("body", inner), attribute_graphs("all", {inner, inner}),
            attribute_tensors("many", {make("m0", 1), make("m1", 100000)}),
            attribute_sparse_tensor("one", sparse("sparse"))});
  return model({.graph = graph({.nodes = {loop, constant("c", make("constant", 200)), loop},
                                .initializers = {make("a", 0), make("b", 128), make("c", 16383)},
                                .sparse_initializers = {sparse("s")}}),
                .metadata = {string_entry("k", "v")},
                .functions = {function({.nodes = {loop}, .attribute_protos = {attribute_t("d", make("d", 300))}})},
                .training = {training_info(inner, graph({.initializers = {make("t", 126)}}))}})
      .string(4242, "unknown");
}

Message raw_tensor(std::string_view name, std::size_t size) {
  return tensor(name, dtype::uint8, {static_cast<std::int64_t>(size)})
      .raw_data(pattern(size))
      .doc_string("doc")
      .metadata("k", "v");
}

Message linked_tensor(std::string_view name, std::size_t size) {
  return tensor(name, dtype::uint8, {static_cast<std::int64_t>(size)})
      .external(name, 0, size)
      .doc_string("doc")
      .metadata("k", "v");
}

/// Tensors of `every_site` and no others: its sparse indices are typed.
TensorEdit link_raw(const onnx::TensorSite& site) {
  return site.tensor.raw_data ? link(site.tensor.name, site.tensor.raw_data->size()) : TensorEdit::keep();
}
TensorEdit put_linked_inline(const onnx::TensorSite& site) {
  return site.tensor.is_external() ? put_inline(pattern(std::stoul(std::string(*site.tensor.external.length))))
                                   : TensorEdit::keep();
}

TEST(Rewrite, KeepingEverythingKeepsTheBytes) {
  const Blob model = every_site(raw_tensor).take();
  EXPECT_EQ(rewritten(model, [](const onnx::TensorSite&) { return TensorEdit::keep(); }), model);
}

TEST(Rewrite, EachTensorIsDecidedOnceInTheOrderOfTheWire) {
  const Blob model = every_site(raw_tensor).take();
  std::vector<std::string> walked, asked;
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) { walked.push_back(site.path()); });
  rewritten(model, [&](const onnx::TensorSite& site) {
    asked.push_back(site.path());
    return TensorEdit::keep();
  });
  EXPECT_EQ(asked, walked);
  EXPECT_GT(asked.size(), 40U);
}

TEST(Rewrite, LinkAndInlineAreInverseAtEverySite) {
  const Blob inside = every_site(raw_tensor).take();
  const Blob outside = every_site(linked_tensor).take();
  EXPECT_EQ(rewritten(inside, link_raw), outside);
  EXPECT_EQ(rewritten(outside, put_linked_inline), inside);
}

TEST(Rewrite, OneTensorAmongManyCanBeMoved) {
  const Blob inside = every_site(raw_tensor).take();
  std::size_t count = 0;
  onnx::walk_tensors(inside, [&count](const onnx::TensorSite&) { ++count; });
  for (std::size_t chosen = 0; chosen < count; ++chosen) {
    std::size_t index = 0;
    const Blob moved = rewritten(
        inside, [&](const onnx::TensorSite& site) { return index++ == chosen ? link_raw(site) : TensorEdit::keep(); });
    EXPECT_EQ(rewritten(moved, put_linked_inline), inside) << chosen;
  }
}

TEST(Rewrite, NewFieldsKeepAscendingOrder) {
  const TensorBuilder bare = tensor("w", dtype::uint8, {4}).doc_string("d").metadata("k", "v");
  EXPECT_EQ(edited(TensorBuilder(bare).raw_data(pattern(4)), link("w", 4)),
            TensorBuilder(bare).external("w", 0, 4).message().str());
  EXPECT_EQ(edited(TensorBuilder(bare).external("w", 9, 4), put_inline(pattern(4))),
            TensorBuilder(bare).raw_data(pattern(4)).message().str());
}

TEST(Rewrite, UnsortedTensorGetsFieldsAfterLastSmallerOne) {
  const auto raw = Message().bytes(tensor_field::raw_data, pattern(4));
  const auto name = Message().string(tensor_field::name, "w");
  const auto dims = Message().varint(tensor_field::dims, 4).varint(tensor_field::data_type, dtype::uint8);
  const auto extra = Message().message(tensor_field::metadata_props, string_entry("k", "v"));
  const std::string fields = onnx::external_data_fields({"w", 0, 4});
  EXPECT_EQ(edited(Message().raw(extra).raw(raw).raw(name).raw(dims), link("w", 4)),
            Message().raw(extra).raw(name).raw(dims).raw(as_bytes(fields)).str());
  EXPECT_EQ(
      edited(Message().raw(name).raw(as_bytes(fields)).raw(extra).raw(dims).varint(900, 1), put_inline(pattern(4))),
      Message().raw(name).raw(extra).raw(dims).raw(raw).varint(900, 1).str());
  EXPECT_EQ(edited(Message().raw(name).raw(extra).raw(raw), put_inline(pattern(4))),
            Message().raw(name).raw(raw).raw(extra).str());
}

TEST(Rewrite, AnEmptyTensorGetsItsFields) {
  EXPECT_EQ(edited(Message(), link("w", 0)), onnx::external_data_fields({"w", 0, 0}));
  EXPECT_EQ(edited(Message(), put_inline({})), Message().bytes(tensor_field::raw_data, {}).str());
}

TEST(Rewrite, RemovesTypedDataWhenTheDataMoves) {
  const Message linked = tensor("w", dtype::float32, {3}).external("w", 0, 12);
  for (const Repeated form : {Repeated::packed, Repeated::unpacked}) {
    EXPECT_EQ(edited(tensor("w", dtype::float32, {3}).float_data({1, 2, 3}, form), link("w", 12)), linked.str());
  }
  TensorBuilder all = tensor("w", dtype::float32, {3}).float_data({1}).int32_data({-1}, Repeated::unpacked);
  all.int64_data({1, 2}).double_data({1}, Repeated::unpacked).uint64_data({7}).raw_data(pattern(12));
  EXPECT_EQ(edited(all, link("w", 12)), linked.str());
}

TEST(Rewrite, RemovesUnpackedValuesAmongOtherFields) {
  const auto value = [](std::uint32_t bits) { return Message().fixed32(tensor_field::float_data, bits); };
  const Message name = Message().string(tensor_field::name, "w");
  const Message other = Message().varint(4000, 1);
  const Message scattered = Message().raw(value(1)).raw(value(2)).raw(name).raw(value(3)).raw(other).raw(value(4));
  EXPECT_EQ(edited(scattered, put_inline(pattern(16))),
            Message().raw(name).raw(other).bytes(tensor_field::raw_data, pattern(16)).str());
}

TEST(Rewrite, RepeatedRawDataIsRemovedWhole) {
  const Message twice = Message().bytes(tensor_field::raw_data, pattern(9)).bytes(tensor_field::raw_data, pattern(4));
  EXPECT_EQ(edited(twice, link("w", 4)), onnx::external_data_fields({"w", 0, 4}));
}

TEST(Rewrite, RemovesStaleExternalDataWithTheData) {
  const TensorBuilder bare = tensor("w", dtype::uint8, {4});
  const Message stale = TensorBuilder(bare)
                            .raw_data(pattern(4))
                            .external_data("location", "old")
                            .external_data("x", "y")
                            .data_location(1)
                            .data_location(0);
  const TensorBuilder kept = TensorBuilder(bare).data_location(0);
  EXPECT_EQ(edited(stale, link("w", 4)), kept.message().str() + onnx::external_data_fields({"w", 0, 4}));
  EXPECT_EQ(edited(stale, put_inline(pattern(4))), TensorBuilder(kept).raw_data(pattern(4)).message().str());
}

TEST(Rewrite, LinkFollowsAnExplicitDefaultLocation) {
  const Message head = Message().varint(tensor_field::dims, 4).varint(tensor_field::data_type, dtype::uint8);
  const Message stays = Message().varint(tensor_field::data_location, 0);
  const Message tail = Message().message(tensor_field::metadata_props, string_entry("k", "v"));
  const Message inside = Message().raw(head).bytes(tensor_field::raw_data, pattern(4)).raw(stays).raw(tail);
  const std::string fields = onnx::external_data_fields({"w", 0, 4});
  const Message outside = Message().raw(head).raw(stays).raw(as_bytes(fields)).raw(tail);
  EXPECT_EQ(edited(inside, link("w", 4)), outside.str());
  EXPECT_EQ(edited(outside, link("w", 4)), outside.str());
  EXPECT_EQ(edited(outside, put_inline(pattern(4))), inside.str());
}

TEST(Rewrite, LinkPrecedesGreaterFieldsOfUnorderedTensor) {
  const Message head = Message().varint(tensor_field::dims, 4).varint(tensor_field::data_type, dtype::uint8);
  const Message tail = Message().message(tensor_field::metadata_props, string_entry("k", "v"));
  const Message stale = Message().message(tensor_field::external_data, string_entry("location", "old"));
  const std::string fields = onnx::external_data_fields({"w", 0, 4});
  EXPECT_EQ(edited(Message().raw(head).raw(tail).raw(stale), link("w", 4)),
            Message().raw(head).raw(as_bytes(fields)).raw(tail).str());
}

TEST(Rewrite, StringsAndUnknownFieldsStay) {
  const Message odd = Message().string(tensor_field::string_data, "s").fixed64(15, 7).string(1000, "unknown");
  EXPECT_EQ(edited(odd, put_inline(pattern(4))), Message()
                                                     .string(tensor_field::string_data, "s")
                                                     .bytes(tensor_field::raw_data, pattern(4))
                                                     .fixed64(15, 7)
                                                     .string(1000, "unknown")
                                                     .str());
}

TEST(Rewrite, AFieldOfAnotherWireTypeIsUnknownAndStays) {
  const Message odd = Message().varint(tensor_field::float_data, 7).varint(tensor_field::raw_data, 8);
  EXPECT_EQ(edited(odd, link("w", 4)), odd.str() + onnx::external_data_fields({"w", 0, 4}));
}

TEST(Rewrite, KeepsPaddedLengthsAndTheirWidth) {
  const auto padded_model = [](const Message& tensor) {
    const Message graph = Message().padded_length_message(graph_field::initializer, tensor, 4).padded_varint(77, 1, 6);
    return Message().padded_varint(model_field::ir_version, 8, 3).padded_length_message(model_field::graph, graph, 5);
  };
  const Blob inside = padded_model(raw_tensor("w", 5000)).take();
  const Blob outside = padded_model(linked_tensor("w", 5000)).take();
  EXPECT_EQ(rewritten(inside, link_raw), outside);
  EXPECT_EQ(rewritten(outside, put_linked_inline), inside);
}

TEST(Rewrite, MetadataIsRemovedAndNewPairsFollowTheOthers) {
  const auto in_model = [](const Messages& metadata) {
    return model({.graph = graph({.initializers = {raw_tensor("w", 300)}}), .metadata = metadata})
        .string(model_field::metadata_props + 1, "unknown");
  };
  const Message keep = string_entry("keep", "1"), drop = string_entry("drop.1", "2"), add = string_entry("add", "3");
  const Blob before = in_model({drop, keep, drop, drop}).take();
  const auto nothing = [](const onnx::TensorSite&) { return TensorEdit::keep(); };
  const auto edited = [&](std::string_view prefix, std::string added) {
    return onnx::rewrite_tensors(before, nothing, {prefix, std::move(added)}).flat();
  };
  const std::string field = Message().message(model_field::metadata_props, add).str();
  EXPECT_EQ(edited("drop.", ""), in_model({keep}).view());
  EXPECT_EQ(edited("drop.", field), in_model({keep, add}).view());
  EXPECT_EQ(edited("", field), in_model({drop, keep, drop, drop, add}).view());
  EXPECT_EQ(edited("", ""), before);
}

TEST(Rewrite, ReportsFaultsOfTheWalk) {
  const Blob model =
      testing::model({.graph = subgraph_of_depth(33, graph({.initializers = {raw_tensor("w", 4)}}))}).take();
  EXPECT_EQ(id(error_of([&model] { onnx::rewrite_tensors(model, link_raw); }).code()), "wire.depth");
  EXPECT_EQ(id(error_of([] { onnx::rewrite_tensors({}, link_raw); }).code()), "onnx.model.invalid");
}

}  // namespace
}  // namespace onnxar::testing
