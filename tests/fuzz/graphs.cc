// An archive with further graphs. They are what their names say. Every verb that writes an archive anew keeps each
// graph and each entry that a graph names; unpacked into a folder and packed again, they are the same.

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "archive/entry_uses.h"
#include "fuzz/fuzz.h"
#include "fuzz/scratch.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/listing.h"

namespace onnxar::fuzz::graphs_target {
namespace {

namespace fs = std::filesystem;

bool is_named_as_graph(std::string_view name) {
  constexpr std::string_view end = ".onnx";
  return name.size() > end.size() && name.ends_with(end) && name[name.size() - end.size() - 1] != '/';
}

std::set<std::string> names_of(const std::vector<ArchiveEntry>& entries) {
  std::set<std::string> names;
  for (const ArchiveEntry& entry : entries) names.emplace(entry.name);
  return names;
}

void check_kinds(const Archive& archive, const EntryUses& uses) {
  require(uses.kind_of(archive.size() - 1) == EntryKind::model, "the last entry is the model");
  const std::set<std::string> graphs = names_of(archive.graphs());
  const std::set<std::string> used = names_of(entries_of_graphs(archive));
  const std::set<std::string> side = names_of(side_files(archive));
  for (const ArchiveEntry& entry : archive.entries()) {
    const std::string name(entry.name);
    const EntryKind kind = uses.kind_of(entry.index);
    require(graphs.contains(name) == is_named_as_graph(name), "G1: a graph is known by its name");
    require((kind == EntryKind::graph) == graphs.contains(name), "a graph is of this kind, whoever names it");
    require((kind == EntryKind::side_file) == side.contains(name), "side files are of their kind");
    require(!used.contains(name) || kind != EntryKind::unused, "what a graph names is used");
    require(!used.contains(name) || kind != EntryKind::side_file, "and is not a side file");
  }
}

OutputOptions unsynced() { return {.overwrite = true, .sync = false}; }

/// The names of graphs, and of the entries that are side files.
struct Kept {
  std::set<std::string> graphs;
  std::set<std::string> side_files;
  bool operator==(const Kept&) const = default;
};

Kept kept_in(const fs::path& path) {
  const Archive archive = must("what was written opens", [&] { return Archive::open(path); });
  return {names_of(archive.graphs()), names_of(side_files(archive))};
}

void check_written(const fs::path& path, const Kept& before, std::string_view how) {
  require(kept_in(path) == before, how);
  require(passed(check(path, {.data = true})), how);
}

/// False if the archive was written anew: then it has no earlier state.
bool undone(const fs::path& path) {
  try {
    undo(path, {.sync = false});
    return true;
  } catch (const Error& error) {
    require(error.code() == Code::usage_nothing_to_undo, error.what());
    return false;
  }
}

void check_verbs(const fs::path& path) {
  const Kept before = kept_in(path);
  const fs::path out = scratch() / "out.onnxar";
  const auto repacked = [&] { return repack(path, out, {.output = unsynced()}); };
  must("an archive that passes can be repacked", repacked);
  check_written(out, before, "repack keeps graphs and side files, and passes");
  const auto packed = [&] { return pack(path, out, {.output = unsynced()}); };
  if (!accepted(packed)) return;  // as an expansion beyond the limit
  check_written(out, before, "pack keeps graphs and side files, and passes");
  if (!before.graphs.empty()) {
    const std::string name = *before.graphs.begin();
    const ReplaceOptions options = {.remove = {name}, .output = unsynced()};
    must("a graph can be removed", [&] { return replace(out, options); });
    require(!kept_in(out).graphs.contains(name), "what was removed is gone");
    require(passed(check(out, {.data = true})), "without a graph the archive passes, too");
    if (undone(out)) check_written(out, before, "undo brings graphs and side files back, and passes");
  }
}

}  // namespace

void run(Bytes input) {
  const auto archive = accepted([&] { return Archive::open(input, nullptr); });
  if (!archive) return;
  const auto uses = accepted([&] { return uses_of(*archive); });
  if (uses) check_kinds(*archive, *uses);
  const fs::path path = put("in.onnxar", input);
  if (!passed(check(path, {.data = true}))) return;
  require(uses.has_value(), "the entries of an archive that passes have kinds");
  check_verbs(path);
}

}  // namespace onnxar::fuzz::graphs_target
