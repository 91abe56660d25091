// The files and mappings of a fuzz target, by path and by descriptor.
#include "files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace onnxar::os::memory {
namespace {

/// Whether a path has no part to remove, as far as a short look can tell: paths of hidden files are said to have one.
bool is_plain(std::string_view path) {
  return !path.empty() && path.front() != '.' && path.back() != '/' && path.find("//") == std::string_view::npos &&
         path.find("/.") == std::string_view::npos;
}

}  // namespace

namespace fs = std::filesystem;

void Opening::unlock() noexcept {
  if (lock == Lock::shared) --node->shared_locks;
  if (lock == Lock::exclusive) node->exclusive_lock = false;
  lock.reset();
}

void Mapping::follow(const Node& file, std::uint64_t at, std::span<const std::byte> written) const {
  const std::uint64_t begin = std::max(at, offset);
  const std::uint64_t end = std::min(at + written.size(), offset + copy.size());
  if (node.get() != &file || begin >= end) return;
  std::ranges::copy(written.subspan(begin - at, end - begin), copy.subspan(begin - offset).begin());
}

std::shared_ptr<Node> Files::make(FileKind kind) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->inode = next_inode++;
  return node;
}

std::shared_ptr<Node> Files::find(const std::string& path) const {
  const auto found = names.find(path);
  return found == names.end() ? nullptr : found->second;
}

std::shared_ptr<Opening> Files::at(Handle handle) const {
  const auto number = static_cast<std::size_t>(handle);
  return number < handles.size() ? handles[number] : nullptr;
}

File Files::opened(const std::shared_ptr<Node>& node, const std::string& path, bool writable) {
  auto opening = std::make_shared<Opening>(node, path, writable);
  if (free_handles.empty()) {
    handles.push_back(std::move(opening));
    return File(Handle{static_cast<std::intptr_t>(handles.size() - 1)});
  }
  const std::size_t number = free_handles.back();
  free_handles.pop_back();
  handles[number] = std::move(opening);
  return File(Handle{static_cast<std::intptr_t>(number)});
}

void Files::make_root(const fs::path& path) {
  const std::string name = normal(path);
  roots.insert(name);
  names[name] = make(FileKind::folder);
}

Files& files() {
  static auto* const all = [] {
    auto* const made = new Files;  // not destroyed: other objects may still close handles at exit
    made->make_root(fs::temp_directory_path());
    return made;
  }();
  return *all;
}

std::string normal(const fs::path& path) {
  const char* text = path.c_str();  // a system call would end at a NUL, too
  if (*text == '/' && is_plain(text)) return text;
  std::string plain = (fs::path("/") / text).lexically_normal().native();
  while (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  return plain;
}

std::optional<std::string> beneath(const Opening& folder, const fs::path& relative) {
  const std::string_view text = relative.c_str();
  if (is_plain(text) && text.front() != '/' && folder.path.size() > 1) return folder.path + "/" + relative.c_str();
  const fs::path path(text);
  if (path.is_absolute()) return std::nullopt;
  int depth = 0;
  for (const fs::path& part : path) {
    if (part == "..") --depth;
    if (part != ".." && part != "." && !part.empty()) ++depth;
    if (depth < 0) return std::nullopt;
  }
  return normal(fs::path(folder.path) / path);
}

std::error_code error(std::errc reason) noexcept { return {static_cast<int>(reason), std::system_category()}; }

void make_root(const fs::path& path) {
  const std::scoped_lock lock(files().mutex);
  files().make_root(path);
}

void forget_files() {
  const std::scoped_lock lock(files().mutex);
  std::erase_if(files().names, [](const auto& name) { return !files().roots.contains(name.first); });
  if (files().handles.size() == files().free_handles.size()) return;
  std::fputs("does not hold: every file that an input opens is closed\n", stderr);
  std::abort();
}

}  // namespace onnxar::os::memory
