// Adding entries and the model, from whatever holds their bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "onnxar/archive_writer.h"
#include "zip/writer.h"

namespace onnxar {

/// What writing and editing an archive have in common: names that are free to take, where bytes may come from, the
/// model's size. Errors name `target`. Not synchronised.
class EntryWriter {
 public:
  /// Errors: usage.argument (the alignment).
  EntryWriter(zip::Writer writer, std::uint64_t alignment, std::filesystem::path target);

  void reserve(std::uint64_t size) { writer_.reserve(size); }

  // Each as the function of ArchiveWriter.
  void add(std::string_view name, const FileRange& range);
  void add(std::string_view name, std::uint64_t size, const StreamReader& read);
  void add(std::string_view name, const ByteSource& source);

  /// Errors: archive.model.too_large.
  void check_model_size(std::uint64_t size) const;
  /// Writes model and directory. Errors: archive.model.too_large, io.*.
  base::OutputFile finish(const ByteSource& model, base::Sync before_end);

  [[nodiscard]] std::uint64_t alignment() const noexcept { return alignment_; }
  [[nodiscard]] const zip::KeptDirectory& kept() const noexcept { return writer_.kept(); }

 private:
  void write(std::string_view name, const ByteSource& source);

  zip::Writer writer_;
  std::uint64_t alignment_;
  std::filesystem::path target_;
};

/// Errors: usage.argument.
void check_alignment(std::uint64_t alignment);

}  // namespace onnxar
