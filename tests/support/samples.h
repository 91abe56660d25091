// Models and archives that the tests of conversion share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "onnx/error_of.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"

namespace onnxar::testing {

// Nothing is synced: no test cuts the power.
inline constexpr OutputOptions unsynced_output = {.sync = false};
inline constexpr OutputOptions over_existing = {.overwrite = true, .sync = false};
inline constexpr OutputOptions dry_output = {.sync = false, .dry_run = true};

inline ReplaceOptions unsynced_edit() { return {.output = unsynced_output}; }

/// Options for one form.
inline SaveOptions saved_as(Format format, const OutputOptions& output = unsynced_output) {
  return {.format = format, .data_file = format == Format::onnx_external ? "w.bin" : "", .output = output};
}

/// A FLOAT tensor with raw data that differs from seed to seed.
inline TensorBuilder floats(std::string_view name, std::size_t count, std::uint32_t seed = 0) {
  return tensor(name, dtype::float32, {static_cast<std::int64_t>(count)}).raw_data(pattern(4 * count, seed));
}

/// A FLOAT tensor with external data, as writers link it: location, offset, length.
inline TensorBuilder linked_floats(std::string_view name, std::size_t count, std::string_view location,
                                   std::uint64_t offset = 0) {
  return tensor(name, dtype::float32, {static_cast<std::int64_t>(count)}).external(location, offset, 4 * count);
}

inline Message model_of(const Messages& initializers) {
  return model({.graph = graph({.initializers = initializers})});
}

inline Built archive_of(const Message& model, std::vector<ZipEntry> entries = {}) {
  ZipBuilder builder;
  builder.entries = std::move(entries);
  builder.entries.push_back(zip_entry(model_entry, model.view()));
  return builder.build_placed();
}

inline bool lies_in(Bytes part, Bytes whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

/// Returns the offset of `part` in `whole`, where it must occur exactly once.
inline std::uint64_t place_in(std::span<const std::byte> whole, const Message& part) {
  const auto found = std::search(whole.begin(), whole.end(), part.view().begin(), part.view().end());
  if (found == whole.end()) throw std::out_of_range("it is not in there");
  const auto again = std::search(found + 1, whole.end(), part.view().begin(), part.view().end());
  if (again != whole.end()) throw std::out_of_range("it is in there twice");
  return static_cast<std::uint64_t>(found - whole.begin());
}

inline void expect_error(const Error& error, Code code, const std::string& entry, std::optional<std::uint64_t> offset) {
  EXPECT_EQ(id(error.code()), id(code)) << error.what();
  EXPECT_EQ(error.entry(), entry) << error.what();
  EXPECT_EQ(error.offset(), offset) << error.what();
}

/// Calls the one of `pack` and `unpack` that writes `save.format`.
inline ConvertReport pack_or_unpack(const auto& input, const std::filesystem::path& output, const SaveOptions& save,
                                    const LoadOptions& load = {}) {
  return save.format == Format::archive ? pack(input, output, save, load) : unpack(input, output, save, load);
}

/// Converts `input`, which must be refused with this code and place, to the file `out`. No file may remain.
inline Error expect_refused(const TempDir& folder, const std::filesystem::path& input, const SaveOptions& save,
                            Code code, const std::string& entry, std::optional<std::uint64_t> offset,
                            const LoadOptions& load = {}) {
  const std::vector<std::string> before = folder.file_names();
  Error error = error_of([&] { pack_or_unpack(input, folder / "out", save, load); });
  expect_error(error, code, entry, offset);
  EXPECT_EQ(folder.file_names(), before) << "something was left behind";
  return error;
}

/// The ids of findings, in their order: `warning onnx.external.small`.
inline std::vector<std::string> ids_of(const std::vector<Finding>& findings) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings) {
    ids.push_back(std::string(to_string(finding.severity)) + " " + std::string(id(finding.code)));
  }
  return ids;
}

}  // namespace onnxar::testing
