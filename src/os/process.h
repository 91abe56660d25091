// The running process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace onnxar::os {

/// Waits. Safe in signal handlers.
void pause(std::uint32_t milliseconds) noexcept;

/// Identifies the calling thread; never 0. Safe in signal handlers.
std::uintptr_t current_thread() noexcept;

/// The programs that have the file open, each as its name and number, where the system tells and where that matters: on
/// Windows, a mapped file cannot be changed. Else none.
std::vector<std::string> programs_with(const std::filesystem::path& file);

}  // namespace onnxar::os
