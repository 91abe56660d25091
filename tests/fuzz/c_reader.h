// The reader of reader/ in fuzz targets: its errors and handles as values.
#pragma once

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "onnxar/convert.h"
#include "onnxar_reader.h"

namespace onnxar::fuzz {

struct CloseReader {
  void operator()(onnxar_reader* archive) const { onnxar_reader_close(archive); }
};
using CReader = std::unique_ptr<onnxar_reader, CloseReader>;

/// Code, entry and offset of a refusal.
struct Refusal {
  std::string code;
  std::string entry;  ///< its first 1024 bytes
  std::optional<std::uint64_t> offset;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

inline Refusal refusal_of(const Finding& finding) {
  return {std::string(id(finding.code)), finding.place.entry.substr(0, 1024), finding.place.offset};
}

/// Nothing if the call succeeded. No input may look like a misuse or a fault of the machine: each refusal has a rule.
inline std::optional<Refusal> refusal_of(int result, const onnxar_reader_error& error) {
  if (result >= 0) return std::nullopt;
  require(error.rule[0] != '\0' && error.code != nullptr && error.sentence != nullptr, "a refusal names its rule");
  Refusal refusal = {error.code, std::string(&error.entry[0], std::min<std::size_t>(error.entry_length, 1024)), {}};
  if (error.offset != OAR_NO_OFFSET) refusal.offset = error.offset;
  return refusal;
}

inline CReader open_in_memory(Bytes file, std::optional<Refusal>& refusal) {
  onnxar_reader* archive = nullptr;
  onnxar_reader_error error;
  refusal = refusal_of(onnxar_reader_open_memory(file.data(), file.size(), nullptr, &archive, &error), error);
  require((archive == nullptr) == refusal.has_value(), "an archive or a refusal");
  return CReader(archive);
}

/// The file has to outlive the archive.
inline CReader open_by_callbacks(const Bytes& file, std::optional<Refusal>& refusal) {
  const auto read = [](void* context, std::uint64_t offset, std::size_t length, void* buffer) {
    const Bytes& bytes = *static_cast<const Bytes*>(context);
    require(length > 0 && offset <= bytes.size() && length <= bytes.size() - offset, "only bytes of the file are read");
    std::memcpy(buffer, bytes.data() + offset, length);
    return 0;
  };
  const onnxar_reader_source source = {file.size(), read, const_cast<Bytes*>(&file)};
  onnxar_reader* archive = nullptr;
  onnxar_reader_error error;
  refusal = refusal_of(onnxar_reader_open_source(&source, nullptr, &archive, &error), error);
  return CReader(archive);
}

inline std::optional<Refusal> refusal_of_check(const CReader& archive, unsigned flags) {
  onnxar_reader_error error;
  return refusal_of(onnxar_reader_check(archive.get(), flags, &error), error);
}

/// The library's check of a file finds the refusal, or nothing if there is none. Checksums are not looked at (M22).
inline void require_same_check(const std::filesystem::path& file, const std::optional<Refusal>& refusal, bool data) {
  std::vector<Refusal> errors;
  for (const Finding& finding : check(file, {.data = data})) {
    if (finding.severity != Severity::error || finding.code == Code::onnx_external_checksum) continue;
    errors.push_back(refusal_of(finding));
  }
  require(refusal.has_value() == !errors.empty(),
          refusal ? "only the C reader refuses: " + refusal->code : "only the library refuses");
  require(!refusal || std::ranges::find(errors, *refusal) != errors.end(), "both readers refuse for the same breach");
}

}  // namespace onnxar::fuzz
