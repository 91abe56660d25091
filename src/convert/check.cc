// Checks archives and plain models: container, model and data.
#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "archive/access.h"
#include "archive/change_detection.h"
#include "archive/container_check.h"
#include "archive/opened_input.h"
#include "base/open_file.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/text.h"
#include "convert/model_check.h"
#include "convert/open.h"
#include "onnxar/convert.h"
#include "os/names.h"

namespace onnxar {
namespace {

std::uint64_t bytes_of_entries(const Archive& archive) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < archive.size(); ++i) sum += archive.entry(i).size;
  return sum;
}

/// Adds findings in the order of the entries, so that reports do not depend on the order of the threads.
void check_data(const Archive& archive, const CheckOptions& options, std::vector<Finding>& findings) {
  std::mutex mutex;
  std::map<std::size_t, Finding> found;
  base::SharedProgress verified(options.progress, bytes_of_entries(archive));
  const std::size_t threads = ArchiveAccess::file(archive).threads_for(archive.file().size(), options.load.threads);
  base::parallel_for(archive.size(), threads, [&](std::size_t i) {
    try {
      archive.verify(archive.entry(i));
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
      const std::scoped_lock lock(mutex);
      // Broken local headers were reported by the check of the container.
      if (error.code() == Code::zip_data_crc) found.emplace(i, error.finding());
    }
    verified.add(archive.entry(i).size);
  });
  verified.finish();
  for (auto& [index, finding] : found) findings.push_back(std::move(finding));
}

/// True if the local header of the model is valid. If it is not, the check of the container has already reported it.
bool model_is_readable(const Archive& archive) {
  try {
    static_cast<void>(archive.model());
    return true;
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;  // the read failed, or the file was changed
    return false;
  }
}

/// Checks a model that is not an archive, and warns if it is named like one. This library decides by the content and
/// can read it, but programs that only read archives refuse it.
void check_plain_model(FileSource& source, const std::filesystem::path& path, const CheckOptions& options,
                       std::vector<Finding>& findings) {
  const bool is_model = check_graphs(source, options, findings);
  if (options.data && source.linked_archive() != nullptr) check_data(*source.linked_archive(), options, findings);
  if (!is_model || base::folded_copy(os::text_of(path.extension())) != ".onnxar") return;
  findings.insert(findings.begin(), {Severity::warning,
                                     Code::archive_plain_model,
                                     {},
                                     "this is a plain ModelProto, not an archive, but its name ends in .onnxar",
                                     {Hint::pack_or_rename}});
}

void check_archive(Archive archive, const CheckOptions& options, std::vector<Finding>& findings) {
  findings = check_container(archive);
  if (options.data) check_data(archive, options, findings);
  // Keeps the findings of the container: a model that cannot be read must not hide them.
  if (!model_is_readable(archive)) return;
  const auto source = source_of(std::move(archive), options.load);
  check_graphs(*source, options, findings);
  if (passed(findings)) expect_not_cut(source->archive());
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
  once.load.graph.clear();        // all graphs are checked
  once.load.verify_data = false;  // check_data compares the CRC of each entry, so loading need not
  std::vector<Finding> findings;
  const OpenedInput input(path, once.load.open_ranges);
  try {
    if (input.is_zip()) {
      check_archive(input.archive(), once, findings);
    } else {
      check_plain_model(*file_source_of(input, once.load), path, once, findings);
    }
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;
    findings.push_back(error.finding());
  }
  // Readers take no lock, so an edit in progress may look like damage.
  if (!passed(findings) && input.file() && input.file()->is_changed()) throw base::changed_while_read(path);
  // Last, because the decision about a change depends on real errors, not on warnings that became errors.
  if (options.strict) make_strict(findings);
  return findings;
}

bool passed(const std::vector<Finding>& findings) noexcept {
  return std::ranges::none_of(findings, [](const Finding& finding) { return finding.severity == Severity::error; });
}

}  // namespace onnxar
