#include "archive/repack.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>

#include "archive/accepted_crcs.h"
#include "archive/access.h"
#include "archive/changed.h"
#include "archive/entry_source.h"
#include "archive/foreign_zip.h"
#include "archive/keys.h"
#include "archive/new_names.h"
#include "archive/opening.h"
#include "archive/output_options.h"
#include "archive/zip_expansion.h"
#include "base/annotate.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "zip/format.h"
#include "zip/layout.h"
#include "zip/names.h"
#include "zip/unique_names.h"
#include "zip/writer.h"

namespace onnxar {
namespace {

using base::concat;

/// An entry of the input, as it goes to the output.
struct Planned {
  const zip::ForeignEntry* entry;
  std::string_view name;
  std::uint64_t alignment;
  bool may_change;  ///< an edit appended it, so `undo` may take it away
};

/// Whether the zip file is an archive: it opens, and every local header is right. Cost: O(entries).
bool is_sound_archive(Bytes file) {
  try {
    const Archive archive = Archive::open(file, nullptr);
    for (std::size_t i = 0; i < archive.size(); ++i) static_cast<void>(archive.locate(archive.entry(i)));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// All that is decided before anything is written.
class Plan {
 public:
  Plan(Bytes file, const zip::ForeignDirectory& directory, const RepackOptions& options, const ModelReading& models)
      : file_(file),
        directory_(directory),
        options_(options),
        expansion_(file.size(), options.max_expansion),
        models_(models),
        renames_(options.rename),
        archive_(is_sound_archive(file)) {
    if (archive_) first_appended_ = first_appended(Archive::open(file, nullptr));
  }

  void make(RepackReport& report) {
    const std::size_t model = archive_ ? directory_.entries().size() - 1 : find_model(report);
    std::vector<const zip::ForeignEntry*> left_out;
    for (std::size_t i = 0; i < directory_.entries().size(); ++i) {
      const zip::ForeignEntry& entry = directory_.entries()[i];
      if (i == model) continue;
      if (entry.folder) continue;
      if (is_left_out(entry)) {
        left_out.push_back(&entry);
      } else {
        add(entry, new_name(entry, directory_.entries()[model]));
      }
    }
    add_model(directory_.entries()[model]);
    check_new_names(directory_.entries()[model]);
    if (!left_out.empty()) {
      expect_not_linked(left_out, directory_.entries()[model]);
      report.remarks.push_back({Severity::note,
                                Code::zip_foreign,
                                {},
                                concat("left out: ", left_out.size(), " entries with a Mac's notes on files")});
    }
    report.entries = entries_.size();
    report.input_bytes = file_.size();
    report.file_bytes = file_size();
    // An alignment that the caller asks for may cost more than the input; one that the input asks for may not.
    if (!options_.alignment) expansion_.check(report.file_bytes);
  }

  [[nodiscard]] const std::vector<Planned>& entries() const noexcept { return entries_; }

 private:
  /// The model of a zip that is no archive; says that it is none.
  std::size_t find_model(RepackReport& report) {
    const ForeignModel model = find_foreign_model(file_, directory_, expansion_);
    const zip::ForeignEntry& entry = directory_.entries()[model.index];
    const Place place{std::string(entry.name), entry.central_offset};
    if (model.dialect == Dialect::pytorch) {
      throw Error(Code::archive_model_missing,
                  "this is a PyTorch export, whose model names its tensors in a way of its own and has to be edited",
                  place, {}, {Hint::pack_it});
    }
    if (!model.folder.empty()) {
      throw Error(
          Code::archive_model_missing,
          concat("the model is in the folder ", base::quoted(model.folder), ", not in the root of the zip file"), place,
          {}, {Hint::pack_it});
    }
    report.remarks.push_back({Severity::note,
                              Code::zip_foreign,
                              {},
                              concat("the input is not an archive; it was read as ", to_string(model.dialect))});
    return model.index;
  }

  /// The name in the archive. What the model refers to keeps its name, as the model is not edited.
  std::string_view new_name(const zip::ForeignEntry& entry, const zip::ForeignEntry& model) {
    const Place place{std::string(entry.name), entry.central_offset};
    const std::string_view name = renames_(entry.name);
    const auto fault = zip::name_fault(name);
    if (name == entry.name && !fault) return name;
    check_kind(entry, name);
    if (linked_by(model).contains(entry.name)) {
      throw Error(fault ? fault->code : Code::usage_argument,
                  concat(fault ? fault->message : "the entry cannot be renamed",
                         "; the model or a graph refers to it, and repack does not edit a model"),
                  place, {}, {Hint::pack_names_tensors});
    }
    if (fault) throw Error(fault->code, std::string(fault->message), place, {}, {Hint::rename_entry});
    return name;
  }

  /// What is left out must not be a tensor's data. A model that cannot be read is copied as it is, and refers to
  /// nothing.
  void expect_not_linked(const std::vector<const zip::ForeignEntry*>& left_out, const zip::ForeignEntry& model) {
    const base::KeyedSet<std::string>* linked = nullptr;
    try {
      linked = &linked_by(model);
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
      return;
    }
    for (const zip::ForeignEntry* entry : left_out) {
      if (!linked->contains(entry->name)) continue;
      throw Error(Code::archive_name_reserved,
                  "the model refers to it, and no archive has such a name; repack does not edit a model",
                  {std::string(entry->name), entry->central_offset}, {}, {Hint::pack_names_tensors});
    }
  }

  /// A graph names entries, and a side file does not: with its name it would take their use away.
  void check_kind(const zip::ForeignEntry& entry, std::string_view name) const {
    if (is_graph_name(entry.name) == is_graph_name(name)) return;
    const Place place{std::string(entry.name), entry.central_offset};
    if (is_graph_name(name)) {
      throw Error(Code::usage_argument,
                  concat("as ", base::quoted(name),
                         " it would be a graph of the archive: a side file of that name is in "
                         "a folder, such as extra/NAME.onnx"),
                  place);
    }
    ZipExpansion reading(file_.size(), options_.max_expansion);
    if (linked_by_graph(entry, reading).empty()) return;
    throw Error(Code::usage_argument,
                concat("it is a graph whose tensors are in entries of the archive; as ", base::quoted(name),
                       " it would be a side file, and they would be lost when the archive is next packed"),
                place);
  }

  /// What the model and all further graphs link to.
  const base::KeyedSet<std::string>& linked_by(const zip::ForeignEntry& model) {
    if (linked_) return *linked_;
    linked_ = models_.linked_names(bytes_of(model));
    ZipExpansion reading(file_.size(), options_.max_expansion);
    for (const zip::ForeignEntry& entry : directory_.entries()) {
      if (!is_graph_name(entry.name) || &entry == &model) continue;
      for (const std::string& name : linked_by_graph(entry, reading)) linked_->insert(name);
    }
    return *linked_;
  }

  /// A graph that cannot be read is copied as it is, and refers to nothing. All that are read count in `reading`.
  [[nodiscard]] base::KeyedSet<std::string> linked_by_graph(const zip::ForeignEntry& graph,
                                                            ZipExpansion& reading) const {
    reading.add(graph);
    try {
      return models_.linked_names(bytes_of(graph));
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
      return {};
    }
  }

  [[nodiscard]] std::vector<std::byte> bytes_of(const zip::ForeignEntry& model) const {
    check_model_size(model);
    std::vector<std::byte> bytes;
    zip::data_source(file_, model)->read([&bytes](Bytes piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    });
    return bytes;
  }

  void check_new_names(const zip::ForeignEntry& model) const {
    if (renames_.empty()) return;
    renames_.expect_all_met("entry");
    static_cast<void>(zip::index_of_names(
        entries_.size(), [this](std::uint32_t i) { return entries_[i].name; },
        [this](std::uint32_t i) { return entries_[i].entry->central_offset; }));
    std::vector<std::string_view> names;
    for (const Planned& planned : entries_) names.push_back(planned.name);
    try {
      models_.prove_model_name(bytes_of(model), names);
    } catch (const Error& error) {
      throw base::annotate(error, {.place = Place{std::string(model.name), model.central_offset}});
    }
  }

  void add(const zip::ForeignEntry& entry, std::string_view name) {
    check_reserved(name, {std::string(name), entry.central_offset});
    expansion_.add(entry);
    entries_.push_back({&entry, name, alignment_of(entry), may_change(entry)});
  }

  static void check_model_size(const zip::ForeignEntry& entry) {
    if (entry.size <= model_size_maximum) return;
    throw Error(Code::archive_model_too_large,
                concat("the model is ", base::human_size(entry.size), ", and no archive holds one of 2 GiB or more"),
                {std::string(entry.name), entry.central_offset}, {}, {Hint::pack_moves_tensors});
  }

  void add_model(const zip::ForeignEntry& entry) {
    check_model_size(entry);
    entries_.push_back({&entry, model_entry_name, alignment_of(entry), may_change(entry)});
  }

  static std::uint64_t first_appended(const Archive& archive) {
    const std::size_t first = ArchiveAccess::directory(archive).first_appended();
    return first < archive.size() ? archive.entry(first).header_offset : archive.file().size();
  }
  [[nodiscard]] bool may_change(const zip::ForeignEntry& entry) const {
    return archive_ && entry.data_offset >= first_appended_;
  }

  [[nodiscard]] std::uint64_t alignment_of(const zip::ForeignEntry& entry) const {
    const std::uint64_t recorded = std::max(entry.alignment, zip::alignment_minimum);
    return zip::entry_alignment(options_.alignment.value_or(recorded), entry.size);
  }

  [[nodiscard]] std::uint64_t file_size() const {
    std::uint64_t position = 0;
    std::uint64_t directory = 0;
    for (const auto& [entry, name, alignment, may_change] : entries_) {
      const zip::Placement placement = zip::place(position, name.size(), entry->size, alignment);
      position = placement.end();
      directory += zip::central_header_size(name.size(), placement);
    }
    return position + directory + zip::end_records_size(entries_.size(), directory, position);
  }

  Bytes file_;
  const zip::ForeignDirectory& directory_;
  const RepackOptions& options_;
  ZipExpansion expansion_;
  const ModelReading& models_;
  Renames renames_;
  std::optional<base::KeyedSet<std::string>> linked_;
  bool archive_;
  std::uint64_t first_appended_ = 0;  // of an archive: the offset of the first entry that an edit appended
  std::vector<Planned> entries_;
};

void write(const base::MappedFile& mapping, const Plan& plan, const AcceptedCrcs& accepted, zip::Writer& writer) {
  const Bytes file = mapping.bytes();
  for (const Planned& planned : plan.entries()) {
    std::unique_ptr<const ByteSource> source = zip::data_source(file, *planned.entry, mapping.origin());
    // The writer sums what it writes, so that what a lasting mapping holds is not read twice.
    if (planned.may_change)
      source = std::make_unique<CopiedSource>(file.subspan(planned.entry->data_offset, planned.entry->size));
    const std::uint32_t crc = writer.add(planned.name, planned.alignment, *source);
    if (!accepted.accepts(*planned.entry, crc)) zip::expect_crc(file, *planned.entry, crc);
  }
}

}  // namespace

RepackReport repack_zip(const std::filesystem::path& input, const std::filesystem::path& output,
                        const RepackOptions& options, const ModelReading& reading) {
  if (options.alignment) zip::check_alignment(*options.alignment);
  // Before the input is read, which may be the same file.
  const auto lock = options.output.overwrite && !options.output.dry_run ? lock_for_replacing(output) : os::File();
  const auto mapping = base::MappedFile::open(input);
  const Bytes file = mapping.bytes();
  RepackReport report;
  try {
    const auto directory = zip::ForeignDirectory::read(file, {});
    Plan plan(file, directory, options, reading);
    plan.make(report);
    const AcceptedCrcs accepted(file, directory, options.accept_crc, report);
    base::OutputTarget target = base::find_target(output, existing_of(options.output));
    if (options.output.dry_run) return report;
    auto out = base::OutputFile::create(std::move(target), existing_of(options.output));
    zip::Writer writer({std::move(out), options.output.sync}, options.output.threads);
    writer.reserve(report.file_bytes);
    write(mapping, plan, accepted, writer);
    std::move(writer).finish().publish(sync_of(options.output));
  } catch (const Error& error) {
    // What concerns the output names it already.
    throw told_apart(told_from_an_edit(with_way_back(error, file).with_path(input), input), mapping, input);
  }
  return report;
}

std::vector<EntryAlignment> check_alignment(const std::filesystem::path& path, std::uint64_t alignment) {
  if (!std::has_single_bit(alignment)) {
    throw Error(Code::usage_argument, concat("alignment ", alignment, " is not possible; it must be a power of two"));
  }
  const auto mapping = base::MappedFile::open(path);
  const Bytes file = mapping.bytes();
  std::vector<EntryAlignment> entries;
  try {
    const auto directory = zip::ForeignDirectory::read(file, {});
    for (const zip::ForeignEntry& entry : directory.entries()) {
      const auto kind = entry.folder     ? EntryAlignment::Kind::folder
                        : entry.deflated ? EntryAlignment::Kind::compressed
                                         : EntryAlignment::Kind::stored;
      const std::uint64_t off_by = kind == EntryAlignment::Kind::stored ? entry.data_offset % alignment : 0;
      entries.push_back({std::string(entry.name), entry.data_offset, off_by, kind});
    }
  } catch (const Error& error) {
    throw told_apart(told_from_an_edit(with_way_back(error, file).with_path(path), path), mapping, path);
  }
  return entries;
}

}  // namespace onnxar
