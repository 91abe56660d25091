// Runs a fuzz target over files, for builds without libFuzzer.
//
//   fuzz_replay zip_open FOLDER_OR_FILE...
//
// Every input ends at an inaccessible page. Folders that do not exist are skipped, because a target without findings
// does not have a folder of them.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <span>
#include <string_view>
#include <vector>

#include "fuzz/fuzz.h"
#include "support/guarded_buffer.h"
#include "support/temp_dir.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(std::span<char*> arguments) {
  std::vector<fs::path> files;
  for (const char* argument : arguments) {
    if (fs::is_directory(argument)) {
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argument)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    } else if (fs::exists(argument)) {
      files.emplace_back(argument);
    }
  }
  std::ranges::sort(files);
  return files;
}

void replay(const onnxar::fuzz::Target& target, const fs::path& file) {
  std::cout << file.string() << '\n' << std::flush;  // flushed: the last line names the culprit
  const auto input = onnxar::testing::GuardedBuffer::ending_at_guard(onnxar::testing::read_file(file));
  target.run(input.bytes());
}

}  // namespace

int main(int count, char** arguments) {
  const std::span all(arguments, static_cast<std::size_t>(count));
  const std::string_view name = all.size() > 1 ? all[1] : "";
  const auto* const target = std::ranges::find(onnxar::fuzz::targets, name, &onnxar::fuzz::Target::name);
  if (target == std::ranges::end(onnxar::fuzz::targets)) return std::cerr << "there is no target '" << name << "'\n", 2;
  const std::vector<fs::path> files = files_of(all.subspan(2));
  for (const fs::path& file : files) replay(*target, file);
  std::cout << files.size() << " inputs\n";
  return files.empty() ? 1 : 0;
}
