// Plans the repacking of a zip file: names, alignment and order of the entries of the archive.
#include "convert/repack_plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "archive/access.h"
#include "archive/entry_writer.h"
#include "archive/evidence.h"
#include "archive/foreign_zip.h"
#include "archive/graph_rules.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/local_entry.h"
#include "archive/model_proof.h"
#include "base/annotated.h"
#include "base/byte_range.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "zip/format.h"
#include "zip/layout.h"
#include "zip/name_index.h"
#include "zip/names.h"
#include "zip/writer.h"

namespace onnxar {
namespace {

using base::concat;

std::uint64_t first_appended(const Archive& archive) {
  const std::size_t first = ArchiveAccess::directory(archive).first_appended(archive.file());
  return first < archive.size() ? archive.entry(first).header_offset : archive.file().size();
}

/// Returns the offset from which edits appended entries, if the zip file is an archive (it opens, and every local
/// header is correct); otherwise nothing. Cost: O(entries).
std::optional<std::uint64_t> first_appended_in(Bytes file) {
  try {
    const Archive archive = Archive::open(file, nullptr);
    locate_all(archive);
    return first_appended(archive);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Place place_of(const zip::ForeignEntry& entry) { return {std::string(entry.name), entry.central_offset}; }

void note(RepackReport& report, std::string message) {
  report.remarks.push_back({Severity::note, Code::zip_foreign, {}, std::move(message)});
}

}  // namespace

RepackPlan::RepackPlan(base::Kept<Bytes> file, base::Kept<const zip::ForeignDirectory> directory,
                       base::Kept<const RepackOptions> options)
    : file_(file),
      directory_(directory),
      options_(options),
      expansion_(file.size(), options_.max_expansion),
      models_(file, directory, options_.max_expansion),
      renames_(options_.rename),
      appended_from_(first_appended_in(file)) {}

void RepackPlan::make(RepackReport& report) {
  const auto entries = directory_.entries();
  // The last entry of an archive is its model (P7). Its other `.onnx` files are graphs or side files.
  const Entry& model = entries[appended_from_ ? entries.size() - 1 : find_model(report)];
  std::vector<const Entry*> left_out;
  for (const Entry& entry : entries) {
    if (&entry == &model || entry.folder) continue;
    if (is_left_out(entry)) {
      left_out.push_back(&entry);
    } else {
      add(entry, new_name(entry, model));
    }
  }
  add_model(model);
  check_new_names();
  check_model_name(model);
  check_hiding_names();
  if (!left_out.empty()) {
    expect_not_linked(left_out, model);
    note(report, concat("left out: ", left_out.size(), left_out.size() == 1 ? " entry" : " entries",
                        " with metadata of macOS"));
  }
  report.entries = entries_.size();
  report.input_bytes = file_.size();
  report.file_bytes = file_size();
  // F35: an alignment that the caller requests may exceed the budget. One that the input states may not: many tiny
  // entries that state 32768 would make a small zip grow without limit.
  if (!options_.alignment) expansion_.check(report.file_bytes);
}

/// Finds the model in a zip that is not an archive. Returns its index.
std::size_t RepackPlan::find_model(RepackReport& report) {
  const ForeignModel model = find_foreign_model(file_, directory_, expansion_);
  const Place place = place_of(directory_.entries()[model.index]);
  if (model.dialect == Dialect::pytorch) {
    throw Error(Code::archive_model_missing,
                "this is a PyTorch export: its model refers to tensors in a form that has to be converted", place, {},
                {Hint::pack_it});
  }
  if (!model.folder.empty()) {
    throw Error(Code::archive_model_missing,
                concat("the model is in the folder ", base::quoted(model.folder), ", not in the root of the zip file"),
                place, {}, {Hint::pack_it});
  }
  note(report, read_as(model.dialect));
  return model.index;
}

void RepackPlan::add(const Entry& entry, std::string_view name) {
  check_reserved(name, {std::string(name), entry.central_offset});
  expansion_.add(entry);
  entries_.push_back({&entry, name, alignment_of(entry), may_change(entry)});
}

void RepackPlan::add_model(const Entry& model) {
  RepackModels::check_size(model);
  entries_.push_back({&model, model_entry_name, alignment_of(model), may_change(model)});
}

/// Returns the entry's name in the archive. An entry that the model refers to keeps its name, because the model is not
/// edited.
std::string_view RepackPlan::new_name(const Entry& entry, const Entry& model) {
  const std::string_view name = renames_(entry.name);
  const auto fault = zip::name_fault(name);
  if (name == entry.name && !fault) return name;
  check_kind(entry, name);
  if (models_.links(model).contains(entry.name)) {
    throw Error(fault ? fault->code : Code::usage_argument,  // F23
                concat(fault ? fault->message : "the entry cannot be renamed",
                       "; the model or a graph refers to it, and repack does not edit models"),
                place_of(entry), {}, {Hint::pack_names_tensors});
  }
  // F23: the entry is not renamed, so its name in the input must be valid.
  if (fault) throw Error(fault->code, std::string(fault->message), place_of(entry), {}, {Hint::rename_entry});
  return name;
}

/// Refuses names that turn a graph into a side file or a side file into a graph: a graph links to entries, and a side
/// file does not.
void RepackPlan::check_kind(const Entry& entry, std::string_view name) const {
  if (is_graph_name(entry.name) == is_graph_name(name)) return;
  if (is_graph_name(name)) {
    throw Error(
        Code::usage_argument,
        concat("as ", base::quoted(name), " it would be a graph of the archive; a side file can be NAME.onnx.bin"),
        place_of(entry));
  }
  if (models_.links_of(entry).empty()) return;
  throw Error(Code::usage_argument,
              concat("it is a graph whose tensors are in entries of the archive; as ", base::quoted(name),
                     " it would be a side file, and these entries would be lost when the archive is next packed"),
              place_of(entry));
}

void RepackPlan::check_new_names() const {
  if (renames_.empty()) return;
  renames_.expect_all_met("entry");
  // F21: two entries with different names may have the same name after renaming.
  static_cast<void>(zip::index_of_names(
      entries_.size(), [this](std::uint32_t i) { return entries_[i].name; },
      [this](std::uint32_t i) { return entries_[i].entry->central_offset; }));
}

/// Refuses to make an archive that breaks G4. If no entry is renamed, accepts an archive, and a model that cannot be
/// read, as it is.
void RepackPlan::check_model_name(const Entry& model) const {
  if (renames_.empty() && (appended_from_ || !models_.may_have_name(model))) return;
  std::vector<std::string_view> names;
  for (const PlannedEntry& planned : entries_) names.push_back(planned.name);
  try {
    models_.prove_model_name(model, names);
  } catch (const Error& error) {
    if (!renames_.empty() || error.code() == Code::archive_graph_name) throw;
  }
}

/// Refuses new names that hide a weight from a graph of an archive (G6). For other zips, `prove_graphs` checks this.
void RepackPlan::check_hiding_names() const {
  if (!appended_from_ || renames_.empty()) return;
  RepackModels::Names names;
  for (const PlannedEntry& planned : entries_) names.emplace(planned.name);
  for (const PlannedEntry& planned : entries_) {
    if (!is_graph_name(planned.name) || folder_of_name(planned.name).empty()) continue;
    for (const std::string& location : models_.links_of(*planned.entry)) {
      const std::string beside = name_beside(planned.name, location);
      if (names.contains(beside))
        throw base::annotate(shadow_error(beside, location, 0), {.place = place_of(*planned.entry)});
    }
  }
}

/// Refuses to omit entries that hold the data of a tensor. A model that cannot be read is copied unchanged.
void RepackPlan::expect_not_linked(const std::vector<const Entry*>& left_out, const Entry& model) {
  const RepackModels::Names* linked = nullptr;
  try {
    linked = &models_.links(model);
  } catch (const Error&) {  // an error of the format, because the bytes are mapped
    return;
  }
  for (const Entry* entry : left_out) {
    if (!linked->contains(entry->name)) continue;
    throw Error(Code::archive_name_reserved,  // F36
                "the model refers to it, but an archive cannot have this name, and repack does not edit models",
                place_of(*entry), {}, {Hint::pack_names_tensors});
  }
}

void RepackPlan::prove_graphs(zip::Writer* writer) const {
  if (appended_from_) return;  // an archive is not changed
  NamedSizes sizes;
  for (const PlannedEntry& planned : entries_) sizes.emplace_back(planned.name, planned.entry->size);
  std::ranges::sort(sizes);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const PlannedEntry& planned = entries_[i];
    const bool from_output = planned.entry->deflated && !options_.output.dry_run;
    if (!is_graph_name(planned.name) || from_output != (writer != nullptr)) continue;
    if (writer != nullptr) {
      const base::MappedFile written = writer->map_added(i);
      prove_graph(planned, written.bytes(), sizes);
    } else if (planned.entry->deflated) {
      prove_graph(planned, models_.bytes_of(*planned.entry), sizes);
    } else {
      prove_graph(planned, base::section(file_, planned.entry->data_offset, planned.entry->size), sizes);
    }
  }
}

void RepackPlan::prove_graph(const PlannedEntry& planned, Bytes graph, const NamedSizes& sizes) const {
  try {
    prove_model_entry(planned.name, graph, sizes);
  } catch (const Error& error) {
    zip::expect_crc(*planned.entry, base::crc32(0, graph));  // a CRC error is clearer than the fault in the graph
    throw Evidence{.graph_by_name = planned.entry->name,
                   .of_links = Hint::pack_it}(base::annotate(error, {.place = place_of(*planned.entry)}));
  }
}

bool RepackPlan::may_change(const Entry& entry) const { return appended_from_ && entry.data_offset >= *appended_from_; }

std::uint64_t RepackPlan::alignment_of(const Entry& entry) const {
  const std::uint64_t recorded = std::max(entry.alignment, zip::alignment_minimum);
  return zip::entry_alignment(options_.alignment.value_or(recorded), entry.size);
}

std::uint64_t RepackPlan::file_size() const {
  std::vector<zip::SizedEntry> sized;
  sized.reserve(entries_.size());
  for (const PlannedEntry& planned : entries_) sized.push_back({planned.name, planned.entry->size, planned.alignment});
  return zip::file_size(sized);
}

}  // namespace onnxar
