// Prints remarks and cuts to stderr.
#include "shell/report.h"

#include <algorithm>
#include <cstddef>
#include <iostream>

#include "shell/hints.h"
#include "shell/numbers.h"
#include "shell/terminal.h"

namespace onnxar::tool {

void print_remarks(const std::vector<Finding>& remarks, const Verbosity& verbosity) {
  constexpr std::size_t few = 10;
  if (verbosity.quiet) return;
  // A model may have a remark for each of its tensors, and these must not hide the report.
  const std::size_t shown = verbosity.verbose ? remarks.size() : std::min(remarks.size(), few);
  for (std::size_t i = 0; i < shown; ++i) {
    std::cerr << "onnxar: " << with_coloured_severity(os::Stream::error, remarks[i].severity, line_of(remarks[i]))
              << '\n';
  }
  if (shown < remarks.size()) std::cerr << "onnxar: ... and " << remarks.size() - shown << " more (-v shows them)\n";
}

std::string shared_text(std::uint64_t shared_bytes) {
  return shared_bytes == 0 ? std::string() : ", equal weights saved " + short_size(shared_bytes);
}

void print_cut(const EarlierState& state, bool dry_run, const std::filesystem::path& archive) {
  std::cerr << (dry_run ? "would cut " : "cut ") << state.file_size - state.size << " bytes, to the state of "
            << state.size << " bytes with " << state.entries << " entries and a model of "
            << short_size(state.model_size) << ": " << escaped_path(archive) << '\n';
}

}  // namespace onnxar::tool
