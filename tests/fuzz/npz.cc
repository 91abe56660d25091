// Reads any bytes as a `.npy` and as a `.npz`. They are refused as a fault of the format, or the arrays have the stated
// size and lie at their places. `freeze` fills a model with them, or refuses them.
#include "model/npz.h"

#include <string>

#include "base/checked.h"
#include "fuzz/fuzz.h"
#include "fuzz/scratch.h"
#include "model/npy.h"
#include "onnxar/model/model.h"
#include "support/wire_builder.h"

namespace onnxar::fuzz::npz_target {
namespace {

/// The number of elements times the number at the end of the type.
void check_array(const std::string& descr, const std::vector<std::int64_t>& dims, Bytes data) {
  std::optional<std::uint64_t> size = std::stoull(descr.substr(2));
  for (const std::int64_t dim : dims) {
    require(dim >= 0, "no dimension is negative");
    if (size) size = base::checked_multiply(*size, static_cast<std::uint64_t>(dim));
  }
  const bool is_empty = std::ranges::find(dims, 0) != dims.end();
  require(is_empty ? data.empty() : size == data.size(), "the data has the size that type and shape call for");
}

void read_all(NpzFile& file, Bytes input) {
  for (const std::string& name : file.names()) {
    require(file.contains(name), "what is listed is there");
    const auto array = accepted([&] { return file.read(name); });
    if (!array) continue;
    check_array(array->descr, array->dims, array->data.bytes());
    require(!array->data.owned() && array->data.owner() != nullptr, "an array is a view that keeps its file");
    require(array->data.size() <= input.size() * 8, "what is inflated is bounded by the file");
  }
}

/// A model with two open values: the initializer `w` and the input `v`.
testing::Message open_model() {
  using namespace testing;  // NOLINT(google-build-using-namespace): the words of wire_builder
  const Message v = value_info("v", dtype::uint8, {3});
  return model({.graph = graph({.nodes = {node("Add", {"w", "v"}, {"y"})},
                                .initializers = {tensor("w", dtype::float32, {2})},
                                .inputs = {v},
                                .outputs = {value_info("y", dtype::float32, {2})}})});
}

void fill(const std::filesystem::path& path) {
  static const testing::Message message = open_model();
  Model model = Model::load(message.view());
  const FreezeOptions options = {.weights = path, .load = {.temporary_dir = scratch()}};
  const auto report = accepted([&]() -> std::optional<FreezeReport> {
    try {
      return freeze(model, options);
    } catch (const Error& error) {
      if (error.code() == Code::usage_argument) return std::nullopt;  // no array fits the model
      throw;
    }
  });
  if (!report || !*report) return;
  require((*report)->filled >= 1, "what is open was filled");
  for (const auto& tensor : model.proto().graph().initializer()) {
    require(model.payload(tensor).size() == (tensor.name() == "w" ? 8 : 3), "with as many bytes as it takes");
  }
}

}  // namespace

void run(Bytes input) {
  if (const auto array = accepted([&] { return parse_npy(input); })) {
    check_array(array->descr, array->dims, array->data);
    require(lies_in(array->data, input), "an array is a view of its file");
  }
  if (input.empty()) return;
  const std::filesystem::path path = put("in.npz", input);
  if (is_turn(input, 0, 2)) {
    auto file = accepted([&] { return NpzFile::open(OpenedInput(path), scratch(), LoadOptions().max_expansion); });
    if (file) read_all(*file, input);
  }
  if (!is_turn(input, 1, 2)) return;
  if (must("telling whether it is one", [&] { return NpzFile::is_one(OpenedInput(path)); })) fill(path);
}

}  // namespace onnxar::fuzz::npz_target
