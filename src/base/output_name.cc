// Publishes a finished file under its name.
#include "base/output_name.h"

#include <cstddef>
#include <random>
#include <string_view>
#include <system_error>

#include "base/open_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "os/error.h"
#include "os/folder.h"
#include "os/names.h"

namespace onnxar::base {
namespace {

std::string hidden_name(const std::string& target) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::size_t most = 200;  // with 12 added bytes, below the 255 that file systems allow
  std::random_device random;
  // Some file systems refuse a name that ends within a character.
  std::string name = concat(".", utf8_prefix(target, most), ".");
  for (int i = 0; i < 6; ++i) name += letters[random() % letters.size()];
  return name + ".tmp";
}

}  // namespace

OutputName::OutputName(OutputName&& other) noexcept
    : target_(std::move(other.target_)), hidden_(std::exchange(other.hidden_, {})) {}

OutputName& OutputName::operator=(OutputName&& other) noexcept {
  vanish();
  target_ = std::move(other.target_);
  hidden_ = std::exchange(other.hidden_, {});
  return *this;
}

os::File OutputName::create() {
  std::error_code failed;
  os::File file = os::create_unseen(target_.folder->handle(), failed);
  if (!failed) return file;
  if (os::reason_of(failed) == os::Reason::unsupported) return create_hidden();
  throw system_error(failed, cannot_write_into, target_.folder->path());
}

/// Calls `create` with random hidden names until it succeeds. `create` makes a file or link of a name, and returns why
/// it failed.
template <typename Create>
void OutputName::hide_with(const Create& create) {
  constexpr int attempts = 100;  // random names collide only if an attacker guesses them
  std::error_code failed;
  for (int i = 0; i < attempts; ++i) {
    std::string name = hidden_name(target_.name);
    failed = create(os::path_of(name));
    if (!failed) {
      hidden_ = std::move(name);
      return;
    }
    if (os::reason_of(failed) != os::Reason::exists) break;
  }
  throw system_error(failed, cannot_write_into, target_.folder->path());
}

os::File OutputName::create_hidden() {
  const FolderHandle here = target_.folder->handle();
  os::File file;
  hide_with([&](const std::filesystem::path& name) {
    std::error_code failed;
    file = os::create_new(here, name, failed);
    return failed;
  });
  return file;
}

void OutputName::create_link(const std::filesystem::path& target) {
  const FolderHandle here = target_.folder->handle();
  hide_with([&](const std::filesystem::path& name) { return os::make_link(here, name, target); });
}

void OutputName::link_to(os::Handle file, const std::string& name) const {
  const std::error_code failed = os::give_name(file, target_.folder->handle(), os::path_of(name));
  if (!failed) return;
  const std::filesystem::path path = target_.folder->path() / os::path_of(name);
  throw os::reason_of(failed) == os::Reason::exists ? already_exists(path)
                                                    : system_error(failed, "cannot name the output", path);
}

void OutputName::hide(os::Handle file) {
  if (!hidden_.empty()) return;
  std::string name = hidden_name(target_.name);
  link_to(file, name);
  hidden_ = std::move(name);
}

void OutputName::vanish() noexcept {
  if (!hidden_.empty()) target_.folder->remove_file(hidden_);
  hidden_.clear();
}

void OutputName::keep_mode(os::Handle file) const {
  // Not ignored: users who could not read the old file might be able to read the new one.
  if (const std::error_code failed = os::keep_mode(file, target_.folder->handle(), os::path_of(target_.name))) {
    throw system_error(failed, "cannot keep the permissions", target_.path);
  }
}

void OutputName::publish(os::Handle file, Existing existing) {
  if (hidden_.empty()) return link_to(file, target_.name);
  const FolderHandle here = target_.folder->handle();
  // A rename replaces the target in one step: readers see the old file or the new one, never none.
  const std::filesystem::path from = os::path_of(hidden_), to = os::path_of(target_.name);
  const std::error_code failed =
      existing == Existing::replace ? os::rename_over(here, from, to) : os::rename_to_free_name(here, from, here, to);
  if (failed) {
    const bool exists = existing == Existing::refuse && os::reason_of(failed) == os::Reason::exists;
    throw exists ? already_exists(target_.path) : system_error(failed, "cannot rename to", target_.path);
  }
  hidden_.clear();
}

}  // namespace onnxar::base
