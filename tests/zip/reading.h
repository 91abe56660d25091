// Reading what a builder built, held against an inaccessible page: a read beyond the end is a fault.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "support/guarded_buffer.h"
#include "support/refusal.h"
#include "support/zip_builder.h"
#include "support/zip_directory.h"
#include "zip/directory.h"

namespace onnxar::testing {

inline Blob joined(Blob first, const Blob& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
/// The bytes from `first` up to `last`.
inline Blob part(Bytes bytes, std::size_t first, std::size_t last) {
  return copy_of(bytes.subspan(first, last - first));
}

/// The bytes before an inaccessible page. If the test fails, their directory is printed.
inline GuardedBuffer guarded_zip(const Blob& bytes) {
  note_zip("read", bytes);
  return GuardedBuffer::ending_at_guard(bytes);
}

/// Returns the error of reading the directory; nothing if `open` would continue.
inline std::optional<ErrorContext> refusal_of_directory(const Blob& bytes, const zip::Limits& limits = {}) {
  const GuardedBuffer file = guarded_zip(bytes);
  return refusal_of([&] { return zip::Directory::read(file.bytes(), limits).entries().size(); });
}

/// As above, but also proves every local header.
inline std::optional<ErrorContext> refusal_of_archive(const Blob& bytes) {
  const GuardedBuffer file = guarded_zip(bytes);
  return refusal_of([&] {
    const zip::Directory directory = zip::Directory::read(file.bytes(), {});
    for (std::size_t i = 0; i < directory.entries().size(); ++i) {
      static_cast<void>(directory.prove_local(file.bytes(), i));
    }
  });
}

/// Refused at the entry's header in the directory, or at its local one.
inline ErrorContext in_directory(Code code, const Built& built, std::string_view entry) {
  return {code, std::string(entry), built.entry(entry).central_offset};
}
inline ErrorContext at_header(Code code, const Built& built, std::string_view entry) {
  return {code, std::string(entry), built.entry(entry).header_offset};
}

/// The smallest archive with one change.
template <typename Change>
Built changed_archive(const Change& change) {
  ZipBuilder builder = smallest_builder();
  change(builder);
  return builder.build_placed();
}

/// The smallest archive with the entry `w` changed.
template <typename Change>
Built changed_entry(const Change& change) {
  return changed_archive([&](ZipBuilder& builder) { change(builder.entry("w")); });
}

}  // namespace onnxar::testing
