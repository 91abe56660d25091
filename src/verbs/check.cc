#include "archive/check.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "archive/access.h"
#include "archive/changed.h"
#include "archive/keys.h"
#include "base/mapped_file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "onnx/tensor_length.h"
#include "onnx/tensor_values.h"
#include "onnx/typed_data.h"
#include "onnxar/convert.h"
#include "source/checksum.h"
#include "source/graph_rules.h"
#include "source/open.h"
#include "verbs/faults.h"

namespace onnxar {
namespace {

using base::concat;

constexpr std::uint64_t small_external_below = 1024;

/// The part of the model and the further graphs: every tensor, then what all of them together make of the archive.
class ModelCheck {
 public:
  ModelCheck(Resolver& source, const CheckOptions& options, std::vector<Finding>& findings)
      : source_(source), max_depth_(options.load.max_depth), data_(options.data), findings_(findings) {}

  /// Whether the model could be read to its end.
  bool run() {
    const bool is_readable = check_selected([this] { return name_fault(); });
    bool all_are_readable = is_readable;
    for (const std::string& graph : source_.graphs()) {
      ++graph_;
      all_are_readable = check_graph(graph) && all_are_readable;
    }
    if (graph_ != 0) source_.select_model();
    // What cannot be read may name anything.
    if (!all_are_readable) return is_readable;
    check_slices();
    if (source_.archive() != nullptr) check_unused(*source_.archive());
    return is_readable;
  }

  /// The same without the further graphs, and without a word on what is unused.
  void run_model_alone() {
    check_selected([this] { return name_fault(); });
  }

 private:
  struct Use {
    std::string tensor;  // of the last graph that has one
    Place place;         // of the first tensor
    std::size_t graph;   // the last one
  };
  /// Slices go by the bytes that they are, whatever names lead to them.
  using Slices = std::map<Extent, Use>;

  /// Whether the graph that is selected could be read to its end. `metadata_fault` is asked for if it could.
  template <typename MetadataCheck>
  bool check_selected(const MetadataCheck& metadata_fault) {
    try {
      onnx::walk_tensors(source_.model(), [this](const onnx::TensorSite& site) { check_tensor(site); }, {max_depth_});
      const std::optional<MetadataFault> fault = metadata_fault();
      if (fault)
        findings_.push_back(source_.annotate(Error(fault->code, fault->message, {"", fault->offset})).finding());
      return true;
    } catch (const Error& error) {
      findings_.push_back(source_.annotate(error).finding());
      return false;
    }
  }

  bool check_graph(const std::string& name) {
    const Archive& archive = *source_.archive();
    const ArchiveEntry entry = *archive.find(name);
    if (entry.size > model_size_maximum) {  // G2
      const std::uint64_t header = ArchiveAccess::directory(archive).entries()[entry.index].central_offset;
      findings_.push_back(
          {Severity::error, Code::archive_model_too_large, {name, header}, oversize_text("the graph is", entry.size)});
      return false;
    }
    try {
      source_.select_graph(name);
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
      return false;  // the container's pass has said so
    }
    return check_selected([this] { return link_marker_fault(source_.model()); });
  }

  std::optional<MetadataFault> name_fault() const {
    const Archive* archive = source_.archive();
    if (archive == nullptr) return std::nullopt;
    return model_name_fault(source_.model(),
                            {archive->size(), [archive](std::size_t i) { return archive->entry(i).name; }});
  }

  void check_tensor(const onnx::TensorSite& site) {
    if (site.tensor.typed_data) onnx::prove_typed_data(site.model, site.tensor);  // ends the reading of the model
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
      add(Severity::error, error.code(), site, error.message(), error.advice());
    }
  }

  void remark_inline(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    if (tensor.lacks_data()) {
      findings_.push_back({Severity::warning,  // R11
                           Code::onnx_tensor_no_data,
                           source_.place_of(site),
                           no_data(site),
                           {Hint::dump_or_freeze}});
    }
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
      annotated(source_, site, [&] { onnx::prove_type(site.tensor); });
      const Resolved resolved = source_.resolve(site);
      remark_slice(site, resolved.payload.bytes());
      if (data_) verify_checksum(resolved, site);
    } catch (const Error& error) {
      add_error(site, error);
    }
  }

  /// A million tensors may name one entry: its SHA-1 is computed once.
  void verify_checksum(const Resolved& resolved, const onnx::TensorSite& site) {
    const auto claim = source_.claim_of(resolved, site);
    if (!claim) return;
    std::string& sum = checksums_[Extent(resolved.payload)];
    if (sum.empty()) sum = checksum_of(*resolved.payload.source);
    if (sum != claim->checksum) throw claim->error(source_.path());
  }

  /// An entry that a link names is used, also where the link is broken in another way.
  void note_use(const onnx::TensorSite& site) {
    if (source_.archive() == nullptr || !site.tensor.external.location) return;
    if (const auto entry = source_.archive()->find(*site.tensor.external.location)) used_.push_back(entry->index);
  }

  void add_error(const onnx::TensorSite& site, const Error& error) {
    if (error.code() == Code::onnx_link_stale || error.code() == Code::onnx_link_bad_marker) {
      if (std::exchange(link_is_broken_, true)) return;  // one for all tensors
    }
    // The container's pass has reported every broken entry already.
    if (source_.archive() != nullptr && id(error.code()).starts_with("zip.")) return;
    if (kind(error.code()) == Kind::format) {
      findings_.push_back(error.finding());
    } else {
      // A finding has no path: that of a data file goes into the text.
      add(Severity::error, error.code(), site, error.line(""), error.advice());
    }
  }

  void remark_slice(const onnx::TensorSite& site, Bytes bytes) {
    const onnx::ExternalData& external = site.tensor.external;
    if (external.unknown_key) {  // R7
      add(Severity::warning, Code::onnx_external_unknown_key, site,
          concat("external_data has the unknown key ", base::quoted(*external.unknown_key)));
    }
    if (external.checksum && !parse_checksum(*external.checksum)) {  // R13
      add(Severity::warning, Code::onnx_external_checksum, site, no_checksum(*external.checksum));
    }
    if (bytes.size() < small_external_below) {  // R5
      add(Severity::warning, Code::onnx_external_small, site,
          concat("only ", bytes.size(), " bytes are outside; some tools want tensors below 1024 bytes in the model"));
    }
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % default_alignment != 0) {  // R6
      add(Severity::warning, Code::onnx_external_unaligned, site, "its data does not begin at a multiple of 64 bytes",
          {Hint::pack_aligns});
    }
    if (source_.archive() != nullptr && !is_identifier(*external.location)) {  // R2
      add(Severity::warning, Code::archive_key_not_identifier, site,
          concat("its key ", base::quoted(*external.location), " is no C identifier"));
    }
    if (bytes.empty()) return;
    const auto [known, added] = slices_.try_emplace(Extent(bytes), Use{describe(site), source_.place_of(site), graph_});
    if (added) return;
    Use& use = known->second;
    if (use.graph == graph_) {  // R9
      add(Severity::note, Code::archive_entry_shared, site, concat("it shares its data with ", use.tensor));
    } else {  // graphs are there to share weights
      use.tensor = describe(site);
      use.graph = graph_;
    }
  }

  /// Slices that overlap without being the same: in order of address, each against the one that reaches farthest.
  void check_slices() {
    std::uintptr_t farthest = 0;
    const Use* before = nullptr;
    for (const auto& [slice, use] : slices_) {
      if (before != nullptr && slice.begin() < farthest) {  // R3
        findings_.push_back({Severity::warning, Code::archive_entry_overlapping_links, use.place,
                             concat(use.tensor, ": its data overlaps that of ", before->tensor)});
      }
      if (slice.end() > farthest) {
        farthest = slice.end();
        before = &use;
      }
    }
  }

  void check_unused(const Archive& archive) {
    std::ranges::sort(used_);
    const bool edited = std::ranges::any_of(
        findings_, [](const Finding& finding) { return finding.code == Code::archive_tail_superseded; });
    for (std::size_t i = 0; i + 1 < archive.size(); ++i) {
      const ArchiveEntry entry = archive.entry(i);
      if (!is_identifier(entry.name) || std::ranges::binary_search(used_, i)) continue;
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

  Resolver& source_;
  std::size_t max_depth_;
  bool data_;
  bool link_is_broken_ = false;
  std::size_t graph_ = 0;  // that is checked: 0 for the model
  std::vector<Finding>& findings_;
  std::vector<std::size_t> used_;
  Slices slices_;
  std::map<Extent, std::string> checksums_;  // of whole files and entries
};

/// Adds what is found in the order of the entries, whichever thread was first.
void check_data(const Archive& archive, std::size_t threads, std::vector<Finding>& findings) {
  std::mutex mutex;
  std::map<std::size_t, Finding> found;
  base::parallel_for(archive.size(), threads, [&](std::size_t i) {
    try {
      archive.verify(archive.entry(i));
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
      const std::scoped_lock lock(mutex);
      if (error.code() == Code::zip_data_crc) found.emplace(i, error.finding());
    }
  });
  for (auto& [index, finding] : found) findings.push_back(std::move(finding));
}

/// Local faults are found entry by entry; a model behind one cannot be read.
bool model_is_readable(const Archive& archive) {
  try {
    static_cast<void>(archive.model());
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Returns whether the model could be read to its end.
bool check_model(Resolver& source, const CheckOptions& options, std::vector<Finding>& findings) {
  const bool is_readable = ModelCheck(source, options, findings).run();
  if (options.data && source.linked_archive() != nullptr) {
    check_data(*source.linked_archive(), options.load.threads, findings);
  }
  return is_readable;
}

/// Our verbs know a model by its content and take it. Programs that read nothing but archives refuse it, and its name
/// promises one.
void check_plain_model(Resolver& source, const std::filesystem::path& path, const CheckOptions& options,
                       std::vector<Finding>& findings) {
  const bool is_model = check_model(source, options, findings);
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(), [](char c) { return base::is_capital(c) ? c | 0x20 : c; });
  if (!is_model || extension != ".onnxar") return;
  findings.insert(findings.begin(), {Severity::warning,
                                     Code::archive_plain_model,
                                     {},
                                     "this is a plain ModelProto, not an archive, though its name ends in .onnxar",
                                     {Hint::pack_or_rename}});
}

void check_archive(Archive archive, const CheckOptions& options, std::vector<Finding>& findings) {
  findings = check_container(archive);
  if (options.data) check_data(archive, options.load.threads, findings);
  if (!model_is_readable(archive)) return;
  const auto source = resolver_of(std::move(archive), options.load);
  check_model(*source, options, findings);
  if (passed(findings)) expect_not_cut(*source->archive());
}

void make_strict(std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (finding.severity == Severity::warning || finding.code == Code::archive_tail_superseded) {
      finding.severity = Severity::error;
    }
  }
}

}  // namespace

std::vector<Finding> check(const std::filesystem::path& path, const CheckOptions& options) {
  CheckOptions once = options;
  once.load.verify_data = false;  // CRCs are compared once, entry by entry
  std::vector<Finding> findings;
  const auto file = std::make_shared<const base::MappedFile>(base::MappedFile::open(path));
  try {
    if (looks_like_zip(file->bytes())) {
      check_archive(Archive::open(path), once, findings);
    } else {
      check_plain_model(*resolver_of(file, path, once.load), path, once, findings);
    }
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;
    findings.push_back(error.finding());
  }
  // Readers take no lock: what looks like damage may be half of an edit.
  if (!passed(findings) && file->is_changed()) throw changed_while_read(path);
  if (options.strict) make_strict(findings);
  return findings;
}

void refuse_faults(Resolver& source, const LoadOptions& options) {
  std::vector<Finding> findings = check_container(*source.archive());
  ModelCheck(source, {false, false, options}, findings).run_model_alone();
  const auto fault = std::ranges::find(findings, Severity::error, &Finding::severity);
  if (fault != findings.end()) {
    throw Error(fault->code, fault->message, fault->place, source.archive()->path(), fault->advice);
  }
}

bool passed(const std::vector<Finding>& findings) noexcept {
  return std::ranges::none_of(findings, [](const Finding& finding) { return finding.severity == Severity::error; });
}

}  // namespace onnxar
