// Opens, prepares and stores the model that ONNX Runtime optimised, and records everything that it depends on.
#include "onnxar/stored_model.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "archive/access.h"
#include "archive/keys.h"
#include "archive/opening.h"
#include "base/open_file.h"
#include "base/output_target.h"
#include "base/path_state.h"
#include "base/paths.h"
#include "base/sha256.h"
#include "base/text.h"
#include "convert/links.h"
#include "onnxar/link.h"
#include "onnxar/listing.h"
#include "os/machine.h"
#include "os/names.h"
#include "runtime/own_folder.h"
#include "runtime/pack_stored.h"
#include "runtime/stored_about.h"
#include "runtime/stored_folder.h"
#include "runtime/workshop.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string sha256_of(Bytes bytes) {
  base::Sha256 hash;
  hash.update(bytes);
  return std::move(hash).hex();
}

/// Identifies the content by the directory, which has the CRC-32s of all entries.
std::string directory_of(const Archive& archive) { return sha256_of(ArchiveAccess::directory(archive).headers()); }

/// Returns how long ago the file was changed, by the clock of this machine.
std::chrono::nanoseconds age_of(const os::FileStatus& status) {
  return std::chrono::system_clock::now().time_since_epoch() - std::chrono::nanoseconds(status.changed);
}

/// Two changes within this time may have the same time stamp: FAT has a resolution of 2 s.
constexpr std::chrono::nanoseconds longest_tick = 2s;

/// Waits until a change of the file would get another time stamp, if the file system stores whole seconds.
void wait_for_next_tick(const os::FileStatus& status) {
  const std::chrono::nanoseconds left = longest_tick - age_of(status);
  const bool counts_seconds = status.changed % std::chrono::nanoseconds(1s).count() == 0;
  if (counts_seconds && left > 0s && left <= longest_tick) std::this_thread::sleep_for(left);
}

/// Identifies the file in this run of the system: no program sets the time of change. Returns an empty text if the
/// system does not identify its runs, or while the time of change is recent. REQUIRES: the data is read after this
/// call.
std::string state_of(const os::FileStatus& status, const Archive& archive) {
  const std::string boot = os::boot();
  if (boot.empty() || age_of(status) < longest_tick) return {};
  return base::concat(boot, status.identity.device, " ", status.identity.inode, " ", status.size, " ", status.modified,
                      " ", status.changed, " ", directory_of(archive), "\n");
}

template <typename Action>
bool succeeds(const Action& action) {
  try {
    return action();
  } catch (const Error&) {  // a new file replaces it, or `prepare` reports why not
    return false;
  }
}

}  // namespace

struct StoredModel::Parts {
  Parts(const fs::path& place, bool is_folder, Key of)
      : asked(base::absolute_path(place)), in_folder(is_folder), key(std::move(of)), archive(key.archive) {}

  static StoredModel find(const fs::path& place, bool is_folder, const Key& key) {
    StoredModel model(detail::own<Parts>(place, is_folder, key));
    Parts& parts = *model.parts_;
    const Archive archive = Archive::open(parts.archive.path());
    if (!key.graph.empty()) static_cast<void>(archive.graph(key.graph));
    parts.directory = directory_of(archive);
    const bool is_placed = succeeds([&] {
      parts.find_place();
      return true;
    });
    if (is_placed) parts.identify(archive);
    if (is_placed && succeeds([&] { return parts.look(); })) return model;
    parts.link = make_link(parts.archive.path(), {.graph = key.graph}, LinkForm::unmarked);
    return model;
  }

  fs::path asked;  // a file, or a folder
  bool in_folder;
  Key key;
  base::PathState archive;
  std::string directory;            // hash of the archive's directory
  std::optional<OwnFolder> folder;  // absent if it cannot be used
  std::string name;                 // name of the file in that folder
  std::string text;                 // describes what the stored model depends on; empty until `identify`
  Link link;
  std::optional<base::PathState> stored;  // the file to which the link leads
  std::unique_ptr<Workshop> workshop;     // set while it is made

  [[nodiscard]] fs::path file() const { return folder ? folder->path_of(name) : asked; }

  /// Finds the folder of the file, which only this user and root may change. Throws io.*.
  void find_place() {
    folder.reset();
    if (in_folder) {
      folder.emplace(OwnFolder::make(asked));
      return;
    }
    const fs::path target = base::find_target(asked, base::Existing::replace).path;  // the path may be a link
    folder.emplace(base::folder_of(target));
    name = os::text_of(target.filename());
  }

  /// Throws zip.data.crc.
  void identify(const Archive& opened) {
    text = key_text(key, digest_of(opened));
    if (in_folder) name = sha256_of(as_bytes(text)) + std::string(stored_suffix);
  }

  /// Computes the archive's digest, or reads a remembered one.
  [[nodiscard]] std::string digest_of(const Archive& opened) const {
    const std::string of_path = sha256_of(as_bytes(os::text_of(archive.path())));
    const std::string memo = (in_folder ? of_path : name) + ".digest";
    const std::string state = state_of(archive.status(), opened);
    const std::string known = state.empty() ? std::string() : folder->recall(memo);
    if (known.size() == state.size() + base::sha256_digits && known.starts_with(state))
      return known.substr(state.size());
    std::string digest = onnxar::digest(opened).hex;
    if (!state.empty() && archive.holds()) folder->remember(memo, state + digest);
    return digest;
  }

  /// Opens the stored model if it has this key. Throws zip.*, archive.*, onnx.*, wire.* and io.*.
  bool look() {
    const os::File opened = folder->open(name, stored_page);
    if (!opened.valid()) return false;
    base::PathState now(file());
    std::error_code failed;
    if (os::status_of(opened, failed) != now.status()) return false;  // another process is replacing it
    const Archive there = open_range(opened, {}, {}, now.path());
    const auto about = there.find(about_entry);
    if (!about || !as_text(there.bytes(*about)).starts_with(std::string(own_line) + text)) return false;
    compare(there, now);
    Link to_it = make_link(now.path(), {}, LinkForm::prepacked);
    if (!now.holds()) return false;
    link = std::move(to_it);
    stored = std::move(now);
    return true;
  }

  /// Compares the CRC-32s of the stored model, unless that was done for this state of the file. Throws zip.data.crc.
  void compare(const Archive& there, const base::PathState& now) const {
    const std::string state = state_of(now.status(), there), memo = name + ".seen";
    if (!state.empty() && folder->recall(memo) == state) return;
    for (const ArchiveEntry& entry : there.entries()) there.verify(entry);
    if (!state.empty() && now.holds()) folder->remember(memo, state);
  }

  /// Refuses a file that must not be replaced, and a model that cannot be stored. Throws output.exists, usage.* and
  /// io.*.
  void expect_storable() const {
    const fs::path path = file();
    if (base::are_same(path, archive.path())) {
      throw Error(Code::output_exists, "is the archive, and is not replaced: choose a different name", {}, path);
    }
    const auto status = base::status_if_there(path);
    if (status && status->size != 0)
      static_cast<void>(folder->open(name, stored_page));  // an empty file may be replaced
    const std::string refused = folder->recall(name + std::string(refused_suffix));
    if (refused.starts_with(text)) {
      const auto about = StoredAbout::read(refused);
      throw Error(Code::usage_argument, about ? about->rest : "was refused before", {}, path);
    }
    if (!link.remarks.empty()) {  // seen with 1.31: the stored model may use another definition
      throw Error(Code::onnx_graph_duplicate,
                  "the model defines a name more than once, so the model that ONNX Runtime stores may compute other "
                  "results; give each definition a name of its own",
                  link.remarks.front().place, archive.path());
    }
    refuse_unlinkable(path);
    for (const std::string_view entry : {about_entry, data_entry}) refuse_own_name(entry, path);
  }
};

StoredModel::StoredModel(detail::Owned<Parts> parts) noexcept : parts_(std::move(parts)) {}

StoredModel StoredModel::open(const fs::path& file, const Key& key) { return Parts::find(file, false, key); }

StoredModel StoredModel::open_in(const fs::path& folder, const Key& key) { return Parts::find(folder, true, key); }

bool StoredModel::is_stored() const noexcept { return parts_->stored.has_value(); }

const Link& StoredModel::link() const& noexcept { return parts_->link; }

fs::path StoredModel::prepare() {
  Parts& parts = *parts_;
  if (parts.stored) throw Error(Code::usage_argument, "the model is stored already", {}, parts.file());
  parts.workshop.reset();
  parts.find_place();
  if (parts.text.empty()) parts.identify(Archive::open(parts.archive.path()));
  parts.expect_storable();
  if (parts.in_folder) remove_abandoned(*parts.folder);
  wait_for_next_tick(parts.archive.status());
  verify_archive();
  parts.workshop = std::make_unique<Workshop>(*parts.folder, parts.name);
  return parts.workshop->path() / Workshop::model;
}

void StoredModel::store() {
  Parts& parts = *parts_;
  auto workshop = std::move(parts.workshop);  // a failure ends it too
  if (!workshop)
    throw Error(Code::usage_argument, "the model cannot be stored before its file is prepared", {}, parts.file());
  if (!workshop->is_held())
    throw Error(Code::archive_busy, "another process prepared the file; prepare and store it in one process", {},
                parts.file());
  verify_archive();  // first: after other errors, the session that wrote the model is as trustworthy as the archive
  const fs::path written = workshop->path() / Workshop::model, packed = workshop->path() / Workshop::packed;
  if (!has_ends_of(written, parts.link.model)) {
    constexpr const char* why = "the model that ONNX Runtime stored has other inputs or outputs than its original";
    refuse(why);
    throw Error(Code::usage_argument, why, {}, written);
  }
  pack_stored(workshop->path(), packed, std::string(own_line) + about_text(parts.text, parts.archive.path()));
  std::error_code failed;
  fs::permissions(packed, fs::perms::owner_read | fs::perms::owner_write, failed);
  if (!failed) fs::rename(packed, parts.file(), failed);
  if (failed) throw base::system_error(failed, "cannot write", parts.file());
  workshop.reset();  // before the file is read: a process that is killed later leaves nothing
  if (!parts.look()) throw Error(Code::io_changed, "another process replaced the stored model", {}, parts.file());
}

void StoredModel::refuse(std::string_view why) {
  const Parts& parts = *parts_;
  if (!parts.folder || parts.text.empty()) return;
  // Otherwise another model may have failed.
  if (!parts.archive.holds() || (parts.stored && !parts.stored->holds())) return;
  parts.folder->remember(parts.name + std::string(refused_suffix),
                         about_text(parts.text, parts.archive.path()) + std::string(why));
  if (parts.stored) parts.folder->remove(parts.name);
}

void StoredModel::verify() const {
  if (!parts_->stored) return verify_archive();
  parts_->stored->expect_same();
}

void StoredModel::verify_archive() const {
  const Parts& parts = *parts_;
  parts.archive.expect_same();
  if (directory_of(Archive::open(parts.archive.path())) == parts.directory) return;
  throw base::changed_while_read(parts.archive.path());
}

}  // namespace onnxar
