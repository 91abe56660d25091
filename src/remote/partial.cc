// Downloads the entries that graphs of an archive need, and packs them.
#include "remote/partial.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/entry_uses.h"
#include "archive/graphs.h"
#include "archive/output_options.h"
#include "base/byte_range.h"
#include "base/kept.h"
#include "base/open_file.h"
#include "base/output_file.h"
#include "base/output_target.h"
#include "base/progress.h"
#include "convert/package_files.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "os/names.h"
#include "remote/http_file.h"
#include "remote/part_file.h"
#include "remote/pieces.h"
#include "remote/reuse.h"

namespace onnxar {
namespace {

/// Reads a file on a server, and keeps what it read in a part file. Threads: any.
class KeptFile final : public RandomAccess {
 public:
  KeptFile(std::shared_ptr<const HttpFile> file, base::Kept<PartFile> part, std::size_t connections)
      : file_(std::move(file)), part_(part), connections_(connections) {
    part_.set_size(file_->size());
    part_.receive(file_->size() - file_->end().size(), file_->end());
  }

  [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
  [[nodiscard]] std::filesystem::path name() const override { return file_->name(); }

  void read(std::span<const RangeTarget> targets) const override {
    const std::scoped_lock lock(reading_);
    std::vector<base::ByteRange> wanted;
    for (const RangeTarget& target : targets) wanted.push_back({target.offset, target.target.size()});
    fetch_missing(wanted, [](std::uint64_t) {});
    for (const RangeTarget& target : targets)
      base::read_fully(part_.handle(), target.target, target.offset, part_.target());
  }

  /// Downloads what is missing of the ranges, which are in the order of the file. Calls `add` with the bytes that came.
  template <typename Add>
  void fetch_missing(std::span<const base::ByteRange> ranges, const Add& add) const try {
    std::vector<base::ByteRange> missing;
    for (const base::ByteRange& range : ranges) {
      for (const base::ByteRange& part : part_.ranges().missing_in(range)) missing.push_back(part);
    }
    file_->fetch(runs_of(nearly_touching_joined(missing), connections_), [&](std::uint64_t offset, Bytes bytes) {
      for (const base::ByteRange& range : part_.receive(offset, bytes)) add(range.length);
    });
  } catch (...) {
    part_.list();  // for the next call
    throw;
  }

 private:
  std::shared_ptr<const HttpFile> file_;
  PartFile& part_;
  std::size_t connections_;
  mutable std::mutex reading_;
};

LoadOptions load_options(const GetOptions& options) {
  LoadOptions load;
  load.graph = options.graphs.front();
  load.further_graphs.assign(options.graphs.begin() + 1, options.graphs.end());
  load.threads = options.output.threads;
  return load;
}

/// Returns which entries `pack` reads for these graphs: the graphs and their weights, and the side files. Other graphs
/// are read too, because they show which entries are side files.
std::vector<bool> needed_entries(const Archive& archive, const GetOptions& options) {
  std::vector<bool> needed(archive.size());
  EntryUses own(archive);
  for (const ArchiveEntry& graph : chosen_graphs(archive, load_options(options))) {
    own.note(graph.index);
    note_as_far_as_read(own, archive, graph);
  }
  EntryUses all(archive);
  for (const ArchiveEntry& each : all_graphs(archive)) note_as_far_as_read(all, archive, each);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    needed[i] = own.is_named(i) || all.kind_of(i) == EntryKind::side_file;
  }
  return needed;
}

std::vector<base::ByteRange> ranges_of(const Archive& archive, const std::vector<bool>& needed) {
  std::vector<base::ByteRange> ranges;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) ranges.push_back(ArchiveAccess::reader(archive).whole(i));
  }
  return ranges;
}

std::vector<ReusableEntry> reusable_of(const Archive& archive, const std::vector<bool>& needed,
                                       std::span<const OldArchive> old) {
  std::vector<ReusableEntry> reusable = reusable_entries(ArchiveAccess::directory(archive), old);
  std::erase_if(reusable, [&needed](const ReusableEntry& entry) { return !needed[entry.index]; });
  return reusable;
}

/// Downloads all that `pack` will read, except what archives on this machine have.
void prepare(const std::shared_ptr<const KeptFile>& kept, std::span<const OldArchive> old, PartFile& part,
             const GetOptions& options, GetReport& report) {
  const Archive archive = Archive::open(kept);
  const std::vector<bool> needed = needed_entries(archive, options);
  const std::vector<base::ByteRange> ranges = ranges_of(archive, needed);
  base::SharedProgress progress(options.progress, bytes_of(ranges));
  const std::uint64_t before = part.ranges().bytes();
  copy_entries(reusable_of(archive, needed, old), old, archive.size(), part, options.output.threads, progress);
  report.reused_bytes = part.ranges().bytes() - before;
  kept->fetch_missing(ranges, [&progress](std::uint64_t bytes) { progress.add(bytes); });
  progress.finish();
}

/// Packs the graphs of the archive at `input`: a path, or an address that `open` opens.
void pack_graphs(const std::filesystem::path& input, const RangesOpener& open, const std::filesystem::path& output,
                 const GetOptions& options, GetReport& report) {
  LoadOptions load = load_options(options);
  load.open_ranges = open;
  const ConvertReport packed = pack(input, output, {.output = options.output}, load);
  report.file_bytes = packed.file_bytes;
  report.entries = packed.payloads + packed.side_files + packed.graphs + 1;
}

GetReport plan_graphs(const std::shared_ptr<const HttpFile>& file, const std::filesystem::path& output,
                      std::span<const OldArchive> old, const GetOptions& options) {
  GetReport report{.remote_bytes = file->size()};
  const Archive archive = Archive::open(file);
  const std::vector<bool> needed = needed_entries(archive, options);
  report.reused_bytes = bytes_of(reusable_of(archive, needed, old));
  report.downloaded_bytes = bytes_of(ranges_of(archive, needed)) - report.reused_bytes;
  pack_graphs(file->name(), [&file](const std::filesystem::path&) { return file; }, output, options, report);
  return report;
}

}  // namespace

GetReport get_graphs(std::string_view address, const std::filesystem::path& output, const GetOptions& options) {
  base::OutputTarget target = base::find_target(output, existing_of(options.output));
  const std::vector<OldArchive> old = old_archives(target.path, options);
  const auto file = std::make_shared<const HttpFile>(address, options.remote);
  if (options.output.dry_run) return plan_graphs(file, output, old, options);
  PartFile part(std::move(target), file->version_text(), file->size(), base::Sync::none, PartFile::Room::sparse);
  GetReport report{.remote_bytes = file->size(), .resumed_bytes = part.ranges().bytes()};
  try {
    const auto kept = std::make_shared<const KeptFile>(file, part, options.remote.connections);
    prepare(kept, old, part, options, report);
    // All that it needs is there: an entry that is not would have a wrong header.
    pack_graphs(part.path(), {}, output, options, report);
  } catch (const Error& error) {
    if (kind(error.code()) == Kind::format) part.discard();  // the next download starts from the beginning
    throw;
  }
  part.discard();
  report.downloaded_bytes = file->received();
  return report;
}

}  // namespace onnxar
