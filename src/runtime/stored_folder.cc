// Lists the stored models in a folder, and removes them and the files that killed processes left.
#include "runtime/stored_folder.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "base/paths.h"
#include "base/sha256.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "onnxar/stored_model.h"
#include "os/names.h"
#include "runtime/pack_stored.h"
#include "runtime/stored_about.h"
#include "runtime/workshop.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t key_size = base::sha256_digits;
constexpr std::string_view part_suffix = ".part";

bool begins_with_key(std::string_view name) {
  const std::string_view key = name.substr(0, key_size);
  return name.size() > key_size && name[key_size] == '.' && base::parse_digest(key, key_size) == key;
}

/// Returns the names that begin with a key, even of files that are not ours.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& each : base::entries_in(folder)) {
    std::string name = os::text_of(each.path().filename());
    if (begins_with_key(name)) names.push_back(std::move(name));
  }
  return names;
}

bool is_stored_name(std::string_view name) { return name.substr(key_size) == stored_suffix; }

bool is_part(std::string_view name) {
  return name.ends_with(part_suffix) && is_stored_name(name.substr(0, name.size() - part_suffix.size()));
}

bool is_own(const OwnFolder& folder, const std::string& name) {
  if (is_part(name)) return Workshop::is_own(folder.path_of(name));
  return folder.owns(name, is_stored_name(name) ? stored_page : 0);
}

void list_file(const OwnFolder& folder, const std::string& name, StoredFolder& found) {
  const bool is_stored = is_stored_name(name);
  const os::File file = folder.open(name, is_stored ? stored_page : 0);
  std::error_code failed;
  const os::FileStatus status = os::status_of(file, failed);
  if (failed) return;
  std::string text = folder.recall(name);
  if (is_stored) {
    const Archive archive = Archive::open(folder.path_of(name));
    const auto about = archive.find(about_entry);
    text = about ? as_text(archive.bytes(*about)) : std::string_view();
    text.erase(0, own_line.size());
  }
  if (const auto about = StoredAbout::read(text)) {
    found.files.push_back({about->archive, about->runtime, about->rest, is_stored ? status.size : 0, status.modified});
  }
}

std::uint64_t size_of_part(const fs::path& part) {
  std::uint64_t size = 0;
  for (const char* const name : {Workshop::model, Workshop::data, Workshop::packed}) {
    const auto status = base::status_if_there(part / name);
    if (status) size += status->size;
  }
  return size;
}

/// Removes all files of a key. Returns false if another process works on it.
bool clear_key(const OwnFolder& folder, const std::string& key, const std::vector<std::string>& names) {
  const std::string file = key + std::string(stored_suffix);
  const auto clear = [&] {
    for (const std::string& name : names) {
      if (!name.ends_with(".lock") && !is_part(name) && is_own(folder, name)) folder.remove(name);
    }
  };
  try {
    const fs::path part = folder.path_of(file + std::string(part_suffix));
    if (base::link_status(part).type() == fs::file_type::not_found || Workshop::is_own(part)) {
      Workshop workshop(folder, file);
      clear();
      workshop.remove_lock();
    } else {  // not ours: stays
      const OwnLock lock(folder, file);
      clear();
      lock.remove();
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void remove_abandoned(const OwnFolder& folder) {
  for (const std::string& name : names_in(folder.path())) {
    if (!is_part(name)) continue;
    try {
      const Workshop cleaned(folder, name.substr(0, name.size() - part_suffix.size()));
    } catch (const Error&) {  // another process works on it, or it is not ours
      continue;
    }
  }
}

StoredFolder list_stored(const fs::path& folder) {
  StoredFolder found;
  if (!base::status_if_there(folder)) return found;
  const OwnFolder own_folder(folder);
  for (const std::string& name : names_in(own_folder.path())) {
    if (is_part(name) && is_own(own_folder, name)) found.unfinished += size_of_part(own_folder.path_of(name));
    if (!is_stored_name(name) && !name.ends_with(refused_suffix)) continue;
    try {
      list_file(own_folder, name, found);
    } catch (const Error&) {  // it is damaged, not ours, or gone
      continue;
    }
  }
  std::ranges::sort(found.files, std::ranges::greater(), &StoredFile::time);
  return found;
}

ClearedFolder clear_stored(const fs::path& folder) {
  ClearedFolder cleared;
  if (!base::status_if_there(folder)) return cleared;
  const OwnFolder own_folder(folder);
  const std::vector<std::string> names = names_in(own_folder.path());
  std::map<std::string, std::vector<std::string>> of_keys;
  for (const std::string& name : names) {
    if (is_own(own_folder, name)) of_keys[name.substr(0, key_size)].push_back(name);
  }
  for (const auto& [key, own] : of_keys) {
    const bool is_stored = std::ranges::find(own, key + std::string(stored_suffix)) != own.end();
    const bool is_done = clear_key(own_folder, key, own);
    cleared.removed += is_done && is_stored ? 1 : 0;
    cleared.busy += is_done ? 0 : 1;
  }
  return cleared;
}

}  // namespace onnxar
