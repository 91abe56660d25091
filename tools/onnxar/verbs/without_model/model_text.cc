// Refuses models as text in a tool that was built without protobuf.
#include "shell/model_text.h"

#include <string>
#include <vector>

#include "shell/addresses.h"
#include "verbs/without_model/refusal.h"

namespace onnxar::tool {

LoadOptions load_options() {
  LoadOptions load;
  load.text_parser = [](Bytes) -> std::vector<std::byte> { refuse_without_protobuf("a model as text"); };
  load.open_ranges = address_opener();
  return load;
}

ConvertReport write_text(const std::filesystem::path& /*input*/, const std::filesystem::path& /*output*/,
                         const SaveOptions& /*save*/, const LoadOptions& /*load*/) {
  refuse_without_protobuf("`--text`");
}

}  // namespace onnxar::tool
