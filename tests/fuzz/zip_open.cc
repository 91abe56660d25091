// Opens any bytes: `Archive::open` refuses them, or the directory obeys the rules E, D, N and P of the specification.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "archive/access.h"
#include "archive/container_check.h"
#include "fuzz/fuzz.h"
#include "onnxar/archive.h"
#include "zip/states.h"

namespace onnxar::fuzz::zip_open_target {
namespace {

constexpr std::uint64_t least_local_header = 30;  // the name follows

std::string folded(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

void check_name(std::string_view name) {
  require(!name.empty() && name.size() <= 1024, "N1, N2: 1 to 1024 bytes");
  require(std::ranges::none_of(name, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f' || c == '\\'; }),
          "N4, N5: no control character, no backslash");
  const std::string slashes = "/" + std::string(name) + "/";
  for (const char* part : {"//", "/./", "/../"}) {
    require(slashes.find(part) == std::string::npos, "N6, N8, N9: no part is empty, . or ..");
  }
}

void check_names_differ(const Archive& archive) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    require(names.insert(folded(archive.entry(i).name)).second, "N10, N11: names differ, ASCII case aside");
  }
  for (const std::string& name : names) {
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      require(!names.contains(name.substr(0, slash)), "N12: no name is the folder of another");
    }
  }
}

void check_lookup(const Archive& archive, const ArchiveEntry& entry) {
  const auto found = archive.find(entry.name);
  require(found && found->index == entry.index, "an entry is found by its name");
  require(!archive.find(std::string(entry.name) + "/"), "no other name finds it");
}

void check_places(const Archive& archive, std::uint64_t file_size) {
  std::uint64_t end = 0;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    require(entry.index == i, "an entry knows its index");
    require(entry.size <= file_size && entry.header_offset <= file_size, "P4: entries lie in the file");
    require(i == 0 ? entry.header_offset == 0 : entry.header_offset >= end, "P1 to P3: ascending, no overlap");
    end = entry.header_offset + least_local_header + entry.name.size() + entry.size;
    sum += entry.size;
    require(end <= file_size, "P4: entries end in the file");
    check_name(entry.name);
    check_lookup(archive, entry);
  }
  require(sum < file_size, "all entries together have less bytes than the file");
}

void check_limits(Bytes input, std::size_t entries) {
  const auto open = [&](std::size_t limit) { return Archive::open(input, nullptr, {.max_entries = limit}); };
  must("a limit that is kept", [&] { return open(entries).size(); });
  require(!accepted([&] { return open(entries - 1); }), "E11: a limit of entries");
}

bool is_sound(const Archive& archive) {
  return std::ranges::none_of(check_container(archive),
                              [](const Finding& finding) { return finding.severity == Severity::error; });
}

/// A walk from the front finds the states that the directories describe.
void check_states(const Archive& archive, const std::vector<std::uint64_t>& ends) {
  if (is_sound(archive)) require(!ends.empty() && ends.back() == archive.file().size(), "the file is a state");
}

}  // namespace

void run(Bytes input) {
  const std::vector<std::uint64_t> ends = zip::state_ends(input);
  require(std::ranges::is_sorted(ends) && (ends.empty() || ends.back() <= input.size()), "states lie in the file");
  const auto archive = accepted([&] { return Archive::open(input, nullptr); });
  if (!archive) return;
  check_states(*archive, ends);
  require(looks_like_zip(input), "an archive looks like a zip");
  require(archive->size() > 0, "E9: there is an entry");
  require(archive->entry(archive->size() - 1).name == model_entry_name, "P6, P7: the model is there, and last");
  check_places(*archive, input.size());
  check_names_differ(*archive);
  check_limits(input, archive->size());
}

}  // namespace onnxar::fuzz::zip_open_target
