// Makes links to archives, verifies them, and passes the bytes of tensors to a runtime.
#include "onnxar/link.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/evidence.h"
#include "archive/external_tensor.h"
#include "archive/graph_rules.h"
#include "archive/output_options.h"
#include "archive/tensor_text.h"
#include "base/annotated.h"
#include "base/folder.h"
#include "base/keyed_hash.h"
#include "base/path_state.h"
#include "base/paths.h"
#include "base/text.h"
#include "convert/duplicates.h"
#include "convert/expansion.h"
#include "convert/open.h"
#include "convert/payload_layout.h"
#include "convert/publish.h"
#include "onnx/duplicates.h"
#include "onnx/rewrite.h"
#include "onnx/rope.h"
#include "onnx/taken_names.h"
#include "os/names.h"
#include "runtime/copied_archive.h"
#include "runtime/linking.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

// The file names that model hubs, and libraries that load from them, expect.
constexpr const char* hub_model_name = "model.onnx";
constexpr const char* hub_data_name = "model.onnx_data";

void check_place(const fs::path& target, const Linking& linking) {
  const fs::path folder = base::folder_of(target);
  // Paths may differ for one folder, so folders are compared by device and inode.
  if (!base::are_same(folder, linking.folder())) {
    throw Error(Code::usage_argument,
                base::concat("a link must be in the folder of its archive, because runtimes open external data only "
                             "beneath the folder of the model; write it to ",
                             escaped_path(linking.folder() / target.filename())),
                {}, target);
  }
  if (base::are_same(target, linking.path())) {
    throw Error(Code::usage_argument, "is the archive that the link needs; choose a different name", {}, target);
  }
}

void write(FileSet& files, base::OutputTarget target, const ByteSource& bytes, const OutputOptions& options) {
  if (options.dry_run) return;
  files.write(std::move(target), bytes.size(), [&bytes](base::BufferedOutput& out) { out.append(bytes); });
}

/// Writes a link beside its archive. A dry run finds the faults of the target too.
LinkReport add_link(FileSet& files, const Linking& linking, const fs::path& output, const OutputOptions& options) {
  base::OutputTarget target = base::find_target(output, existing_of(options));
  check_place(target.path, linking);
  write(files, std::move(target), linking.model(), options);
  return linking.report(output);
}

/// Returns the result of the call; false for a model as text that cannot be parsed, because links are binary.
template <typename Call>
bool unless_text(const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.code() != Code::usage_no_text_parser) throw;
    return false;
  }
}

using States = std::map<fs::path, base::PathState>;

/// Returns true if a tensor is linked to an archive. Checks every tensor, because each may name a different archive,
/// which must exist. Adds the present state of these archives.
bool is_link(ModelSource& source, States& archives) {
  auto* const file = dynamic_cast<FileSource*>(&source);
  const bool has_files = file != nullptr && file->files() != nullptr;
  bool linked = false;
  const auto look = [&](const onnx::TensorSite& site) {
    const auto location = site.tensor.linked_location();
    if (!has_files || !location) return;
    const Archive* const archive = file->linked_archive(std::string(*location), site.tensor.range.begin);
    if (archive == nullptr) return;
    linked = true;
    archives.try_emplace(archive->path(), archive->path());
  };
  source.placed([&] { onnx::walk_tensors(source.model(), look); });
  return linked;
}

/// Returns true if the model is a link. Opens it with `open`, calls `use` if it is set, and throws io.changed if a link
/// or its files changed meanwhile.
template <typename Open>
bool verify_around(const Open& open, const std::function<void()>& use, States files) {
  const auto look = [&](States& found) { return unless_text([&] { return is_link(*open(), found); }); };
  const bool linked = look(files);
  if (!use) return linked;
  use();
  // Checks again, because the archive may have been replaced before its state was recorded.
  States after;
  if (!look(after) && !linked) return false;
  for (const auto& [path, state] : files) state.expect_same();
  return true;
}

/// Sets the bytes of all tensors. If the archive is read in ranges, fetches them in one call.
void give_bytes(RuntimeModel& made, const Archive& archive, const std::vector<EntryPart>& parts) {
  std::vector<std::size_t> entries;
  for (const EntryPart& part : parts) entries.push_back(part.entry.index);
  base::annotated(evidence_of(archive), [&] { ArchiveAccess::reader(archive).fetch(entries); });
  for (std::size_t i = 0; i < parts.size(); ++i) made.tensors[i].bytes = bytes_of(archive, parts[i]);
}

}  // namespace

Link make_link(const fs::path& archive, const LinkOptions& options, LinkForm form) {
  Linking linking(archive, options, options.graph, std::nullopt, form);
  linking.select(options.graph);
  return {linking.model().flat(),          linking.folder(),  linking.archive_name(),
          linking.archive().file().size(), linking.tensors(), linking.remarks()};
}

LinkReport link(const fs::path& archive, const fs::path& output, const LinkOptions& options) {
  FileSet files(options.output, existing_of(options.output));
  Linking linking(archive, options, options.graph);
  linking.select(options.graph);
  LinkReport report = add_link(files, linking, output, options.output);
  files.publish();
  return report;
}

std::vector<LinkReport> link_graphs(const fs::path& archive, const LinkOptions& options) {
  Linking linking(archive, options, {});
  FileSet files(options.output, existing_of(options.output));
  std::vector<LinkReport> reports;
  for (const auto& [graph, name] : linking.graphs()) {
    linking.select(graph);
    reports.push_back(add_link(files, linking, linking.folder() / os::path_of(name), options.output));
  }
  files.publish();
  return reports;
}

LinkReport link_for_hub(const fs::path& archive, const fs::path& folder, const LinkOptions& options) {
  Linking linking(archive, options, options.graph, hub_data_name);
  linking.select(options.graph);
  const bool is_there = base::are_same(folder / hub_data_name, linking.path());
  const bool is_replaced = base::are_same(folder / hub_model_name, linking.path());
  if (is_replaced || (is_there && options.offset != 0)) {
    throw Error(Code::usage_argument, "is the archive itself; choose a different folder", {},
                folder / (is_replaced ? hub_model_name : hub_data_name));
  }
  const auto opened = base::Folder::open(folder);
  const auto writable = [&](const char* name) {
    base::OutputTarget target{folder / name, opened, name};
    base::expect_writable(target, existing_of(options.output));
    return target;
  };
  base::OutputTarget model = writable(hub_model_name);
  FileSet files(options.output, existing_of(options.output));
  // Writes the archive first, so that a reader that finds the link also finds the archive.
  if (!is_there) write(files, writable(hub_data_name), CopiedArchive(linking.archive()), options.output);
  write(files, model, linking.model(), options.output);
  files.publish();
  return linking.report(model.path);
}

bool verify_link(const fs::path& model, const std::function<void()>& use) {
  return verify_around([&] { return open_source(model, {}); }, use,
                       use ? States{{model, base::PathState(model)}} : States());
}

bool verify_link(Bytes model, const fs::path& folder, const std::function<void()>& use) {
  LoadOptions options;
  options.external_data_dir = folder;
  return verify_around([&] { return source_of(model, nullptr, options); }, use, {});
}

RuntimeModel make_runtime_model(const Archive& archive) {
  const std::unique_ptr<ArchiveSource> source = source_of(ArchiveAccess::view(archive, archive.model_entry()), {});
  Expansion expansion(source->input_size(), LoadOptions().max_expansion, Hint::use_link);
  RuntimeModel made;
  made.owner = archive.owner();  // not the owner of the model, which may be a verified copy
  std::vector<EntryPart> parts;
  onnx::DuplicateNames duplicates;
  base::KeyedSet<std::string_view> taken;
  const auto edit = [&](const onnx::TensorSite& site) {
    if (!site.tensor.is_external()) return onnx::TensorEdit::keep();
    Payload payload = source->payload_of(site);
    if (payload.size() != 0 && duplicates.has(site)) refuse_duplicate(site, source->path(), Hint::use_link);
    // A runtime accepts data only for initializers of the main graph with names. ONNX Runtime (seen in 1.23 to 1.32)
    // refuses data for a name that no node uses.
    if (!site.is_main_initializer() || site.tensor.name.empty() || payload.size() == 0 ||
        !taken.contains(site.tensor.name)) {
      expansion.add(payload);
      return onnx::TensorEdit::put_inline(std::move(payload.source));
    }
    made.tensors.push_back({info_of(site), {}});
    parts.push_back(part_named(archive, site.tensor, proved_link(site.tensor)));
    return onnx::TensorEdit::keep();
  };
  source->placed([&] {
    taken = onnx::taken_names(source->model());
    const onnx::Rope model = onnx::rewrite_tensors(source->model(), edit, {link_key_prefix, {}});
    // Inline data may exceed the limit of protobuf: it includes all data that cannot be passed to a runtime by name.
    check_model_size(model.size(), source->path(), Hint::use_link);
    made.model = model.flat();
  });
  give_bytes(made, archive, parts);
  return made;
}

}  // namespace onnxar
