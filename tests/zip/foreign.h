// Zip files as other makers write them, and reading all of one.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "zip/foreign_directory.h"
#include "zip/reading.h"

namespace onnxar::testing {

/// Name and bytes of every file, in the order of the reader; CRCs are compared.
inline std::vector<std::pair<std::string, Blob>> read_all(Bytes file) {
  const auto directory = zip::ForeignDirectory::read(file, {});
  std::vector<std::pair<std::string, Blob>> files;
  for (const zip::ForeignEntry& entry : directory.entries()) {
    if (entry.folder) continue;
    Blob data;
    zip::read_verified(file, entry, [&](Bytes piece) { data.insert(data.end(), piece.begin(), piece.end()); });
    files.emplace_back(entry.name, std::move(data));
  }
  return files;
}

inline std::optional<ErrorContext> refusal_of_zip(const Blob& bytes, const zip::Limits& limits = {}) {
  const GuardedBuffer file = guarded_zip(bytes);
  return refusal_of([&] {
    static_cast<void>(zip::ForeignDirectory::read(file.bytes(), limits));
    return read_all(file.bytes()).size();
  });
}

/// The model first, as exporters have it, then `a` (stored) and `b`.
inline ZipBuilder plain_zip() {
  ZipBuilder builder;
  builder.entries = {plain_entry(zip_entry(model_entry, blob("model"))), plain_entry(zip_entry("a", pattern(100, 1))),
                     plain_entry(zip_entry("b", pattern(200, 2)))};
  return builder;
}

template <typename Change>
Built changed(const Change& change) {
  ZipBuilder builder = plain_zip();
  change(builder);
  return builder.build_placed();
}

template <typename Change>
Built changed_a(const Change& change) {
  return changed([&](ZipBuilder& builder) { change(builder.entry("a")); });
}

// Expect that `a` is refused at its local header, or in the directory, after a change of that header.
template <typename Change>
void expect_local_refused(Code code, const Change& change) {
  const Built built = changed_a([&](ZipEntry& e) { change(e.local); });
  EXPECT_EQ(refusal_of_zip(built.bytes), at_header(code, built, "a"));
}
template <typename Change>
void expect_central_refused(Code code, const Change& change) {
  const Built built = changed_a([&](ZipEntry& e) { change(e.central); });
  EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(code, built, "a"));
}

/// Expects both, each header changed alone.
template <typename Change>
void expect_either_refused(Code code, const Change& change) {
  expect_local_refused(code, change);
  expect_central_refused(code, change);
}

inline void expect_extra_refused(Code code, const Blob& extra) {
  expect_either_refused(code, [&](HeaderFields& h) { h.extra = extra; });
}

/// Expects that the changed zip is refused in the directory at this entry.
template <typename Change>
void expect_refused_in_directory(Code code, std::string_view entry, const Change& change) {
  const Built built = changed(change);
  EXPECT_EQ(refusal_of_zip(built.bytes), in_directory(code, built, entry));
}

/// The names in the order of the reader; every byte has been read.
inline std::vector<std::string> names_in(const Blob& bytes) {
  const GuardedBuffer file = guarded_zip(bytes);
  std::vector<std::string> names;
  for (const auto& [name, data] : read_all(file.bytes())) names.push_back(name);
  return names;
}

inline ErrorContext at_data(Code code, const Built& built, std::string_view name) {
  return {code, std::string(name), built.entry(name).data_offset};
}

inline void expect_read(const Built& built) {
  EXPECT_EQ(refusal_of_zip(built.bytes), std::nullopt);
  EXPECT_THAT(names_in(built.bytes), ::testing::ElementsAre(model_entry, "a", "b"));
}

}  // namespace onnxar::testing
