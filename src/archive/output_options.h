// Applies OutputOptions to output files.
#pragma once

#include <filesystem>

#include "base/file_lock.h"
#include "base/output_file.h"
#include "base/output_target.h"
#include "base/paths.h"
#include "onnxar/options.h"
#include "os/file.h"

namespace onnxar {

/// Returns Existing::replace if the options allow to overwrite the output.
inline base::Existing existing_of(const OutputOptions& options) {
  return options.overwrite ? base::Existing::replace : base::Existing::refuse;
}
/// Returns Sync::full if the options ask to wait for the disk.
inline base::Sync sync_of(const OutputOptions& options) { return options.sync ? base::Sync::full : base::Sync::none; }

/// Takes the lock of a tool whose output may replace its input (base::lock_for_replacing). The tool takes it before it
/// reads the input (X8), so that no edit in between is lost. Returns an invalid file if there is nothing to replace.
/// Throws what base::lock_for_replacing throws.
inline os::File lock_output(const std::filesystem::path& path, const OutputOptions& options) {
  if (!options.overwrite) return {};
  if (!options.dry_run) return base::lock_for_replacing(path);
  static_cast<void>(base::link_status(path));  // a dry run also refuses a path that cannot be examined
  return {};
}

}  // namespace onnxar
