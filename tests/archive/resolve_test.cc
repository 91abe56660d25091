// `resolve` finds the bytes of tensors of any generated class. The tests use two: the library's own, and a proto3 class
// of a different package without reflection (other_runtime.proto).
#include "onnxar/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "archive/allocations.h"
#include "archive/opened.h"
#include "archive/other_runtime.pb.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/tensors.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t count = 300;
const Blob weight = pattern(4 * count, 1);

/// An archive with the entry `w` and a model.
Archive archive_with(const Message& model) { return opened(archive_of(model, {zip_entry("w", weight)}).bytes); }

template <typename Model>
class Resolve : public ::testing::Test {
 protected:
  /// The result of `resolve` for the only tensor of a model that is read from an archive.
  std::optional<Blob> data_of(const Message& tensor) {
    const Archive archive = archive_with(model_of({tensor}));
    parse(archive);
    const std::optional<Bytes> data = resolve(archive, model_.graph().initializer(0));
    return data ? std::optional(copy_of(*data)) : std::nullopt;
  }

  void expect_refused(const Message& tensor, Code code) {
    const Error error = error_of([&] { static_cast<void>(data_of(tensor)); });
    expect_error(error, code, "", std::nullopt);
    EXPECT_THAT(error.message(), StartsWith("tensor \"t\": "));
  }

  void parse(const Archive& archive) {
    if (!model_.ParseFromArray(archive.model().data(), static_cast<int>(archive.model().size()))) {
      throw std::runtime_error("protobuf cannot parse the model");
    }
  }

  Model model_;
};

using Classes = ::testing::Types<schema::ModelProto, other_runtime::Model>;
TYPED_TEST_SUITE(Resolve, Classes);

TensorBuilder floats_t() { return tensor("t", dtype::float32, {count}); }
TensorBuilder linked(const Pairs& pairs) {
  TensorBuilder built = floats_t().data_location(1);
  for (const auto& [key, value] : pairs) built.external_data(key, value);
  return built;
}

TYPED_TEST(Resolve, ExternalDataIsTheEntrysBytesInPlace) {
  const Archive archive = archive_with(model_of({linked_floats("t", count, "w")}));
  this->parse(archive);
  const auto data = resolve(archive, this->model_.graph().initializer(0));
  ASSERT_TRUE(data);
  EXPECT_EQ(data->data(), archive.resolve("w").data());
  EXPECT_EQ(copy_of(*data), weight);
}

TYPED_TEST(Resolve, OffsetAndLengthChooseAPart) {
  const Message part = tensor("t", dtype::float32, {10}).external("w", 8, 40);
  EXPECT_EQ(this->data_of(part), copy_of(Bytes(weight).subspan(8, 40)));
}

TYPED_TEST(Resolve, WithoutALengthTypeAndDimsDetermineIt) {
  EXPECT_EQ(this->data_of(tensor("t", dtype::float32, {10}).external("w", 8)), copy_of(Bytes(weight).subspan(8, 40)));
  constexpr std::uint64_t unknown_type = 1000;
  EXPECT_EQ(this->data_of(tensor("t", unknown_type, {10}).external("w", 8)), copy_of(Bytes(weight).subspan(8)));
}

TYPED_TEST(Resolve, RawDataIsInTheMessage) {
  EXPECT_EQ(this->data_of(floats_t().raw_data(weight)), weight);
  EXPECT_EQ(this->data_of(floats_t().raw_data(pattern(4 * count + 1))), pattern(4 * count + 1));  // it may be longer
  EXPECT_EQ(this->data_of(tensor("t", dtype::float32, {0}).raw_data({})), Blob());
  EXPECT_EQ(this->data_of(tensor("t", dtype::float32, {0})), Blob());
  EXPECT_EQ(this->data_of(tensor("t", dtype::uint4, {3}).raw_data(pattern(2))), pattern(2));
}

TYPED_TEST(Resolve, TypedFieldsAreForTheCallerToRead) {
  EXPECT_EQ(this->data_of(tensor("t", dtype::float32, {1}).float_data({1})), std::nullopt);
  EXPECT_EQ(this->data_of(tensor("t", dtype::int8, {1}).int32_data({1})), std::nullopt);
  EXPECT_EQ(this->data_of(tensor("t", dtype::int64, {1}).int64_data({1})), std::nullopt);
  EXPECT_EQ(this->data_of(tensor("t", dtype::float64, {1}).double_data({1})), std::nullopt);
  EXPECT_EQ(this->data_of(tensor("t", dtype::uint64, {1}).uint64_data({1})), std::nullopt);
  EXPECT_EQ(this->data_of(tensor("t", dtype::string, {1}).string_data({"s"})), std::nullopt);
  EXPECT_EQ(this->data_of(tensor("t", dtype::string, {0})), std::nullopt);
}

TYPED_TEST(Resolve, RefusesWhatCheckCallsAnError) {
  constexpr std::int64_t half = std::int64_t{1} << 40U;
  const auto raw = [] { return floats_t().raw_data(weight); };
  const std::pair<Code, Messages> refused[] = {
      {Code::onnx_external_bad_offset, {linked({{"location", "w"}, {"offset", "-1"}})}},
      {Code::onnx_external_bad_length, {linked({{"location", "w"}, {"length", "01"}})}},
      {Code::onnx_external_no_location, {linked({}), linked({{"location", ""}})}},
      {Code::onnx_external_missing, {linked({{"location", "v"}}), linked({{"location", "W"}})}},
      {Code::onnx_external_duplicate_key, {linked({{"location", "w"}, {"location", "w"}})}},
      {Code::onnx_external_marker,
       {linked({{"location", "*/_ORT_MEM_ADDR_/*"}}), linked({{"location", "#onnxar:1:0"}})}},
      {Code::onnx_external_out_of_range,
       {linked({{"location", "w"}, {"offset", "4"}}), linked({{"location", "w"}, {"offset", "18446744073709551615"}})}},
      {Code::onnx_external_data_beside,
       {linked({{"location", "w"}}).raw_data(weight), linked({{"location", "w"}}).float_data({1})}},
      {Code::onnx_external_string, {tensor("t", dtype::string, {1}).external("w")}},
      {Code::onnx_tensor_length,
       {linked({{"location", "w"}, {"length", "1199"}}), floats_t(), floats_t().raw_data(pattern(4 * count - 1)),
        tensor("t", dtype::float32, {count + 1}).external("w", 0, 1200),
        tensor("t", dtype::float32, {0}).raw_data(weight)}},
      {Code::onnx_tensor_dims,
       {tensor("t", dtype::float32, {-1}).external("w"), tensor("t", dtype::float32, {half, half}).external("w")}},
      {Code::onnx_tensor_data_beside, {raw().float_data({1}), raw().int32_data({1})}},
      {Code::onnx_tensor_wrong_field, {tensor("t", dtype::string, {1}).raw_data(weight)}},
      {Code::onnx_tensor_no_type,
       {tensor("t", dtype::undefined, {1}).raw_data(weight), tensor("t", dtype::undefined, {1}).external("w")}},
  };
  for (const auto& [code, tensors] : refused) {
    for (const Message& tensor : tensors) this->expect_refused(tensor, code);
  }
}

TYPED_TEST(Resolve, IgnoresPairsWithoutExternalDataLocation) {
  EXPECT_EQ(this->data_of(floats_t().raw_data(weight).external_data("location", "v")), weight);
}

TYPED_TEST(Resolve, FaultOfAnEntryNamesPlaceTensorAndFile) {
  const TempDir folder;
  Built built = archive_of(model_of({linked_floats("t", count, "w")}), {zip_entry("w", weight)});
  flip_bit(built.bytes, built.entry("w").header_offset + 6);
  const auto path = folder.write_file("a", built.bytes);
  const Archive archive = Archive::open(path);
  this->parse(archive);
  const Error error = error_of([&] { static_cast<void>(resolve(archive, this->model_.graph().initializer(0))); });
  expect_error(error, Code::zip_local_field, "w", 0);
  EXPECT_EQ(error.path(), path);
  EXPECT_THAT(error.message(), StartsWith("tensor \"t\": "));
}

/// A model with tensors at every kind of site, named "0", "1", ..., each with the byte of that number of `w`.
Message model_of_every_site(int& made) {
  const auto next = [&made] {
    const int i = made++;
    return tensor(std::to_string(i), dtype::uint8, {1}).external("w", static_cast<std::uint64_t>(i), 1);
  };
  const auto sparse = [&next] { return sparse_tensor(next(), next(), {9}); };
  const Message inner = graph({.nodes = {constant("y", next())}, .initializers = {next()}});
  const Message many =
      node("Many", {}, {},
           {attribute_t("t", next()), attribute_tensors("tensors", {next(), next()}),
            attribute_sparse_tensor("s", sparse()), attribute_sparse_tensors("m", {sparse(), sparse()}),
            attribute_g("body", inner), attribute_graphs("cases", {graph({.initializers = {next()}})})});
  return model(
      {.graph = graph({.nodes = {many}, .initializers = {next(), next()}, .sparse_initializers = {sparse()}}),
       .functions = {function({.nodes = {constant("y", next())}, .attribute_protos = {attribute_t("d", next())}})},
       .training = {training_info(graph({.initializers = {next()}}), graph({.nodes = {constant("y", next())}}))}});
}

TYPED_TEST(Resolve, AllTensorsAreVisitedWhereverTheyAre) {
  int made = 0;
  const Archive archive = archive_with(model_of_every_site(made));
  this->parse(archive);
  std::map<std::string, int> seen;
  resolve_all(archive, this->model_, [&](const auto& tensor, std::optional<Bytes> data) {
    ++seen[tensor.name()];
    ASSERT_TRUE(data);
    EXPECT_EQ(data->data(), archive.resolve("w").data() + std::stoi(tensor.name()));
    EXPECT_EQ(data->size(), 1U);
  });
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(made));
  for (const auto& [name, times] : seen) EXPECT_EQ(times, 1) << name;
}

TYPED_TEST(Resolve, ReportsTheSiteOfEachTensor) {
  int made = 0;
  const Archive archive = archive_with(model_of_every_site(made));
  this->parse(archive);
  std::map<std::string, std::string> sites;
  resolve_all(archive, this->model_, [&](const auto& tensor, std::optional<Bytes>, const TensorPlace& place) {
    sites.emplace(tensor.name(), place.site);
  });
  EXPECT_EQ(sites.size(), static_cast<std::size_t>(made));
  for (const StoredTensor& tensor : tensors(archive)) EXPECT_EQ(sites[tensor.name], tensor.site);
}

TYPED_TEST(Resolve, MakesNoSitesForVisitorWithoutPlace) {
  int made = 0;
  const Archive archive = archive_with(model_of_every_site(made));
  this->parse(archive);
  const auto allocations = [&](const auto& visit) {
    const std::size_t before = allocations_so_far();
    resolve_all(archive, this->model_, visit);
    return allocations_so_far() - before;
  };
  EXPECT_LT(allocations([](const auto&, const auto&) {}),
            allocations([](const auto&, const auto&, const TensorPlace&) {}));
}

TYPED_TEST(Resolve, NumbersTheGraphsThatHaveTensors) {
  const auto named_w = [] { return Messages{tensor("w", dtype::uint8, {1}).raw_data(pattern(1))}; };
  const Message branches = node("If", {"c"}, {"y"},
                                {attribute_g("then_branch", graph({.initializers = named_w()})),
                                 attribute_g("else_branch", graph({.initializers = named_w()}))});
  const Message body = constant("y", named_w().front());
  const Archive archive =
      archive_with(model({.graph = graph({.nodes = {branches}, .initializers = named_w()}),
                          .functions = {function({.nodes = {body, body}}), function({.nodes = {body}})}}));
  this->parse(archive);
  std::map<std::size_t, std::vector<std::string>> sites;
  resolve_all(archive, this->model_,
              [&](const auto&, const auto&, const TensorPlace& place) { sites[place.graph].emplace_back(place.site); });
  using Sites = std::vector<std::string>;
  EXPECT_EQ(sites.at(0), Sites{"graph.initializer[0]"});
  std::vector<Sites> others;
  for (const auto& [number, found] : sites) {
    if (number != 0) others.push_back(found);
  }
  EXPECT_EQ(others, (std::vector<Sites>{{"graph.node[0].attr.then_branch.initializer[0]"},
                                        {"graph.node[0].attr.else_branch.initializer[0]"},
                                        {"functions[0].node[0].attr.value", "functions[0].node[1].attr.value"},
                                        {"functions[1].node[0].attr.value"}}));
}

TYPED_TEST(Resolve, WalkStopsAtTheFirstFault) {
  const Archive archive = archive_with(model_of({linked_floats("a", count, "w"), linked_floats("b", count, "none")}));
  this->parse(archive);
  int visits = 0;
  const Error error = error_of([&] { resolve_all(archive, this->model_, [&visits](const auto&, auto) { ++visits; }); });
  expect_error(error, Code::onnx_external_missing, "", std::nullopt);
  EXPECT_THAT(error.message(), HasSubstr("\"b\""));
  EXPECT_EQ(visits, 1);
}

// It is refused before any tensor is visited.
TYPED_TEST(Resolve, RefusesModelThatProtobufWouldMerge) {
  const Message twice = Message().raw(model_of({linked_floats("a", count, "w")})).raw(model_of({floats("b", 1)}));
  const Archive archive = archive_with(twice);
  this->parse(archive);
  int visits = 0;
  expect_error(error_of([&] { resolve_all(archive, this->model_, [&visits](const auto&, auto) { ++visits; }); }),
               {.code = Code::wire_repeated_message, .entry = "__MODEL_PROTO"});
  EXPECT_EQ(visits, 0);
}

TEST(TensorMessage, MayBeFilledInWithoutProtobuf) {
  const Archive archive = archive_with(model_of({}));
  const std::vector<std::int64_t> dims = {10};
  TensorMessage message;
  message.name = "t";
  message.type = DataType::float32;
  message.dims = dims;
  message.external = true;
  message.external_data = {{"location", "w"}, {"offset", "8"}};
  EXPECT_EQ(copy_of(resolve(archive, message).value()), copy_of(Bytes(weight).subspan(8, 40)));
}

}  // namespace
}  // namespace onnxar::testing
