// Checks every local header of an archive, and the states before each of its edits.
#include "archive/container_check.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/local_entry.h"
#include "base/checked.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "zip/directory.h"

namespace onnxar {
namespace {

using base::concat;

class ContainerCheck {
 public:
  ContainerCheck(base::Kept<const Archive> archive, base::Kept<zip::KnownZeros> zeros)
      : archive_(archive), zeros_(zeros) {}

  std::vector<Finding> run() {
    if (directory().unneeded_zip64()) {  // R1
      remark(Severity::warning, Code::zip_zip64_unneeded, {"", directory().offset()},
             "the zip64 end records are not needed; some tools warn about them");
    }
    ArchiveAccess::reader(archive_).fetch_headers();
    for (std::size_t i = 0; i < archive_.size(); ++i) check_entry(archive_.entry(i));
    return std::move(findings_);
  }

 private:
  [[nodiscard]] const zip::Directory& directory() const { return ArchiveAccess::directory(archive_); }

  void check_entry(const ArchiveEntry& entry) {
    try {
      const zip::LocalEntry local = local_entry(archive_, entry.index);
      if (local.unneeded_zip64 || directory().entries()[entry.index].unneeded_zip64) {  // R1, once for both headers
        remark(Severity::warning, Code::zip_zip64_unneeded, {std::string(entry.name), entry.header_offset},
               "the zip64 field is not needed; some tools warn about it");
      }
      check_tail(entry, local.data_offset + entry.size);
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;
      findings_.push_back(error.finding());
    }
  }

  void check_tail(const ArchiveEntry& entry, std::uint64_t data_end) {
    const std::uint64_t limit = directory().limit_of(entry.index);
    if (data_end == limit) return;
    remark(Severity::note, Code::archive_tail_superseded, {std::string(entry.name), data_end},  // R10
           concat(limit - data_end, " bytes of an earlier state of the model follow this entry"));
    if (false_tail_) return;  // T2 is reported once, because later states may build on the broken one
    try {
      check_states(limit);
    } catch (const Error& error) {
      if (kind(error.code()) != Kind::format) throw;  // a failed read says nothing about the tail
      false_tail_ = true;
      throw Error(Code::archive_tail_prefix,  // T2
                  concat("the bytes that follow this entry are not the end of an earlier state: ", error.line("")),
                  {std::string(entry.name), data_end});
    }
  }

  /// Checks that the prefix of the file that ends at `end` is an archive, and every earlier state too. Each state is
  /// opened once. Each has a separate directory, and they share `zeros_`, so the total cost is linear in the file's
  /// size.
  void check_states(std::uint64_t end) {
    for (std::vector<std::uint64_t> ends = {end}; !ends.empty();) {
      const std::uint64_t state_end = ends.back();
      ends.pop_back();
      if (!states_seen_.insert(state_end).second) continue;
      const ArchiveFile state = ArchiveAccess::file(archive_).first(base::in_memory(state_end));
      const Archive earlier =
          ArchiveAccess::open({.file = state, .owner = archive_.owner(), .zeros = &zeros_}, without_limits);
      std::ranges::copy(tails_of(earlier), std::back_inserter(ends));
    }
  }

  void remark(Severity severity, Code code, Place place, std::string message) {
    findings_.push_back({severity, code, std::move(place), std::move(message)});
  }

  const Archive& archive_;
  zip::KnownZeros& zeros_;
  std::vector<Finding> findings_;
  base::KeyedSet<std::uint64_t> states_seen_;
  bool false_tail_ = false;
};

}  // namespace

std::vector<std::uint64_t> tails_of(const Archive& archive) {
  std::vector<std::uint64_t> ends;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    const std::uint64_t limit = ArchiveAccess::directory(archive).limit_of(i);
    if (archive.locate(entry).offset + entry.size != limit) ends.push_back(limit);
  }
  return ends;
}

std::vector<Finding> check_container(const Archive& archive, zip::KnownZeros* zeros) {
  zip::KnownZeros own;
  return ContainerCheck(archive, zeros != nullptr ? *zeros : own).run();
}

}  // namespace onnxar
