#include "archive/foreign_hint.h"

#include "archive/file_kind.h"
#include "archive/foreign_faults.h"
#include "base/annotate.h"
#include "base/checked.h"

namespace onnxar {
namespace {

/// Adds a hint if the fault is one that zip tools usually cause: it names the verb that makes an archive of the file.
Error with_foreign_hint(const Error& error, Bytes file) {
  const bool is_no_archive = error.code() == Code::archive_model_missing || error.code() == Code::zip_end_missing;
  if (is_no_archive) return with_kind(error, file);
  if (!is_foreign_fault(error.code())) return error;
  const Advice other = advice_on_kind(file);  // not every zip holds a model
  if (other.hint != Hint::none) return base::annotate(error, {.advice = other});
  const bool is_name = is_portable_name_fault(error.code());
  return base::annotate(error, {.advice = {is_name ? Hint::pack_names_entries : Hint::repack_plain_zip}});
}

/// The first bytes of the file, by which the kind of a file that is no archive is told. All of it if it is small.
Bytes front_of(const base::RangedMemory& ranges) {
  constexpr std::uint64_t small = 1U << 20U, front = 4096;
  const std::uint64_t size = ranges.bytes().size();
  const std::uint64_t length = size <= small ? size : front;
  ranges.need({0, length});
  return base::section(ranges.bytes(), 0, length);
}

}  // namespace

Error with_foreign_hint(const Error& error, Bytes file, const base::RangedMemory* ranges) {
  if (ranges == nullptr) return with_foreign_hint(error, file);
  if (kind(error.code()) != Kind::format) return error;
  try {
    return with_foreign_hint(error, front_of(*ranges));
  } catch (const Error&) {
    return error;  // what is known says more than that the front cannot be read
  }
}

}  // namespace onnxar
