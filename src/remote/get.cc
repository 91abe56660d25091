#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "archive/check.h"
#include "archive/opening.h"
#include "archive/output_options.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "onnxar/archive.h"
#include "onnxar/remote.h"
#include "remote/http_file.h"
#include "remote/part_file.h"

namespace onnxar {
namespace {

/// By which the pieces of a file are known to be of one version; empty if nothing tells.
std::string version_of(const HttpFile& file) {
  if (!file.has_ranges()) return {};
  return file.version().etag.empty() ? file.version().last_modified : file.version().etag;
}

/// Downloads the pieces that are missing, and notes each when it is complete.
void fetch_pieces(const HttpFile& file, PartFile& part, const ProgressCallback& tell) {
  const std::uint64_t size = file.size();
  std::vector<base::ByteRange> missing;
  for (std::uint64_t at = 0; at < size; at += PartFile::piece_size) {
    if (!part.has(at / PartFile::piece_size)) missing.push_back({at, std::min(PartFile::piece_size, size - at)});
  }
  base::Progress progress(tell, size);
  progress.add(part.bytes());
  file.fetch(
      missing, [&part](std::uint64_t offset, Bytes bytes) { part.write(offset, bytes); },
      [&](std::size_t index) {
        part.complete(missing[index].offset / PartFile::piece_size);
        progress.add(missing[index].length);
      });
  progress.finish();
}

void fetch_in_one(const HttpFile& file, PartFile& part) {
  std::uint64_t size = 0;
  try {
    file.fetch_whole([&](std::uint64_t offset, Bytes bytes) {
      part.write(offset, bytes);
      size = offset + bytes.size();
    });
  } catch (...) {
    part.discard();  // nothing of it could be used again
    throw;
  }
  part.set_size(size);
}

/// Proves the container and the CRC-32 of each entry. Returns the number of entries. Errors have no path: the file has
/// no name yet.
std::size_t prove(const PartFile& part, std::size_t threads) {
  const Archive archive = open_range(part.handle(), {}, {});
  const std::vector<Finding> findings = check_container(archive);
  const auto fault = std::ranges::find(findings, Severity::error, &Finding::severity);
  if (fault != findings.end()) throw Error(fault->code, fault->message, fault->place, {}, fault->advice);
  base::parallel_for(archive.size(), base::threads_for(archive.file().size(), threads),
                     [&archive](std::size_t i) { archive.verify(archive.entry(i)); });
  return archive.size();
}

}  // namespace

GetReport get(std::string_view address, const std::filesystem::path& output, const GetOptions& options) {
  const base::Existing existing = existing_of(options.output);
  base::OutputTarget target = base::find_target(output, existing);
  const auto file = std::make_shared<const HttpFile>(address, options.remote, WholeFiles::allowed);
  GetReport report{.file_bytes = file->size()};
  // What is no archive is refused before it is downloaded.
  if (file->has_ranges()) report.entries = Archive::open(file).size();
  if (options.output.dry_run) return report;
  PartFile part(std::move(target), version_of(*file), file->size());
  report.resumed_bytes = part.bytes();
  file->has_ranges() ? fetch_pieces(*file, part, options.progress) : fetch_in_one(*file, part);
  try {
    report.entries = prove(part, options.output.threads);
  } catch (const Error& error) {
    if (kind(error.code()) == Kind::format) part.discard();  // the next download begins anew
    throw error.with_path(part.target());
  }
  part.publish(existing, sync_of(options.output));
  return report;
}

}  // namespace onnxar
