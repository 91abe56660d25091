// Freezes any bytes as a model. They are refused as a fault of the format, or the result has only nodes that the
// outputs need, without cycles and missing inputs. Outputs stay the same, freezing again removes nothing, and saving
// works.
#include <google/protobuf/stubs/logging.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/models.h"
#include "fuzz/scratch.h"
#include "inspect/inspection.h"
#include "model/front_end.h"

namespace onnxar::fuzz::freeze_target {
namespace {

std::vector<std::string> outputs_of(const Model& model) {
  std::vector<std::string> outputs;
  for (const auto& output : model.proto().graph().output()) outputs.push_back(output.SerializePartialAsString());
  return outputs;
}

void check_again(Model& model) {
  const FreezeReport again = must("what was frozen can be frozen", [&] { return freeze(model); });
  require(again.nodes == 0 && again.initializers == 0 && again.inputs == 0 && again.functions == 0 &&
              again.training_infos == 0 && again.opset_imports == 0,
          "freezing again takes nothing out");
}

/// Nothing if the model cannot be saved.
std::optional<std::filesystem::path> saved(const Model& model) {
  std::filesystem::path path = scratch() / "freeze";
  const auto save = [&] { return model.save(path, {.output = {.overwrite = true, .sync = false}}); };
  if (!accepted(save)) return std::nullopt;
  return path;
}

void check_shown(const Model& model) {
  const auto path = saved(model);
  if (!path) return;
  const Inspection found = must("what was saved can be looked into", [&] { return onnxar::show(*path); });
  require(found.graph.cycle.empty(), "no node that is left waits for itself");
  require(found.graph.dangling.empty(), "every name that is used is given");
}

void check_loaded(const Model& model) {
  const auto path = saved(model);
  if (!path) return;
  const Model loaded = must("what was saved loads", [&] { return Model::load(*path); });
  require(outputs_of(loaded) == outputs_of(model), "saving changes no outputs");
  require(payloads_of(loaded) == payloads_of(model), "and no data");
}

}  // namespace

void run(Bytes input) {
  const google::protobuf::LogSilencer silent;  // it reports names that are not UTF-8, in builds with assertions
  auto model = accepted([&] { return Model::load(input, loaded_as(true)); });
  if (!model) return;
  const std::vector<std::string> outputs = outputs_of(*model);
  const bool strip = input.size() % 2 != 0;
  const FreezeOptions options = {.strip_docs = strip, .strip_metadata = strip};
  if (!accepted([&] { return freeze(*model, options); })) return;
  if (!strip) require(outputs_of(*model) == outputs, "outputs are the same");
  if (is_turn(input, 0, 3)) check_again(*model);
  if (is_turn(input, 1, 3)) check_shown(*model);
  if (is_turn(input, 2, 3)) check_loaded(*model);
}

}  // namespace onnxar::fuzz::freeze_target
