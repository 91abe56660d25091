// An open file descriptor, and what the system says when a call on one fails.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "onnxar/error.h"

namespace onnxar::base {

/// Owns a descriptor and closes it.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool valid() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// The error for a failed system call: `errno_value` decides the code, `doing` says what was tried ("cannot open").
Error system_error(int errno_value, std::string_view doing, const std::filesystem::path& path);

}  // namespace onnxar::base
