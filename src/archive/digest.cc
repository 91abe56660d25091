// Computes the digest of an archive's content (spec/digest.md).
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/change_detection.h"
#include "archive/entry_uses.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "base/sources.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "onnxar/listing.h"

namespace onnxar {
namespace {

/// Returns the entries that the digest covers (S1), in the order of the file. Bytes that a tensor names are always
/// covered.
std::vector<ArchiveEntry> covered_entries(const Archive& archive) {
  std::vector<ArchiveEntry> covered;
  for (const ArchiveEntry& entry : archive.entries()) covered.push_back(entry);
  const auto signature = archive.find(signature_entry_name);
  if (signature && uses_of(archive).kind_of(signature->index) == EntryKind::side_file) {
    covered.erase(covered.begin() + static_cast<std::ptrdiff_t>(signature->index));
  }
  return covered;
}

EntryDigest digest_of(const Archive& archive, const ArchiveEntry& entry, base::SharedProgress& progress) {
  base::Sha256 sum;
  archive.copy(entry, [&](Bytes piece) {
    sum.update(piece);
    progress.add(piece.size());
  });
  return {std::string(entry.name), std::move(sum).hex()};
}

std::vector<EntryDigest> digests_of(const Archive& archive, std::vector<ArchiveEntry> entries,
                                    const DigestOptions& options) {
  std::uint64_t total = 0;
  for (const ArchiveEntry& entry : entries) total += entry.size;
  const std::size_t threads = ArchiveAccess::file(archive).threads_for(total, options.threads);
  // A large entry that begins last would keep one thread busy after the others.
  if (threads > 1) std::ranges::sort(entries, std::ranges::greater(), &ArchiveEntry::size);
  std::vector<EntryDigest> digests(entries.size());
  base::SharedProgress progress(options.progress, total);
  base::parallel_for(entries.size(), threads,
                     [&](std::size_t i) { digests[i] = digest_of(archive, entries[i], progress); });
  progress.finish();
  std::ranges::sort(digests, {}, &EntryDigest::name);
  return digests;
}

}  // namespace

std::string Digest::manifest() const {
  std::string text;
  for (const EntryDigest& entry : entries) text += base::concat(entry.hex, "  ", entry.name, "\n");
  return text;
}

Digest digest(const Archive& archive, const DigestOptions& options) {
  Digest digest{{}, digests_of(archive, covered_entries(archive), options)};
  expect_not_cut(archive);
  base::Sha256 sum;
  sum.update(as_bytes(digest.manifest()));
  digest.hex = std::move(sum).hex();
  return digest;
}

}  // namespace onnxar
