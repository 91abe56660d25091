#include <string>

#include "archive/opening.h"
#include "base/open_file.h"
#include "model/messages.h"
#include "model/prune.h"
#include "model/weights.h"
#include "onnxar/model/model.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

void fill_from(Model& model, const FreezeOptions& options, FreezeReport& report) {
  try {
    const auto weights = open_weights(options);
    fill(model, *weights, report);
  } catch (const Error& error) {
    throw error.with_path(options.weights);
  }
}

/// Clears the field `name` in all messages. Reflection covers messages that ONNX adds later.
void clear_everywhere(schema::ModelProto& model, const std::string& name) {
  for_each_message(model, [&name](google::protobuf::Message& message) {
    const auto* field = message.GetDescriptor()->FindFieldByName(name);
    if (field != nullptr) message.GetReflection()->ClearField(&message, field);
  });
}

}  // namespace

FreezeReport freeze(Model& model, const FreezeOptions& options) {
  FreezeReport report;
  if (!options.weights.empty()) fill_from(model, options, report);
  prune(model.proto(), report);
  if (options.strip_docs) clear_everywhere(model.proto(), "doc_string");
  if (options.strip_metadata) clear_everywhere(model.proto(), "metadata_props");
  return report;
}

FreezeReport freeze(const fs::path& input, const fs::path& output, const SaveOptions& save,
                    const FreezeOptions& options) {
  FreezeOptions beside = options;  // inflated weights go beside the output, where the space is needed anyway
  if (beside.load.temporary_dir.empty()) beside.load.temporary_dir = base::absolute_path(output).parent_path();
  try {
    // Held until the output is in place. Otherwise, an edit of the archive that is replaced could be lost.
    const auto lock = save.output.overwrite && !save.output.dry_run ? lock_for_replacing(output) : os::File();
    Model model = Model::load(input, options.load);
    FreezeReport report = freeze(model, beside);
    report.saved = model.save(output, save);
    return report;
  } catch (const Error& error) {
    throw error.with_path(input);
  }
}

}  // namespace onnxar
