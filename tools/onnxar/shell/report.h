// Prints to stderr what verbs report.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/error.h"

namespace onnxar::tool {

/// Says how much to print on stderr.
struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};

/// Prints remarks to stderr: all if verbose, else the first few.
void print_remarks(const std::vector<Finding>& remarks, const Verbosity& verbosity);
/// Returns the part of a report on bytes that equal weights share; empty for none.
std::string shared_text(std::uint64_t shared_bytes);
/// Prints the state to which an archive was or would be cut back.
void print_cut(const EarlierState& state, bool dry_run, const std::filesystem::path& archive);

}  // namespace onnxar::tool
