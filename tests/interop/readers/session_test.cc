// Archives in ONNX Runtime as its users get it: each way gives what the inline model gives, links from the archive's
// own pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interop/readers/running.h"
#include "onnx/typed_data.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/onnxruntime.h"
#include "support/mappings.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

// --- Ways to make a session ------------------------------------------------------------------------------------------

struct Way {
  std::string name;
  std::function<Ort::Session(const fs::path& archive, const Ort::SessionOptions& options)> session;
};

Ort::Session by_link_file(const fs::path& archive, const Ort::SessionOptions& options) {
  const fs::path link = fs::path(archive) += ".onnx";
  onnxar::link(archive, link, {.output = {.overwrite = true, .sync = false}});
  return ort::session_from_link(env(), link, options);
}

/// The second session is made from what the first one stored.
Ort::Session by_cache(const fs::path& archive, const Ort::SessionOptions& options) {
  const fs::path file = fs::path(archive) += ".stored";
  ort::session_from_cache(env(), archive, options, {.file = file});
  return ort::session_from_cache(env(), archive, options, {.file = file});
}

std::vector<Way> ways() {
  return {{"archive",
           [](const auto& path, const auto& options) { return ort::session_from_archive(env(), path, options); }},
          {"link", by_link_file},
          {"memory", [](const auto& path,
                        const auto& options) { return ort::session_from_memory(env(), Archive::open(path), options); }},
          {"cache", by_cache}};
}

ReplaceOptions unsynced_edit() { return {.output = {.sync = false}}; }

class SessionTest : public ::testing::Test {
 protected:
  fs::path packed(const fs::path& model) {
    const SaveOptions options = {.threshold = 0, .all_sites = true, .output = {.overwrite = true, .sync = false}};
    report_ = pack(model, folder_ / "m.onnxar", options);
    return folder_ / "m.onnxar";
  }
  /// Every way gives what the inline model gives.
  void expect_equal_outputs(const fs::path& model, const Tensors& inputs) {
    const Ort::SessionOptions options = plain_options();
    Ort::Session inline_session(env(), model.c_str(), options);
    const Tensors expected = run(inline_session, inputs);
    const fs::path archive = packed(model);
    for (const Way& way : ways()) {
      Ort::Session session = way.session(archive, options);
      EXPECT_EQ(ends_of(session), ends_of(inline_session)) << way.name;
      EXPECT_EQ(run(session, inputs), expected) << way.name;
    }
  }

  TempDir folder_;
  ConvertReport report_;
};

// --- Equal outputs ---------------------------------------------------------------------------------------------------

TEST_F(SessionTest, TransformerComputesTheSame) {
  const fs::path model = folder_ / "transformer.onnx";
  const std::string command = std::string(ONNXAR_PYTHON) + " -B " + ONNXAR_SOURCE_DIR +
                              "/examples/make_transformer.py --megabytes 3 " + model.string() + " > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::vector<std::int64_t> tokens = {0, 7, 200, 3, 3, 42, 255, 1};
  const Bytes bytes = std::as_bytes(std::span(tokens));
  const Tensors inputs = {{"tokens", {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {2, 4}, Blob(bytes.begin(), bytes.end())}}};
  expect_equal_outputs(model, inputs);
  EXPECT_GT(report_.payloads, 50U);
}

/// What stands in a file `input_0.pb`; nothing where it is no tensor of numbers.
std::optional<Tensor> read_tensor(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  const Blob bytes = read_file(path);
  schema::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  Tensor tensor{
      static_cast<ONNXTensorElementDataType>(proto.data_type()), {proto.dims().begin(), proto.dims().end()}, {}};
  const auto take = [&tensor](Bytes piece) { tensor.bytes.insert(tensor.bytes.end(), piece.begin(), piece.end()); };
  if (proto.has_raw_data()) {
    take(as_bytes(proto.raw_data()));
  } else {
    const auto source = onnx::typed_data_source(bytes, onnx::read_tensor(bytes, {0, bytes.size()}));
    if (!source) return std::nullopt;
    source->read(take);
  }
  return tensor;
}

bool is_tensor_of_numbers(const Ort::TypeInfo& type) {
  return type.GetONNXType() == ONNX_TYPE_TENSOR &&
         type.GetTensorTypeAndShapeInfo().GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
}

/// The inputs that come with a model of ONNX's own tests; nothing where not all of inputs and outputs are tensors of
/// numbers.
std::optional<Tensors> inputs_of(const fs::path& model, const Ort::Session& session) {
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i) {
    if (!is_tensor_of_numbers(session.GetOutputTypeInfo(i))) return std::nullopt;
  }
  Tensors inputs;
  for (const std::string& name : session.GetInputNames()) {
    const std::string file = "test_data_set_0/input_" + std::to_string(inputs.size()) + ".pb";
    const bool can_be_given = is_tensor_of_numbers(session.GetInputTypeInfo(inputs.size()));
    const auto tensor = can_be_given ? read_tensor(model.parent_path() / file) : std::nullopt;
    if (!tensor) return std::nullopt;
    inputs[name] = *tensor;
  }
  return inputs;
}

std::vector<fs::path> models_of_onnx() {
  const fs::path folder = "/usr/share/libonnx-testdata/data";
  std::vector<fs::path> models;
  if (!fs::is_directory(folder)) return models;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  }
  std::ranges::sort(models);
  return models;
}

TEST_F(SessionTest, OnnxTestModelsComputeTheSame) {
  const std::vector<fs::path> models = models_of_onnx();
  if (models.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  std::size_t compared = 0;
  std::vector<std::string> left_out;
  for (const fs::path& model : models) {
    SCOPED_TRACE(model);
    packed(model);
    if (report_.payloads == 0) continue;
    std::optional<Tensors> inputs;
    try {
      inputs = inputs_of(model, Ort::Session(env(), model.c_str(), plain_options()));
    } catch (const Ort::Exception& error) {
      left_out.push_back(model.string() + ": " + error.what());  // nor need it take an archive of it
      continue;
    }
    if (!inputs) {
      left_out.push_back(model.string() + ": not all inputs and outputs are tensors of numbers");
      continue;
    }
    expect_equal_outputs(model, *inputs);
    ++compared;
  }
  std::cout << compared << " models compared\n";
  for (const std::string& line : left_out) std::cout << "left out: " << line << '\n';
  EXPECT_GE(compared, 75U);
}

// --- In place --------------------------------------------------------------------------------------------------------

/// The operator `Address`: where its first input lies in memory. The second keeps it from being computed beforehand.
struct AddressKernel {
  void Compute(OrtKernelContext* kernel) {
    const Ort::KernelContext context(kernel);
    const std::vector<std::int64_t> shape = {1};
    *context.GetOutput(0, shape).GetTensorMutableData<std::int64_t>() =
        reinterpret_cast<std::int64_t>(context.GetInput(0).GetTensorRawData());
  }
};

struct AddressOp : Ort::CustomOpBase<AddressOp, AddressKernel> {
  void* CreateKernel(const OrtApi& /*api*/, const OrtKernelInfo* /*info*/) const { return new AddressKernel; }
  const char* GetName() const { return "Address"; }
  std::size_t GetInputTypeCount() const { return 2; }
  ONNXTensorElementDataType GetInputType(std::size_t /*index*/) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  std::size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(std::size_t /*index*/) const {
    if (when_asked) when_asked();  // as a session is made, before it opens data
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
  }

  std::function<void()> when_asked;
};

constexpr std::string_view domain = "onnxar.test";

Message weight(std::string_view name, std::uint32_t seed) {
  return tensor(name, dtype::float32, {1000}).raw_data(numbers({1000}, seed).bytes);
}
Message address(std::string_view of, std::string_view output) {
  return node("Address", {std::string(of), "x"}, {std::string(output)}, {}, domain);
}

/// A model that tells the addresses of an initializer, a constant, and an initializer of a subgraph.
Message model_of_addresses(std::uint32_t seed = 1) {
  const auto branch = [](std::string_view weights, std::uint32_t from) {
    return graph({.name = std::string(weights),
                  .nodes = {address(weights, std::string(weights) + "_at")},
                  .initializers = {weight(weights, from)},
                  .outputs = {value_info(std::string(weights) + "_at", dtype::int64, {1})}});
  };
  const Message choice = node(
      "If", {"condition"}, {"inner_at"},
      {attribute_g("then_branch", branch("inner", seed + 2)), attribute_g("else_branch", branch("other", seed + 3))});
  return model(
      {.graph =
           graph({.nodes = {address("w", "w_at"), constant("c", weight("c", seed + 1)), address("c", "c_at"), choice},
                  .initializers = {weight("w", seed)},
                  .inputs = {value_info("x", dtype::float32, {1}), value_info("condition", dtype::boolean, {1})},
                  .outputs = {value_info("w_at", dtype::int64, {1}), value_info("c_at", dtype::int64, {1}),
                              value_info("inner_at", dtype::int64, {1})}}),
       .opsets = {opset("", 17), opset(domain, 1)}});
}

class AddressTest : public SessionTest {
 protected:
  AddressTest() : domain_(std::string(domain).c_str()), options_(plain_options()) {
    domain_.Add(&op_);
    options_.Add(domain_);
    archive_ = packed(folder_.write_file("m.onnx", model_of_addresses().view()));
  }
  static const std::byte* address_in(const Tensors& outputs, const std::string& name) {
    std::int64_t address = 0;
    std::memcpy(&address, outputs.at(name).bytes.data(), sizeof(address));
    return reinterpret_cast<const std::byte*>(address);
  }
  Tensors run_model(Ort::Session& session) const {
    return run(session, {{"x", numbers({1}, 0)},
                         {"condition", {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, {1}, Blob(1, std::byte{1})}}});
  }

  AddressOp op_;
  Ort::CustomOpDomain domain_;
  Ort::SessionOptions options_;
  fs::path archive_;
};

TEST_F(AddressTest, LinkedWeightsLieInTheArchivesFileAtEverySite) {
  const Archive archive = Archive::open(archive_);
  for (const Way& way : {ways().at(0), ways().at(1)}) {
    Ort::Session session = way.session(archive_, options_);
    const Tensors addresses = run_model(session);
    for (const auto& [output, entry] :
         {std::pair("w_at", "w"), std::pair("c_at", "c"), std::pair("inner_at", "inner")}) {
      const std::byte* at = address_in(addresses, output);
      const auto place = mapped_place_at(at);
      EXPECT_EQ(place.path, fs::canonical(archive_)) << way.name << " " << output;
      EXPECT_EQ(place.offset, archive.locate(*archive.find(entry)).offset) << way.name << " " << output;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0U);
    }
  }
}

// --- Lifetimes -------------------------------------------------------------------------------------------------------

TEST_F(AddressTest, SessionOutlivesTheArchiveAndItsName) {
  for (const Way& way : ways()) {
    packed(folder_ / "m.onnx");
    Ort::Session session = way.session(archive_, options_);
    const Tensors before = run_model(session);
    fs::remove(archive_);
    EXPECT_EQ(run_model(session), before) << way.name;
  }
}

TEST_F(AddressTest, ArchiveThatIsOpenNeedsNoFile) {
  auto archive = std::make_unique<Archive>(Archive::open(archive_));
  fs::remove(archive_);
  Ort::Session session = ort::session_from_memory(env(), *archive, options_);
  const std::weak_ptr<const void> mapping = archive->owner();
  archive.reset();
  EXPECT_TRUE(mapping.expired()) << "a session that has its own copy keeps nothing of it";
  const std::byte* at = address_in(run_model(session), "w_at");
  EXPECT_EQ(Blob(at, at + 4000), numbers({1000}, 1).bytes);
}

TEST_F(AddressTest, ArchiveMayBeInMemory) {
  const Blob bytes = read_file(archive_);
  Ort::Session session = ort::session_from_memory(env(), Archive::open(bytes, nullptr), options_);
  const std::byte* at = address_in(run_model(session), "w_at");
  EXPECT_EQ(Blob(at, at + 4000), numbers({1000}, 1).bytes);
}

TEST_F(AddressTest, SymbolicLinkToAnArchiveIsFollowed) {
  // As Hugging Face's cache has it: a name that leads to a blob in another folder.
  fs::create_directory(folder_ / "snapshot");
  fs::create_symlink("../m.onnxar", folder_ / "snapshot/model.onnxar");
  Ort::Session session = ort::session_from_archive(env(), folder_ / "snapshot/model.onnxar", options_);
  EXPECT_EQ(mapped_file_at(address_in(run_model(session), "w_at")), fs::canonical(archive_));
}

TEST_F(AddressTest, ArchiveInAnotherFileIsMappedFromThere) {
  const Blob bytes = read_file(archive_);
  constexpr std::uint64_t begin = 12352;  // 64 more than pages
  Blob host = pattern(begin, 7);
  host.insert(host.end(), bytes.begin(), bytes.end());
  const fs::path path = folder_.write_file("host", host);
  Ort::Session session = ort::session_from_archive(env(), path, options_, {.offset = begin, .length = bytes.size()});
  const auto place = mapped_place_at(address_in(run_model(session), "w_at"));
  const Archive archive = Archive::open(archive_);
  EXPECT_EQ(place.path, fs::canonical(path));
  EXPECT_EQ(place.offset, begin + archive.locate(*archive.find("w")).offset);
}

// --- Several graphs --------------------------------------------------------------------------------------------------

TEST_F(AddressTest, SessionsOfGraphsShareWeightsInTheFile) {
  const fs::path family = folder_ / "family.onnxar";
  pack(std::vector<ModelFile>{{folder_ / "m.onnx", "one"}, {folder_ / "m.onnx", "two"}}, family,
       {.output = {.sync = false}});
  const Archive archive = Archive::open(family);
  EXPECT_EQ(archive.graphs().size(), 1U);
  for (const std::string graph : {"", "one", "two"}) {
    Ort::Session session = ort::session_from_archive(env(), family, options_, {.graph = graph});
    const auto place = mapped_place_at(address_in(run_model(session), "w_at"));
    EXPECT_EQ(place.path, fs::canonical(family));
    EXPECT_EQ(place.offset, archive.locate(*archive.find("w")).offset) << graph;
  }
  Ort::Session copied = ort::session_from_memory(env(), archive.graph("two"), options_);
  EXPECT_EQ(run_model(copied).size(), 3U);
  EXPECT_EQ(code_of([&] { ort::session_from_archive(env(), family, options_, {.graph = "three"}); }),
            Code::usage_no_such_entry);
}

// --- Stale links -----------------------------------------------------------------------------------------------------

TEST_F(AddressTest, LinkHoldsAfterReplaceAndIsRefusedAfterPacking) {
  const fs::path link = folder_ / "link.onnx";
  onnxar::link(archive_, link, {.output = {.overwrite = false, .sync = false}});
  const Message other = model({.graph = graph({.initializers = {weight("other", 9)}})});
  onnxar::replace(archive_, folder_.write_file("other.onnx", other.view()), unsynced_edit());
  Ort::Session session = ort::session_from_link(env(), link, options_);
  const std::byte* at = address_in(run_model(session), "w_at");
  EXPECT_EQ(Blob(at, at + 4000), numbers({1000}, 1).bytes);
  packed(folder_ / "other.onnx");
  EXPECT_EQ(code_of([&] { ort::session_from_link(env(), link, options_); }), Code::onnx_link_stale);
}

TEST_F(AddressTest, SessionRefusesArchiveReplacedDuringCreation) {
  const fs::path other = folder_ / "other.onnxar", link = folder_ / "link.onnx";
  const auto code_of_session = [&](const std::function<Ort::Session()>& make) {
    packed(folder_ / "m.onnx");
    onnxar::link(archive_, link, {.output = {.overwrite = true, .sync = false}});
    pack(folder_.write_file("other.onnx", model_of_addresses(50).view()), other,
         {.threshold = 0, .all_sites = true, .output = {.sync = false}});
    op_.when_asked = [&] {
      if (fs::exists(other)) fs::rename(other, archive_);
    };
    const auto code = code_of([&] { make(); });
    op_.when_asked = {};
    EXPECT_FALSE(fs::exists(other));
    return code;
  };
  EXPECT_EQ(code_of_session([&] { return ort::session_from_archive(env(), archive_, options_); }),
            Code::onnx_link_stale);
  EXPECT_EQ(code_of_session(
                [&] { return ort::session_from_cache(env(), archive_, options_, {.file = folder_ / "none/stored"}); }),
            Code::onnx_link_stale);
  EXPECT_EQ(code_of_session([&] { return ort::session_from_link(env(), link, options_); }), Code::onnx_link_stale);
}

TEST_F(AddressTest, SessionRefusesLinkReplacedDuringCreation) {
  const fs::path link = folder_ / "link.onnx";
  onnxar::link(archive_, link, {.output = {.sync = false}});
  fs::last_write_time(link, fs::last_write_time(link) - std::chrono::hours(1));
  op_.when_asked = [&] {
    packed(folder_.write_file("other.onnx", model_of_addresses(50).view()));
    onnxar::link(archive_, link, {.output = {.overwrite = true, .sync = false}});
  };
  EXPECT_EQ(code_of([&] { ort::session_from_link(env(), link, options_); }), Code::io_changed);
}

TEST_F(SessionTest, PlainModelsAreNoLinksAndLoad) {
  const Message model = testing::model(
      {.graph = graph({.nodes = {node("Add", {"x", "w"}, {"y"})},
                       .initializers = {tensor("w", dtype::float32, {2}).raw_data(numbers({2}, 5).bytes)},
                       .inputs = {value_info("x", dtype::float32, {2})},
                       .outputs = {value_info("y", dtype::float32, {2})}})});
  const fs::path path = folder_.write_file("m.onnx", model.view());
  Ort::Session session = ort::session_from_link(env(), path, plain_options());
  EXPECT_EQ(run(session, {{"x", numbers({2}, 1)}}).at("y").shape, std::vector<std::int64_t>{2});
}

// --- Large tensors ---------------------------------------------------------------------------------------------------

class LargeTensorSlow : public SessionTest {};

/// A model that picks bytes of a tensor that no ModelProto can hold, in a file that is mostly a hole.
TEST_F(LargeTensorSlow, BeyondTwoGibibytesIsUsedInPlace) {
  constexpr std::int64_t size = (2LL << 30) + (64LL << 20);
  const fs::path archive = folder_ / "large.onnxar";
  const std::string script = "from support.sparse_archive import *; write_sparse_archive(Path('" + archive.string() +
                             "'), 1, " + std::to_string(size) + ")";
  const std::string command =
      std::string("PYTHONPATH=") + ONNXAR_SOURCE_DIR + "/tests " + ONNXAR_PYTHON + " -B -c \"" + script + "\"";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const Message model =
      testing::model({.graph = graph({.nodes = {node("Gather", {"w0", "x"}, {"y"})},
                                      .initializers = {tensor("w0", dtype::uint8, {size}).external("w0", 0, size)},
                                      .inputs = {value_info("x", dtype::int64, {3})},
                                      .outputs = {value_info("y", dtype::uint8, {3})}})});
  onnxar::replace(archive, folder_.write_file("m.onnx", model.view()), unsynced_edit());

  Tensor indices{ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {3}, {}};
  std::fstream file(archive, std::ios::binary | std::ios::in | std::ios::out);
  const Archive opened = Archive::open(archive);
  const auto begin = static_cast<std::int64_t>(opened.locate(*opened.find("w0")).offset);
  for (const auto& [at, mark] : {std::pair(std::int64_t{0}, 'a'), std::pair(size / 2, 'b'), std::pair(size - 1, 'c')}) {
    const Bytes bytes = std::as_bytes(std::span(&at, 1));
    indices.bytes.insert(indices.bytes.end(), bytes.begin(), bytes.end());
    file.seekp(begin + at).put(mark);
  }
  file.close();
  for (const Way& way : {ways().at(0), ways().at(1)}) {
    Ort::Session session = way.session(archive, plain_options());
    EXPECT_EQ(text_of(run(session, {{"x", indices}}).at("y").bytes), "abc") << way.name;
  }
}

}  // namespace
}  // namespace onnxar::testing
