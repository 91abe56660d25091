#include "onnxar/bytes.h"
#include "shell/addresses.h"
#include "shell/command.h"
#include "shell/paths.h"

namespace onnxar::tool {
namespace {

[[noreturn]] void refuse() {
  throw Error(Code::usage_argument, "this build of onnxar does not open addresses; it was made without libcurl");
}

}  // namespace

RangesOpener address_opener() {
  return [](const std::filesystem::path& path) -> std::shared_ptr<const RandomAccess> {
    if (is_address(utf8_of(path))) refuse();
    return nullptr;
  };
}

Verb add_get(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("get", "Download an archive (not in this build, which was made without libcurl)");
  verb->allow_extras();
  verb->footer("Example: onnxar get https://host/model.onnxar -o model.onnxar, where it was built with libcurl");
  return {verb, []() -> int { refuse(); }};
}

}  // namespace onnxar::tool
