// The machine and its users: the properties that stored results depend on, and the users who can change these results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace onnxar::os {

/// Returns the variables of the environment whose names begin with `prefix`, as `NAME=value`, sorted.
std::vector<std::string> variables(std::string_view prefix);

/// Describes the system and its processors. On Linux, /proc/cpuinfo lists the processor features that kernels may use.
/// It lists none for processors other than x86 and ARM; only the names of system and processor are then known.
std::string machine();
/// Returns the lines of `cpuinfo` that identify processors and their features, without repetitions and sorted. Empty
/// without features.
std::string processors_in(const std::string& cpuinfo);

/// Identifies the time since the system was started; empty if the system does not state it.
std::string boot();

enum class Sticky : std::uint8_t { refuse, accept };

/// True if a user other than this one and root owns the folder, or may write to it (of files: `ownership_of`). With
/// Sticky::accept, a folder may be sticky like /tmp: only owners rename the files in it. Access control lists are not
/// read, nor anything on Windows, where files inherit the permissions of their folder.
bool others_may_change(const std::filesystem::path& folder, Sticky sticky, std::error_code& failed) noexcept;

}  // namespace onnxar::os
