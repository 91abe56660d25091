// Opens archives at addresses, and downloads files.
#include "onnxar/remote.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/container_check.h"
#include "archive/opening.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/sources.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "os/names.h"
#include "remote/arrived_entries.h"
#include "remote/http_file.h"
#include "remote/part_file.h"
#include "zip/directory.h"

namespace onnxar {
namespace {

/// Identifies the file that the pieces belong to and its version; empty if the server states no version. Contains the
/// address, because two files may have the same time, but not its query, because each download may have its own
/// signature.
std::string version_of(const HttpFile& file) {
  if (!file.has_ranges()) return {};
  const std::string& version = file.version().etag.empty() ? file.version().last_modified : file.version().etag;
  return version.empty() ? version : base::concat(version, " ", os::text_of(file.name()));
}

/// Returns the pieces that are missing, those that touch joined to runs: a request costs a round trip, in which its
/// connection is idle. Each connection gets two runs or more, so that all of them end at about the same time.
std::vector<base::ByteRange> missing_runs(const PartFile& part, std::uint64_t size, std::size_t connections) {
  constexpr std::uint64_t most_pieces = 16;
  const std::uint64_t pieces = (size - part.bytes()) / piece_size;
  const std::uint64_t most = piece_size * std::clamp<std::uint64_t>(pieces / 2 / connections, 1, most_pieces);
  std::vector<base::ByteRange> runs;
  for (std::uint64_t at = 0; at < size; at += piece_size) {
    if (part.has(at / piece_size)) continue;
    if (runs.empty() || runs.back().end() != at || runs.back().length >= most) runs.push_back({at, 0});
    runs.back().length += std::min(piece_size, size - at);
  }
  return runs;
}

/// Downloads the missing pieces, and records each when it is complete. Returns whether each entry is verified.
std::vector<bool> fetch_pieces(const HttpFile& file, const zip::Directory& directory, PartFile& part,
                               const GetOptions& options) {
  const std::uint64_t size = file.size();
  part.set_size(size);
  ArrivedEntries arrived(directory, part, options.output.threads);
  base::Progress progress(options.progress, size);
  progress.add(part.bytes());
  const auto receive = [&](std::uint64_t offset, Bytes bytes) {
    part.write(offset, bytes);
    // The bytes of a run come in their order, and it begins with a piece: one is complete when its last byte came.
    const std::uint64_t end = offset + bytes.size();
    for (std::uint64_t piece = offset / piece_size; piece * piece_size < end; ++piece) {
      const std::uint64_t piece_end = std::min((piece + 1) * piece_size, size);
      if (piece_end > end) break;
      part.complete(piece);
      arrived.add(piece);
      progress.add(piece_end - piece * piece_size);
    }
  };
  file.fetch(missing_runs(part, size, options.remote.connections), receive);
  progress.finish();
  return arrived.finish();
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

/// Proves the container, and the CRC-32 of each entry that was not verified with `directory`. Writes the result to
/// `report`. Errors have no path: the file has no name yet.
void prove(const PartFile& part, const zip::Directory* directory, std::vector<bool> verified, std::size_t threads,
           GetReport& report) {
  const Archive archive = open_range(part.handle(), {}, {});
  const std::vector<Finding> findings = check_container(archive);
  const auto fault = std::ranges::find(findings, Severity::error, &Finding::severity);
  if (fault != findings.end()) throw Error(fault->code, fault->message, fault->place, {}, fault->advice);
  // A server may have sent another directory than before.
  if (directory == nullptr || !is_same(*directory, ArchiveAccess::directory(archive))) verified.clear();
  verified.resize(archive.size());
  base::parallel_for(archive.size(), base::threads_for(archive.file().size(), threads), [&](std::size_t i) {
    if (!verified[i]) archive.verify(archive.entry(i));
  });
  report.entries = archive.size();
  report.file_bytes = archive.file().size();  // the server may not have sent it
}

/// Returns the directory of the archive on the server. Memory for the whole file is not kept: its addresses may be
/// scarce.
zip::Directory directory_of(const std::shared_ptr<const HttpFile>& file) {
  try {
    const base::RangedMemory memory(file);
    return read_directory(memory.bytes(), &memory, {});
  } catch (const Error& error) {
    throw error.with_path(file->name());
  }
}

/// Downloads the file and proves it. `directory` is the one on the server, or null if the server sends whole files
/// only.
void fetch_and_prove(const HttpFile& file, const zip::Directory* directory, PartFile& part, const GetOptions& options,
                     GetReport& report) {
  std::vector<bool> verified;
  bool has_ranges = directory != nullptr;
  try {
    if (has_ranges) verified = fetch_pieces(file, *directory, part, options);
  } catch (const Error& error) {
    if (error.code() != Code::remote_no_ranges) throw;
    has_ranges = false;  // the server no longer sends ranges
  }
  if (!has_ranges) fetch_in_one(file, part);
  prove(part, directory, std::move(verified), options.output.threads, report);
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

GetReport get(std::string_view address, const std::filesystem::path& output, const GetOptions& options) {
  const base::Existing existing = existing_of(options.output);
  base::OutputTarget target = base::find_target(output, existing);
  os::File lock = lock_output(target.path, options.output);
  const auto file = std::make_shared<const HttpFile>(address, options.remote, WholeFiles::allowed);
  GetReport report{.file_bytes = file->size()};
  // A file that is not an archive is refused before it is downloaded.
  std::optional<zip::Directory> directory;
  if (file->has_ranges()) report.entries = directory.emplace(directory_of(file)).entries().size();
  if (options.output.dry_run) return report;
  PartFile part(std::move(target), version_of(*file), file->size());
  report.resumed_bytes = part.bytes();
  try {
    fetch_and_prove(*file, directory ? &*directory : nullptr, part, options, report);
  } catch (const Error& error) {
    if (kind(error.code()) == Kind::format) part.discard();  // the next download starts from the beginning
    throw error.with_path(part.target());
  }
  part.publish(existing, sync_of(options.output), std::move(lock));
  return report;
}

}  // namespace onnxar
