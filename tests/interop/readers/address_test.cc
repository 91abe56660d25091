// Sessions of ONNX Runtime use the weights of a link in the archive's own pages, as long as the link is right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interop/readers/sessions.h"
#include "support/mappings.h"
#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

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

}  // namespace
}  // namespace onnxar::testing
