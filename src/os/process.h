// The running process, and functions that the system or its processor provides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace onnxar::os {

/// Waits. Safe in signal handlers.
void pause(std::uint32_t milliseconds) noexcept;

/// Returns a number that is larger in a process that was forked after an earlier call. Always 0 on Windows.
std::size_t count_of_forks() noexcept;

/// Identifies the calling thread; never 0. Safe in signal handlers.
std::uintptr_t current_thread() noexcept;

/// Returns the programs that have the file open, each as its name and number, on systems where this matters: on
/// Windows, a mapped file cannot be changed. Elsewhere returns an empty list.
std::vector<std::string> programs_with(const std::filesystem::path& file);

/// Loads the system's shared library of this name and version of its ABI, for the rest of the process:
/// `lib<name>.so.<version>` as the loader finds it (LD_LIBRARY_PATH included), `/usr/lib/lib<name>.<version>.dylib`, or
/// `lib<name>.dll` from the folder of the program or the system; PATH and the current folder of Windows may have files
/// from strangers and are not searched. Null if it cannot be loaded; `why` then has the system's message.
void* load_library(const std::string& name, int version, std::string& why);
/// Returns the function of this name in a library, or null.
void* symbol_of(void* library, const char* name) noexcept;

#if defined(__aarch64__)
/// True if the processor has PMULL and PMULL2 for 64-bit numbers, and the instructions for SHA-256: two optional parts
/// of ARMv8.
bool has_pmull() noexcept;
bool has_sha256() noexcept;
#endif

}  // namespace onnxar::os
