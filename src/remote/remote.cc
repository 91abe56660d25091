// Opens archives at addresses, and downloads files.
#include "onnxar/remote.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/container_check.h"
#include "archive/evidence.h"
#include "archive/opening.h"
#include "archive/output_options.h"
#include "base/annotated.h"
#include "base/byte_range.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/ranged_memory.h"
#include "base/sha256.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "onnxar/listing.h"
#include "os/names.h"
#include "remote/arrived_entries.h"
#include "remote/http_file.h"
#include "remote/part_file.h"
#include "remote/partial.h"
#include "remote/pieces.h"
#include "remote/reuse.h"
#include "zip/directory.h"

namespace onnxar {
namespace {

/// Downloads the missing ranges. Returns whether each entry is verified; `verified` are already.
std::vector<bool> fetch_missing(const HttpFile& file, const zip::Directory& directory, PartFile& part,
                                std::vector<bool> verified, const GetOptions& options, base::SharedProgress& progress) {
  ArrivedEntries arrived(directory, part, options.output.threads, std::move(verified));
  const auto receive = [&](std::uint64_t offset, Bytes bytes) {
    const std::vector<base::ByteRange> written = part.receive(offset, bytes);
    arrived.add(written);
    for (const base::ByteRange& range : written) progress.add(range.length);
  };
  try {
    receive(file.size() - file.end().size(), file.end());
    file.fetch(runs_of(part.ranges().missing_in({0, file.size()}), options.remote.connections), receive);
  } catch (...) {
    part.list();  // for the next call
    throw;
  }
  return arrived.finish();
}

/// Copies what archives on this machine have, and downloads the rest. Returns whether each entry is verified.
std::vector<bool> copy_and_fetch(const HttpFile& file, const zip::Directory& directory,
                                 std::span<const ReusableEntry> reusable, std::span<const OldArchive> old,
                                 PartFile& part, const GetOptions& options, GetReport& report) {
  part.set_size(file.size());
  base::SharedProgress progress(options.progress, file.size());
  const std::uint64_t before = part.ranges().bytes();
  progress.add(before);
  std::vector<bool> verified =
      copy_entries(reusable, old, directory.entries().size(), part, options.output.threads, progress);
  report.reused_bytes = part.ranges().bytes() - before;
  verified = fetch_missing(file, directory, part, std::move(verified), options, progress);
  progress.finish();
  return verified;
}

void fetch_in_one(const HttpFile& file, PartFile& part) {
  std::uint64_t size = 0;
  try {
    file.fetch_whole([&](std::uint64_t offset, Bytes bytes) {
      part.write(offset, bytes);
      size = offset + bytes.size();
    });
  } catch (...) {
    part.discard();  // none of it could be used again
    throw;
  }
  part.set_size(size);
}

bool is_same(const zip::Directory& a, const zip::Directory& b) {
  return a.offset() == b.offset() && std::ranges::equal(a.headers(), b.headers());
}

void expect_digest(const Archive& archive, const GetOptions& options) {
  if (options.digest.empty()) return;
  const std::string found = digest(archive, {.threads = options.output.threads}).hex;
  if (found == options.digest) return;
  throw Error(Code::remote_answer,
              base::concat("the archive on the server has the digest ", found, " instead of ", options.digest));
}

/// Proves the container, the CRC-32 of each entry that was not verified with `directory`, and the digest. Writes the
/// result to `report`. Errors have no path: the file has no name yet.
void prove(const PartFile& part, const zip::Directory* directory, std::vector<bool> verified, const GetOptions& options,
           GetReport& report) {
  const Archive archive = open_range(part.handle(), {}, {});
  const std::vector<Finding> findings = check_container(archive);
  const auto fault = std::ranges::find(findings, Severity::error, &Finding::severity);
  if (fault != findings.end()) throw Error(fault->code, fault->message, fault->place, {}, fault->advice);
  // A server may have sent another directory than before.
  if (directory == nullptr || !is_same(*directory, ArchiveAccess::directory(archive))) verified.clear();
  verified.resize(archive.size());
  base::parallel_for(archive.size(), base::threads_for(archive.file().size(), options.output.threads),
                     [&](std::size_t i) {
                       if (!verified[i]) archive.verify(archive.entry(i));
                     });
  expect_digest(archive, options);
  report.entries = archive.size();
  report.file_bytes = archive.file().size();  // the server may not have sent it
}

/// Returns the directory of the archive on the server. Memory for the whole file is not kept: its addresses may be
/// scarce.
zip::Directory directory_of(const std::shared_ptr<const HttpFile>& file) {
  const std::filesystem::path name = file->name();
  const base::RangedMemory memory(file);
  const ArchiveFile bytes(memory);
  return base::annotated(Evidence{.path = &name, .file = bytes}, [&] { return read_directory(bytes, {}); });
}

/// Downloads the file and proves it. `directory` is the one on the server, or null if the server sends whole files
/// only.
void fetch_and_prove(const HttpFile& file, const zip::Directory* directory, std::span<const ReusableEntry> reusable,
                     std::span<const OldArchive> old, PartFile& part, const GetOptions& options, GetReport& report) {
  std::vector<bool> verified;
  bool has_ranges = directory != nullptr;
  try {
    if (has_ranges) verified = copy_and_fetch(file, *directory, reusable, old, part, options, report);
  } catch (const Error& error) {
    if (error.code() != Code::remote_no_ranges) throw;
    has_ranges = false;  // the server no longer sends ranges
  }
  if (!has_ranges) {
    report.reused_bytes = 0;
    fetch_in_one(file, part);
  }
  prove(part, directory, std::move(verified), options, report);
}

/// Downloads the file and proves it. If the proof finds a fault, downloads what was copied, once: different bytes can
/// have the same CRC-32.
void fetch_and_prove_twice(const HttpFile& file, const zip::Directory* directory,
                           std::span<const ReusableEntry> reusable, std::span<const OldArchive> old, PartFile& part,
                           const GetOptions& options, GetReport& report) {
  try {
    return fetch_and_prove(file, directory, reusable, old, part, options, report);
  } catch (const Error& error) {
    const bool is_of_content = kind(error.code()) == Kind::format || error.code() == Code::remote_answer;
    if (!is_of_content || !part.has_copies()) throw;
  }
  part.forget_copies();
  fetch_and_prove(file, directory, {}, old, part, options, report);
}

/// Plans what `get` would transfer.
GetReport planned(GetReport report, std::span<const ReusableEntry> reusable) {
  report.reused_bytes = bytes_of(reusable);
  report.downloaded_bytes = report.file_bytes - report.reused_bytes;
  return report;
}

void expect_possible(const GetOptions& options) {
  if (!options.graphs.empty() && !options.digest.empty())
    throw Error(Code::usage_argument, "a digest is that of a whole archive; pass either a digest or graphs");
  if (options.digest.empty() || base::parse_digest(options.digest, base::sha256_digits) == options.digest) return;
  throw Error(Code::usage_argument, base::concat(base::quoted(options.digest), " is not a digest, which has ",
                                                 base::sha256_digits, " digits from 0 to f"));
}

/// Returns the first of these variables that is set and not empty.
std::string environment(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

}  // namespace

RemoteOptions remote_options_of_environment() {
  RemoteOptions options;
  options.certificates = environment({"CURL_CA_BUNDLE", "SSL_CERT_FILE"});
  options.netrc = environment({"NETRC"});
  options.token = environment({"ONNXAR_TOKEN"});
  options.s3.access_key = environment({"AWS_ACCESS_KEY_ID"});
  options.s3.secret_key = environment({"AWS_SECRET_ACCESS_KEY"});
  options.s3.session_token = environment({"AWS_SESSION_TOKEN"});
  options.s3.endpoint = environment({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  if (std::string region = environment({"AWS_REGION", "AWS_DEFAULT_REGION"}); !region.empty()) {
    options.s3.region = std::move(region);
  }
  return options;
}

std::shared_ptr<const RandomAccess> open_remote(std::string_view address, const RemoteOptions& options) {
  return std::make_shared<const HttpFile>(address, options);
}

RangesOpener remote_files(const RemoteOptions& options) {
  return [options](const std::filesystem::path& path) -> std::shared_ptr<const RandomAccess> {
    const std::string text = os::text_of(path);
    return is_address(text) ? open_remote(text, options) : nullptr;
  };
}

UpdatePlan plan_update(const Archive& before, const Archive& after) {
  const zip::Directory& directory = ArchiveAccess::directory(after);
  const std::vector<const Archive*> archives = {&before};
  UpdatePlan plan{.file_bytes = after.file().size()};
  plan.downloaded_bytes = plan.file_bytes;
  for (const ArchiveEntry& entry : after.entries()) plan.entries.push_back({std::string(entry.name), entry.size});
  for (const ReusableEntry& entry : reusable_entries(directory, archives)) {
    plan.entries[entry.index].reused = true;
    plan.downloaded_bytes -= entry.entry.size;
  }
  return plan;
}

GetReport get(std::string_view address, const std::filesystem::path& output, const GetOptions& options) {
  expect_possible(options);
  if (!options.graphs.empty()) return get_graphs(address, output, options);
  const base::Existing existing = existing_of(options.output);
  base::OutputTarget target = base::find_target(output, existing);
  os::File lock = lock_output(target.path, options.output);
  const std::vector<OldArchive> old = old_archives(target.path, options);
  const auto file = std::make_shared<const HttpFile>(address, options.remote, WholeFiles::allowed);
  GetReport report{.file_bytes = file->size(), .remote_bytes = file->size()};
  // A file that is not an archive is refused before it is downloaded.
  std::optional<zip::Directory> directory;
  if (file->has_ranges()) report.entries = directory.emplace(directory_of(file)).entries().size();
  const std::vector<ReusableEntry> reusable =
      directory ? reusable_entries(*directory, old) : std::vector<ReusableEntry>();
  if (options.output.dry_run) return planned(report, reusable);
  PartFile part(std::move(target), file->version_text(), file->size(), sync_of(options.output));
  report.resumed_bytes = part.ranges().bytes();
  try {
    fetch_and_prove_twice(*file, directory ? &*directory : nullptr, reusable, old, part, options, report);
  } catch (const Error& error) {
    if (kind(error.code()) == Kind::format) part.discard();  // the next download starts from the beginning
    throw error.with_path(part.target());
  }
  report.downloaded_bytes = file->received();
  part.publish(existing, std::move(lock));
  return report;
}

}  // namespace onnxar
