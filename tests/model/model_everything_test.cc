// Every site and every data type, through Model::load and Model::save in every form.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "onnx/sites.h"
#include "support/model_samples.h"
#include "support/random_models.h"

namespace onnxar::testing {
namespace {

constexpr std::size_t size = 2000;

/// A tensor whose name is its number. Each has different data.
Message numbered(std::uint32_t number) {
  return tensor(std::to_string(number), dtype::uint8, {size}).raw_data(pattern(size, number));
}

Message sparse(std::uint32_t number) {
  return sparse_tensor(numbered(number), tensor("indices", dtype::int64, {1}).raw_data(pattern(8)), {9});
}

constexpr std::uint32_t sites = 17;

/// A numbered tensor at every kind of site.
Message model_of_every_site() {
  const Message subgraph = graph({.nodes = {constant("y", numbered(0))}, .initializers = {numbered(1)}});
  const Message many = node("Many", {}, {"z"},
                            {attribute_t("t", numbered(2)), attribute_tensors("tensors", {numbered(3), numbered(4)}),
                             attribute_sparse_tensor("sparse", sparse(5)),
                             attribute_sparse_tensors("more", {sparse(6), sparse(7)}), attribute_g("body", subgraph),
                             attribute_graphs("cases", {graph({.initializers = {numbered(8)}}),
                                                        graph({.sparse_initializers = {sparse(9)}})})});
  const Message body = node("Constant", {}, {"y"}, {attribute_t("value", numbered(10))});
  return model(
      {.graph = graph({.nodes = {many}, .initializers = {numbered(11)}, .sparse_initializers = {sparse(12)}}),
       .functions = {function({.nodes = {body},
                               .attribute_protos = {attribute_t("default", numbered(13)),
                                                    attribute_g("graph", graph({.initializers = {numbered(14)}}))}})},
       .training = {
           training_info(graph({.initializers = {numbered(15)}}), graph({.nodes = {constant("y", numbered(16))}}))}});
}

/// Payloads of the numbered tensors by site.
std::map<std::string, Blob> payloads_by_site(const Model& model) {
  std::map<std::string, Blob> all;
  for_each_tensor(model.proto(), [&](const schema::TensorProto& tensor, const TensorInfo& info) {
    if (info.name == "indices") return;
    EXPECT_TRUE(all.emplace(info.site, copied(model.payload(tensor))).second) << info.site;
  });
  return all;
}

std::map<std::string, Blob> expected_payloads() {
  std::map<std::string, Blob> all;
  onnx::walk_tensors(model_of_every_site().view(), [&](const onnx::TensorSite& site) {
    if (site.tensor.name != "indices") {
      all.emplace(site.path(), pattern(size, static_cast<std::uint32_t>(std::stoul(std::string(site.tensor.name)))));
    }
  });
  return all;
}

void expect_every_form(const Model& model, const std::map<std::string, Blob>& expected) {
  for (const Format format : {Format::archive, Format::onnx_external, Format::onnx_inline}) {
    const TempDir folder;
    SaveOptions options = saved_as(format);
    options.all_sites = true;
    const ConvertReport report = model.save(folder / "out", options);
    EXPECT_EQ(report.tensors_outside, format == Format::onnx_inline ? 0 : expected.size());
    for (const bool no_copy : {true, false}) {
      EXPECT_EQ(payloads_by_site(Model::load(folder / "out", with_no_copy(no_copy))), expected);
      if (format == Format::onnx_external) continue;
      const Blob bytes = folder.read_file("out");
      EXPECT_EQ(payloads_by_site(Model::load(bytes, with_no_copy(no_copy))), expected);
    }
  }
}

TEST(Everything, EverySiteIsInTheTableAndInEveryForm) {
  const Message proto = model_of_every_site();
  ASSERT_EQ(expected_payloads().size(), sites);
  const Blob& bytes = proto.view();
  const Model model = Model::load(bytes, with_no_copy(true));
  EXPECT_EQ(payloads_by_site(model), expected_payloads());
  for_each_tensor(model.proto(), [&](const schema::TensorProto& tensor, const TensorInfo& info) {
    if (info.name == "indices") return;
    EXPECT_TRUE(lies_in(model.span(tensor).bytes(), bytes)) << info.site;
  });
  expect_every_form(model, expected_payloads());
}

TEST(Everything, EverySiteIsConsolidated) {
  Model model = Model::load(model_of_every_site().view());
  const auto buffer = consolidate_tensors_to_buffer(model, {.alignment = 64});
  for_each_tensor(model.proto(), [&](schema::TensorProto& tensor, const TensorInfo& info) {
    if (info.name == "indices") return;
    EXPECT_EQ(model.span(tensor).owner(), buffer) << info.site;
  });
  expect_every_form(model, expected_payloads());
}

TEST(Everything, AnInlineModelComesBackAsProtobufWritesIt) {
  const TempDir folder;
  const Message proto = model_of_every_site();
  Model::load(folder.write_file("m", proto.view())).save(folder / "back", saved_as(Format::onnx_inline));
  EXPECT_EQ(folder.read_text("back"), parsed(proto).SerializeAsString());
}

// --- types ----------------------------------------------------------------------------------------------------------

/// One tensor of each known type except strings, and two of unknown types.
Message model_of_every_type() {
  Messages tensors;
  for (std::uint64_t type = 1; type <= 30; ++type) {
    if (type == dtype::string) continue;
    const std::uint64_t bits = bits_per_element(static_cast<DataType>(type));
    const std::uint64_t elements = bits == 0 ? 5 : size * 8 / bits;
    tensors.push_back(
        tensor(std::to_string(type), type, {static_cast<std::int64_t>(elements)}).raw_data(pattern(size, 7)));
  }
  return model_of(tensors);
}

TEST(Everything, EveryDataTypeIsCarriedByItsBytes) {
  const Message proto = model_of_every_type();
  const Model model = Model::load(proto.view());
  const std::map<std::string, Blob> payloads = payloads_by_site(model);
  ASSERT_EQ(payloads.size(), 29U);
  for (const auto& [site, bytes] : payloads) EXPECT_EQ(bytes, pattern(size, 7)) << site;
  for (const schema::TensorProto& tensor : model.proto().graph().initializer()) {
    EXPECT_TRUE(model.span(tensor).owned()) << tensor.name();
  }
  const TempDir folder;
  for (const Format format : {Format::archive, Format::onnx_external, Format::onnx_inline}) {
    const ConvertReport report = model.save(folder / "out", saved_as(format, over_existing));
    EXPECT_EQ(report.tensors_outside, format == Format::onnx_inline ? 0 : 29);
    EXPECT_EQ(payloads_by_site(Model::load(folder / "out")), payloads);
    EXPECT_EQ(folder.read_file("out") == proto.view(), format == Format::onnx_inline);
  }
}

TEST(Everything, PackedTypesRoundTheLastByteUp) {
  for (const auto& [type, elements] : std::vector<std::pair<std::uint64_t, std::int64_t>>{{dtype::int4, 3999},
                                                                                          {dtype::uint4, 4000},
                                                                                          {dtype::float4e2m1, 3999},
                                                                                          {dtype::int2, 7997},
                                                                                          {dtype::uint2, 7999}}) {
    Model model;
    auto& tensor = add_initializer(model, "w", type, {elements});
    EXPECT_NO_THROW(model.set_payload(tensor, ByteSpan::own(pattern(2000)))) << type;
    EXPECT_EQ(error_of([&] { model.set_payload(tensor, ByteSpan::own(pattern(1999))); }).code(),
              Code::onnx_tensor_length);
  }
}

TEST(Everything, StringsStayInTheirMessages) {
  const std::vector<std::string> texts(200, std::string(50, 'x'));
  const Message proto = model_of({tensor("s", dtype::string, {200}).string_data(texts)});
  const Model model = Model::load(proto.view());
  EXPECT_EQ(initializer(model, 0).string_data_size(), 200);
  const TempDir folder;
  model.save(folder / "out", saved_as(Format::archive));
  const Model again = Model::load(folder / "out");
  EXPECT_EQ(initializer(again, 0).string_data(199), texts.back());
}

// --- the walk -------------------------------------------------------------------------------------------------------

using Sites = std::map<std::string, std::string>;  // names by site

Sites sites_by_message(const schema::ModelProto& model) {
  Sites found;
  for_each_tensor(model, [&](const schema::TensorProto& tensor, const TensorInfo& info) {
    EXPECT_TRUE(found.emplace(info.site, info.name).second) << info.site;
    EXPECT_EQ(info.name, tensor.name());
    EXPECT_EQ(static_cast<std::int32_t>(info.type), tensor.data_type());
    EXPECT_EQ(info.dims, Dims(tensor.dims().begin(), tensor.dims().end()));
  });
  return found;
}

Sites sites_on_the_wire(Bytes model) {
  Sites found;
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) { found.emplace(site.path(), site.tensor.name); });
  return found;
}

TEST(ForEachTensor, SitesAreNamedAsOnTheWire) {
  const Message proto = model_of_every_site();
  const Model model = Model::load(proto.view());
  EXPECT_EQ(sites_by_message(model.proto()), sites_on_the_wire(proto.view()));
  EXPECT_TRUE(sites_by_message(model.proto()).contains("graph.node[0].attr.body.node[0].attr.value"));
  EXPECT_TRUE(sites_by_message(model.proto()).contains("functions[0].attribute_proto.default"));
}

TEST(ForEachTensor, EveryOverloadVisitsTheSame) {
  Model model = Model::load(model_of_every_site().view());
  std::vector<std::string> plain, with_info;
  for_each_tensor(model.proto(), [&](schema::TensorProto& tensor) { plain.push_back(tensor.name()); });
  for_each_tensor(model.proto(), [&](schema::TensorProto& tensor, const TensorInfo& info) {
    with_info.push_back(tensor.name());
    tensor.set_name(info.site);
  });
  EXPECT_EQ(plain, with_info);
  for (const auto& [site, name] : sites_by_message(model.proto())) EXPECT_EQ(name, site) << "a tensor may be changed";
}

}  // namespace
}  // namespace onnxar::testing
