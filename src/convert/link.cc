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
#include "archive/entry_source.h"
#include "archive/external_tensor.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/opening.h"
#include "base/checked.h"
#include "base/folder.h"
#include "base/keyed_hash.h"
#include "base/open_file.h"
#include "base/path_state.h"
#include "base/text.h"
#include "convert/links.h"
#include "convert/load.h"
#include "convert/open.h"
#include "convert/plan.h"
#include "convert/prepacked.h"
#include "convert/publish.h"
#include "onnx/duplicates.h"
#include "onnx/rewrite.h"
#include "onnx/taken_names.h"
#include "os/names.h"
#include "zip/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// Smaller data is put inline: the fields of a link take about as many bytes, and ONNX Runtime copies small data.
constexpr std::size_t smallest_linked = 128;

// The names that hubs of models, and libraries that load from them, expect.
constexpr const char* hub_model_name = "model.onnx";
constexpr const char* hub_data_name = "model.onnx_data";

/// Opens the file, or the part of it that the range names. Local headers are read at once: the links need the place of
/// every entry's data and none of the data.
Archive open_archive(const fs::path& path, const LinkOptions& range) {
  const auto open = [&] {
    if (range.offset == 0 && !range.length) return Archive::open(path);
    return open_range(base::open_file(path, os::Access::read), {range.offset, range.length}, {}, path);
  };
  Archive archive = open();
  read_local_headers(archive);
  return archive;
}

/// The bytes of an archive, to copy it. Compares the CRC-32s of the entries while they are read. The archive must
/// outlive it. Errors: zip.data.crc, io.changed when read.
class CopiedArchive final : public ByteSource {
 public:
  explicit CopiedArchive(const Archive& archive) : archive_(archive) {}
  [[nodiscard]] std::uint64_t size() const override { return archive_.file().size(); }
  void read(const ByteSink& sink) const override {
    std::uint64_t at = 0;
    for (const ArchiveEntry& entry : archive_.entries()) {
      const std::uint64_t data = archive_.locate(entry).offset;
      sink(base::section(archive_.file(), at, data - at));
      EntrySource(archive_, entry).read(sink);
      at = data + entry.size;
    }
    sink(base::section(archive_.file(), at));
  }
  void locate(const std::function<void(const Location&)>& visit) const override {
    visit({archive_.file(), true, ArchiveAccess::origin(archive_)});
  }

 private:
  const Archive& archive_;
};

/// Rewrites the model of an archive, or one graph after another, so that its links lead to ranges of the archive's
/// file. What holds for all graphs is read once.
class Linking {
 public:
  /// The link is to the archive in its own file, or to a copy of the archive as a file named `copy`.
  Linking(const fs::path& archive, const LinkOptions& options, const std::string& graph,
          std::optional<std::string_view> copy = std::nullopt, LinkForm form = LinkForm::link)
      : path_(base::real_path(archive)),
        begin_(copy ? 0 : options.offset),
        form_(form),
        source_(source_of(open_archive(path_, options), {.graph = graph})),
        expansion_(source_->input_size(), LoadOptions().max_expansion, Hint::none) {
    // The name of the real file: the link must be in its folder, and symbolic links may go by other names.
    name_ = copy ? std::string(*copy) : archive_name();
    if (!copy) refuse_unlinkable(path_);
    refuse_own_name(this->archive(), copy ? os::path_of(name_) : path_);
    if (form_ == LinkForm::link) marker_ = LinkMarker::of(this->archive(), begin_, name_).fields();
    rewrite();
  }

  /// Makes the link of this graph, which takes the place of the one before.
  void select(const std::string& graph) {
    source_->select(graph);
    rewrite();
  }

  [[nodiscard]] const fs::path& path() const noexcept { return path_; }
  [[nodiscard]] fs::path folder() const { return path_.parent_path(); }
  [[nodiscard]] std::string archive_name() const { return os::text_of(path_.filename()); }
  [[nodiscard]] const Archive& archive() const noexcept { return source_->archive(); }
  [[nodiscard]] const onnx::Rope& model() const noexcept { return model_; }
  [[nodiscard]] std::uint64_t tensors() const noexcept { return tensors_; }
  [[nodiscard]] const std::vector<Finding>& remarks() const noexcept { return remarks_; }
  [[nodiscard]] LinkReport report(const fs::path& written) const {
    return {tensors_, nested_, model_.size(), written, remarks_};
  }

 private:
  void rewrite() {
    followed_ = {};
    duplicates_ = {};
    remarks_.clear();
    tensors_ = nested_ = 0;
    try {
      model_ = onnx::rewrite_tensors(source_->model(), [this](const onnx::TensorSite& site) { return edit(site); }, {},
                                     {link_key_prefix, marker_, model_name_key});
    } catch (const Error& error) {
      throw source_->with_place(error);
    }
    check_model_size(model_.size(), path_, Hint::pack_threshold);
  }

  onnx::TensorEdit edit(const onnx::TensorSite& site) {
    if (duplicates_.has(site)) remark_duplicate(site);
    if (!site.tensor.is_external()) return onnx::TensorEdit::keep();
    Payload payload = source_->payload_of(site);
    const Bytes bytes = payload.bytes();
    if (bytes.size() < smallest_linked || !followed_.follows(site)) {
      expansion_.add(payload);  // a million attributes may name one entry, and each gets a copy
      return onnx::TensorEdit::put_inline(std::move(payload.source));
    }
    ++tensors_;
    if (!site.is_main_initializer()) ++nested_;
    // Entries are stored, so every payload is a range of the archive's mapping.
    const auto offset = static_cast<std::uint64_t>(bytes.data() - archive().file().data());
    onnx::ExternalLink link{name_, begin_ + offset, bytes.size()};
    if (form_ == LinkForm::prepacked) link.more = prepacked_fields(source_->model(), site.tensor, archive(), begin_);
    return onnx::TensorEdit::link_to(std::move(link));
  }

  /// A link changes nothing: ONNX Runtime takes data of less than 128 bytes in the model as it takes external data.
  void remark_duplicate(const onnx::TensorSite& site) {
    remarks_.push_back(
        {Severity::warning, Code::onnx_graph_duplicate, source_->place_of(site),
         duplicate_text(site, site.tensor.is_external()
                                  ? "its data stays outside the model, because runtimes choose by where it is"
                                  : "its data stays in the model, because runtimes choose by where it is")});
  }

  fs::path path_;
  std::uint64_t begin_;  // offset of the archive in the file
  LinkForm form_;
  std::unique_ptr<ArchiveSource> source_;
  std::string name_;    // of the archive's file
  std::string marker_;  // the metadata that every link gets, else empty
  FollowedLinks followed_;
  onnx::DuplicateNames duplicates_;
  std::vector<Finding> remarks_;
  Expansion expansion_;  // of all links together
  onnx::Rope model_;
  std::uint64_t tensors_ = 0;
  std::uint64_t nested_ = 0;  // of these, not initializers of the main graph
};

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

/// Writes a link beside its archive. The faults of the target are found in a dry run, too.
LinkReport add_link(FileSet& files, const Linking& linking, const fs::path& output, const OutputOptions& options) {
  base::OutputTarget target = base::find_target(output, existing_of(options));
  check_place(target.path, linking);
  write(files, std::move(target), linking.model(), options);
  return linking.report(output);
}

/// The judgement; false for a model as text, which is refused without a parser: links are binary.
template <typename Judge>
bool unless_text(const Judge& judge) {
  try {
    return judge();
  } catch (const Error& error) {
    if (error.code() != Code::usage_no_text_parser) throw;
    return false;
  }
}

using States = std::map<fs::path, base::PathState>;

/// Returns whether a tensor is linked to an archive. Every tensor is asked, because each may name a different archive,
/// which must exist. Adds what these archives are now.
bool is_link(ModelSource& source, States& archives) {
  auto* const file = dynamic_cast<FileSource*>(&source);
  const bool has_files = file != nullptr && file->files() != nullptr;
  bool linked = false;
  const auto look = [&](const onnx::TensorSite& site) {
    if (!has_files || !site.tensor.is_external() || !site.tensor.external.location) return;
    const std::string location(*site.tensor.external.location);
    const Archive* const archive = file->linked_archive(location, site.tensor.range.begin);
    if (archive == nullptr) return;
    linked = true;
    archives.try_emplace(archive->path(), archive->path());
  };
  try {
    onnx::walk_tensors(source.model(), look);
  } catch (const Error& error) {
    throw source.with_place(error);
  }
  return linked;
}

}  // namespace

Link make_link(const fs::path& archive, const LinkOptions& options, LinkForm form) {
  const Linking linking(archive, options, options.graph, std::nullopt, form);
  return {linking.model().flat(),          linking.folder(),  linking.archive_name(),
          linking.archive().file().size(), linking.tensors(), linking.remarks()};
}

LinkReport link(const fs::path& archive, const fs::path& output, const LinkOptions& options) {
  FileSet files(options.output, existing_of(options.output));
  LinkReport report = add_link(files, Linking(archive, options, options.graph), output, options.output);
  files.publish();
  return report;
}

std::vector<LinkReport> link_graphs(const fs::path& archive, const LinkOptions& options) {
  Linking linking(archive, options, {});
  const std::string model =
      model_name_of(linking.archive().model()).value_or(os::text_of(linking.path().stem())) + std::string(graph_suffix);
  FileSet files(options.output, existing_of(options.output));
  std::vector<LinkReport> reports;
  const auto add = [&](std::string_view name) {
    reports.push_back(add_link(files, linking, linking.folder() / os::path_of(name), options.output));
  };
  add(model);
  for (const ArchiveEntry& graph : linking.archive().graphs()) {
    if (zip::equal_folded(graph.name, model)) {
      throw Error(Code::usage_argument, "the link of the model would have the name of this graph; link each by itself",
                  {std::string(graph.name), std::nullopt}, linking.path());
    }
    linking.select(std::string(graph.name));
    add(graph.name);
  }
  files.publish();
  return reports;
}

LinkReport link_for_hub(const fs::path& archive, const fs::path& folder, const LinkOptions& options) {
  const Linking linking(archive, options, options.graph, hub_data_name);
  const bool is_there = base::are_same(folder / hub_data_name, linking.path());
  const bool is_replaced = base::are_same(folder / hub_model_name, linking.path());
  if (is_replaced || (is_there && options.offset != 0)) {
    throw Error(Code::usage_argument, "is the file that has the archive in it; choose a different folder", {},
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
  // The archive first: a reader that finds the link finds it, too.
  if (!is_there) write(files, writable(hub_data_name), CopiedArchive(linking.archive()), options.output);
  write(files, model, linking.model(), options.output);
  files.publish();
  return linking.report(model.path);
}

namespace {

/// `open` makes the source of the model.
template <typename Open>
bool verify_around(const Open& open, const std::function<void()>& use, States files) {
  const auto look = [&](States& found) { return unless_text([&] { return is_link(*open(), found); }); };
  const bool linked = look(files);
  if (!use) return linked;
  use();
  // Again, as the archive may have been replaced before its state was taken.
  States after;
  if (!look(after) && !linked) return false;
  for (const auto& [path, state] : files) state.expect_same();
  return true;
}

}  // namespace

bool verify_link(const fs::path& model, const std::function<void()>& use) {
  return verify_around([&] { return open_source(model, {}); }, use,
                       use ? States{{model, base::PathState(model)}} : States());
}

bool verify_link(Bytes model, const fs::path& folder, const std::function<void()>& use) {
  LoadOptions options;
  options.external_data_dir = folder;
  return verify_around([&] { return source_of(model, nullptr, options); }, use, {});
}

namespace {

/// Sets the bytes of all tensors. Of an archive by ranges they are read, in one call.
void give_bytes(RuntimeModel& made, const Archive& archive, const std::vector<EntryPart>& parts) {
  if (ArchiveAccess::ranges(archive) != nullptr) {
    std::vector<ArchiveEntry> entries;
    for (const EntryPart& part : parts) entries.push_back(part.entry);
    archive.prefetch(entries, Prefetch::populate);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) made.tensors[i].bytes = bytes_of(archive, parts[i]);
}

}  // namespace

RuntimeModel make_runtime_model(const Archive& archive) {
  const std::unique_ptr<ArchiveSource> source = source_of(ArchiveAccess::view(archive, archive.model_entry()), {});
  Expansion expansion(source->input_size(), LoadOptions().max_expansion, Hint::use_link);
  RuntimeModel made;
  made.owner = archive.owner();  // not that of the model, which may be a verified copy
  std::vector<EntryPart> parts;
  onnx::DuplicateNames duplicates;
  base::KeyedSet<std::string_view> taken;
  const auto edit = [&](const onnx::TensorSite& site) {
    if (!site.tensor.is_external()) return onnx::TensorEdit::keep();
    Payload payload = source->payload_of(site);
    if (payload.size() != 0 && duplicates.has(site)) refuse_duplicate(site, source->path(), Hint::use_link);
    // Only initializers of the main graph have names that a runtime takes data by, unless theirs are empty. ONNX
    // Runtime (seen in 1.23 to 1.32) refuses data by a name that no node takes.
    if (!site.is_main_initializer() || site.tensor.name.empty() || payload.size() == 0 ||
        !taken.contains(site.tensor.name)) {
      expansion.add(payload);
      return onnx::TensorEdit::put_inline(std::move(payload.source));
    }
    made.tensors.push_back({info_of(site), {}});
    parts.push_back(part_named(archive, site.tensor, proved_link(site.tensor)));
    return onnx::TensorEdit::keep();
  };
  try {
    taken = onnx::taken_names(source->model());
    const onnx::Rope model = onnx::rewrite_tensors(source->model(), edit, {}, {link_key_prefix, {}});
    // Inline data may exceed the limit of protobuf: it includes all data that a runtime cannot be given by name.
    check_model_size(model.size(), source->path(), Hint::use_link);
    made.model = model.flat();
  } catch (const Error& error) {
    throw source->with_place(error);
  }
  give_bytes(made, archive, parts);
  return made;
}

}  // namespace onnxar
