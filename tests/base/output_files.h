// Output files with a text, which are not published yet.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/output_file.h"
#include "support/refusal.h"

namespace onnxar::testing {

using Strings = std::vector<std::string>;

inline base::OutputFile written(const std::filesystem::path& target, std::string_view text,
                                base::Existing existing = base::Existing::refuse) {
  base::OutputFile file = base::OutputFile::create(target, existing);
  file.write_at(0, as_bytes(text));
  return file;
}

inline std::optional<Code> code_of_publishing(base::OutputFile& file) {
  return code_of([&] { file.publish(base::Sync::none); });
}

}  // namespace onnxar::testing
