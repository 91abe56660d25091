// Finds faults in a model and its graphs: tensors, links, and unused entries.
#include "convert/model_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "archive/access.h"
#include "archive/container_check.h"
#include "archive/graph_rules.h"
#include "archive/keys.h"
#include "archive/model_proof.h"
#include "archive/tensor_text.h"
#include "base/kept.h"
#include "base/text.h"
#include "convert/checksum.h"
#include "convert/model_source.h"
#include "convert/slice_uses.h"
#include "onnx/duplicates.h"
#include "onnx/tensor_values.h"
#include "onnx/tensor_view.h"
#include "onnx/typed_data.h"

namespace onnxar {
namespace {

using base::concat;

/// R5: below this size, tools expect data inside the model.
constexpr std::uint64_t small_external_below = 1024;

/// Describes a data file that cannot be read: the index of its finding, and the number of tensors that name the file.
struct BrokenFile {
  std::size_t finding = 0;
  std::uint64_t uses = 0;
};

/// Checks every tensor of the model and of the other graphs, then how all of them together use the archive.
class ModelCheck {
 public:
  ModelCheck(base::Kept<ModelSource> source, const CheckOptions& options, base::Kept<std::vector<Finding>> findings)
      : source_(source), archive_(archive_of(source)), data_(options.data), findings_(findings) {}

  /// Returns true if the model could be read to its end.
  bool run() {
    const bool is_readable = check_selected([this] { return name_fault(); });
    count_uses_of_broken_files();
    bool all_are_readable = is_readable;
    for (const std::string& graph : source_.graphs()) {
      ++graph_;
      all_are_readable = check_graph(graph) && all_are_readable;
    }
    if (graph_ != 0) source_.select({});  // places of later findings are relative to the model again
    // A graph that cannot be read may refer to any entry and any slice, so no entry can be called unused.
    if (!all_are_readable) return is_readable;
    std::ranges::move(slices_.overlaps(), std::back_inserter(findings_));
    if (archive_ != nullptr) check_unused(*archive_);
    return is_readable;
  }

  /// Checks the model without other graphs and unused entries.
  void run_model_alone() {
    check_selected([this] { return name_fault(); });
  }

 private:
  /// Returns true if the selected graph could be read to its end. Calls `metadata_fault` only then.
  template <typename MetadataCheck>
  bool check_selected(const MetadataCheck& metadata_fault) {
    try {
      onnx::walk_tensors(source_.model(), [this](const onnx::TensorSite& site) { check_tensor(site); });
      onnx::walk_graphs(source_.model(), [this](const auto& levels) { check_names(levels); });
      const std::optional<MetadataFault> fault = metadata_fault();
      if (fault)
        findings_.push_back(source_.with_place(Error(fault->code, fault->message, {"", fault->offset})).finding());
      return true;
    } catch (const Error& error) {
      findings_.push_back(source_.with_place(error).finding());
      return false;
    }
  }

  bool check_graph(const std::string& name) {
    graph_name_ = name;
    const Archive& archive = *archive_;
    const ArchiveEntry entry = *archive.find(name);
    if (!fits_protobuf(entry.size)) {  // G2
      const std::uint64_t header = ArchiveAccess::directory(archive).entries()[entry.index].central_offset;
      findings_.push_back(
          {Severity::error, Code::archive_model_too_large, {name, header}, oversize_text("the graph is", entry.size)});
      return false;
    }
    try {
      source_.select(name);
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
      return false;  // reported by the check of the container
    }
    return check_selected([this] { return link_marker_fault(source_.model()); });
  }

  std::optional<MetadataFault> name_fault() const {
    if (archive_ == nullptr) return std::nullopt;
    std::vector<std::string_view> names;
    for (const ArchiveEntry& entry : archive_->entries()) names.push_back(entry.name);
    return model_name_fault(source_.model(), names);
  }

  void check_names(std::span<const onnx::Level> graph) {
    std::optional<std::uint64_t> last;
    const auto report = [&](std::string_view name, const onnx::Level& by, onnx::Range place) {  // R14
      if (std::exchange(last, place.begin) == place.begin) return;
      const std::string path = onnx::path_of(std::array{by}, onnx::path_of(graph));
      findings_.push_back({Severity::warning, Code::onnx_graph_duplicate, source_.place(place.begin),
                           concat(path, " defines the name ", base::quoted(name),
                                  " a second time in its graph; runtimes differ in which one they use: give each "
                                  "a name of its own")});
    };
    onnx::find_redefinitions(source_.model(), graph.back(), report);
  }

  void check_tensor(const onnx::TensorSite& site) {
    if (site.tensor.typed_data)
      onnx::prove_typed_data(site.model, site.tensor);  // damage here makes the rest of the message unreadable
    if (site.tensor.is_external()) {
      check_external(site);
    } else {
      check_inline(site);
    }
  }

  void check_inline(const onnx::TensorSite& site) {
    try {
      onnx::prove_type(site.tensor);
      onnx::prove_values(site.model, site.tensor);
      remark_inline(site);
    } catch (const Error& error) {
      // Added and not thrown: one run reports the faults of all tensors.
      add(Severity::error, error.code(), site, error.message(), error.advice());
    }
  }

  void remark_inline(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    if (tensor.lacks_data()) findings_.push_back(no_data(site, source_.place_of(site)));
    const std::uint64_t size = tensor.raw_data ? tensor.raw_data->size() : 0;
    if (size > tensor.expected_size().value_or(size)) {  // R8
      add(Severity::warning, Code::onnx_tensor_long_raw, site, onnx::raw_size_text(tensor, *tensor.expected_size()));
    }
    if (const auto surplus = onnx::surplus_values(site.model, tensor)) {  // R12
      add(Severity::warning, Code::onnx_tensor_long_typed, site,
          concat("it holds ", surplus->held, " values, but ", onnx::required_amount(tensor.type, surplus->wanted)));
    }
  }

  void check_external(const onnx::TensorSite& site) {
    note_use(site);
    try {
      source_.placed([&] { onnx::prove_type(site.tensor); }, &site);
      const Resolved resolved = source_.resolve(site);
      source_.placed([&] { expect_not_shadowed(site); }, &site);
      remark_slice(site, resolved.payload.region());
      if (data_) verify_checksum(resolved, site);
    } catch (const Error& error) {
      add_error(site, error);
    }
  }

  void expect_not_shadowed(const onnx::TensorSite& site) const {  // G6
    const std::string_view location = *site.tensor.external.location;
    const std::string beside = name_beside(graph_name_, location);
    if (archive_ != nullptr && archive_->find(beside)) throw shadow_error(beside, location, site.tensor.range.begin);
  }

  /// Verifies the checksum of a link. Many tensors may name one entry, so its SHA-1 is computed once.
  void verify_checksum(const Resolved& resolved, const onnx::TensorSite& site) {
    const auto claim = source_.claim_of(resolved, site);
    if (!claim) return;
    std::string& sum = checksums_[Extent(resolved.payload)];
    if (sum.empty()) sum = checksum_of(*resolved.payload.source);
    if (sum != claim->checksum) throw claim->error(source_.path());
  }

  /// Notes the entry that a link names. It counts as used even if the link is broken in another way.
  void note_use(const onnx::TensorSite& site) {
    if (archive_ == nullptr || !site.tensor.external.location) return;
    if (const auto entry = archive_->find(*site.tensor.external.location)) used_.push_back(entry->index);
  }

  void add_error(const onnx::TensorSite& site, const Error& error) {
    if (error.code() == Code::onnx_link_stale || error.code() == Code::onnx_link_bad_marker) {
      if (std::exchange(link_is_broken_, true)) return;  // one finding for all tensors
    }
    if (archive_ == nullptr && is_fault_of_file(error)) {
      BrokenFile& file = broken_files_.try_emplace(std::string(*site.tensor.external.location)).first->second;
      if (file.uses++ != 0) return;  // one finding for all tensors of the file
      file.finding = findings_.size();
    }
    // The check of the container has reported every broken entry.
    if (archive_ != nullptr && id(error.code()).starts_with("zip.")) return;
    if (kind(error.code()) == Kind::format) {
      findings_.push_back(error.finding());
    } else {
      // A finding has no path, so the text contains the data file's path.
      add(Severity::error, error.code(), site, error.line(""), error.advice());
    }
  }

  /// True if no tensor in the data file that a tensor names can be read.
  static bool is_fault_of_file(const Error& error) {
    switch (error.code()) {
      case Code::onnx_external_missing:
      case Code::onnx_external_outside:
      case Code::onnx_external_bad_location: return true;
      default: return kind(error.code()) == Kind::io;
    }
  }

  void count_uses_of_broken_files() {
    for (const auto& [location, file] : broken_files_) {
      if (file.uses == 1) continue;
      findings_[file.finding].message +=
          concat("; ", file.uses, " tensors have their data in ", base::quoted(location));
    }
  }

  void remark_slice(const onnx::TensorSite& site, Bytes bytes) {
    const onnx::ExternalData& external = site.tensor.external;
    if (external.unknown_key) {  // R7
      add(Severity::warning, Code::onnx_external_unknown_key, site, unknown_key_text(*external.unknown_key));
    }
    if (site.tensor.raw_data || site.tensor.typed_data) {  // only in a `.onnx` file; an archive was refused
      add(Severity::warning, Code::onnx_external_data_beside, site,
          "the model also holds the link's data, which onnx's checker refuses; `pack` drops it");
    }
    if (external.checksum && !parse_checksum(*external.checksum)) {  // R13
      add(Severity::warning, Code::onnx_external_checksum, site, no_checksum(*external.checksum));
    }
    if (bytes.size() < small_external_below) {  // R5
      add(Severity::warning, Code::onnx_external_small, site,
          concat("only ", bytes.size(), " bytes are external; some tools expect tensors below ", small_external_below,
                 " bytes inside the model"));
    }
    remark_alignment(site, bytes);
    if (archive_ != nullptr && !is_identifier(*external.location)) {  // R2
      add(Severity::warning, Code::archive_key_not_identifier, site,
          concat("its key ", base::quoted(*external.location), " is not a C identifier"));
    }
    const std::string shared = slices_.add(bytes, describe(site), source_.place_of(site), graph_);
    if (shared.empty()) return;  // R9
    add(Severity::note, Code::archive_entry_shared, site, concat("it shares its data with ", shared));
  }

  /// Adds a remark if the data is not aligned. Checks the address, because a runtime gets the address. Mappings begin
  /// at pages, so addresses show offsets.
  void remark_alignment(const onnx::TensorSite& site, Bytes bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    if (address % default_alignment == 0) return;
    const std::uintptr_t element = bits_per_element(site.tensor.type) / 8;
    std::string message = "its data does not begin at a multiple of 64 bytes";
    if (element > 1 && address % element != 0) {
      message += concat(", nor of the size of its elements (", element, " bytes), so it cannot be used in place");
    }
    add(Severity::warning, Code::onnx_external_unaligned, site, message, {Hint::pack_aligns});  // R6
  }

  void check_unused(const Archive& archive) {
    std::ranges::sort(used_);
    const bool edited = std::ranges::any_of(
        findings_, [](const Finding& finding) { return finding.code == Code::archive_tail_superseded; });
    for (std::size_t i = 0; i + 1 < archive.size(); ++i) {
      const ArchiveEntry entry = archive.entry(i);
      // Entries with other names are side files and graphs, which need not be named by a tensor.
      if (!is_key(entry.name) || std::ranges::binary_search(used_, i)) continue;
      // R4: a note after an edit, which leaves entries unused
      findings_.push_back({edited ? Severity::note : Severity::warning,
                           Code::archive_entry_unused,
                           {std::string(entry.name), entry.header_offset},
                           concat("no tensor refers to this entry of ", entry.size, " bytes"),
                           {Hint::pack_leaves_out}});
    }
  }

  void add(Severity severity, Code code, const onnx::TensorSite& site, const std::string& message,
           const Advice& advice = {}) {
    findings_.push_back({severity, code, source_.place_of(site), concat(describe(site), ": ", message), advice});
  }

  ModelSource& source_;
  const Archive* archive_;  // the archive of the model; null if there is none
  bool data_;
  bool link_is_broken_ = false;
  std::map<std::string, BrokenFile> broken_files_;  // by location, for a model that is not in an archive
  std::size_t graph_ = 0;                           // number of the checked graph: 0 for the model
  std::string graph_name_;                          // empty for the model
  std::vector<Finding>& findings_;
  std::vector<std::size_t> used_;
  SliceUses slices_;
  std::map<Extent, std::string> checksums_;  // checksums of whole files and entries
};

}  // namespace

bool check_graphs(ModelSource& source, const CheckOptions& options, std::vector<Finding>& findings) {
  return ModelCheck(source, options, findings).run();
}

void refuse_faults(ArchiveSource& source, const LoadOptions& options) {
  std::vector<Finding> findings = check_container(source.archive());
  ModelCheck(source, {false, false, options}, findings).run_model_alone();
  const auto fault = std::ranges::find(findings, Severity::error, &Finding::severity);
  if (fault == findings.end()) return;
  throw Error(fault->code, fault->message, fault->place, source.path(), fault->advice);
}

}  // namespace onnxar
