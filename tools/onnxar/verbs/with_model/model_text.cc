// Reads and writes models as text, with protobuf.
#include "shell/model_text.h"

#include "model/front_end.h"
#include "onnxar/model/model.h"
#include "shell/addresses.h"

namespace onnxar::tool {

LoadOptions load_options() {
  LoadOptions load;
  load.text_parser = text_parser();
  load.open_ranges = address_opener();
  return load;
}

ConvertReport write_text(const std::filesystem::path& input, const std::filesystem::path& output,
                         const SaveOptions& save, const LoadOptions& load) {
  return onnxar::dump(input, output, save, load);
}

}  // namespace onnxar::tool
