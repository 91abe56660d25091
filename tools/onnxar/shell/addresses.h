// Opens archives that are named by a path or an address.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/remote.h"

namespace onnxar::tool {

/// Returns the options for servers: of the environment and of the command line.
RemoteOptions remote_options();

/// Opens addresses, with the options of the environment and of the command line.
RangesOpener address_opener();
/// Adds `--timeout SECONDS`, for verbs that take addresses. The option is global, because a process runs one verb.
void add_timeout(CLI::App& verb);
/// Returns the value of the option; 0: no limit.
std::chrono::milliseconds timeout() noexcept;
/// True if the verb that has the option got `--quiet`.
bool waits_quietly() noexcept;
/// Opens the archive in a file or at an address.
Archive open_archive(const std::filesystem::path& path);

}  // namespace onnxar::tool
