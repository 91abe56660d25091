// Adds the context of an outer layer to an error of an inner one.
#include "base/annotated.h"

#include <utility>

#include "base/checked.h"
#include "base/open_file.h"
#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar::base {
namespace {

Place placed(const Error& error, Annotation& added) {
  // A path without an entry names a different file, such as a data file, whose offsets are absolute already.
  const bool is_relative = error.entry().empty() && error.path().empty();
  if (!is_relative) return error.finding().place;
  if (added.place) return std::move(*added.place);
  const auto offset = error.offset() ? checked_add(*error.offset(), added.base) : std::nullopt;
  return {std::move(added.entry), offset};
}

}  // namespace

Error annotate(const Error& error, Annotation added) {
  const bool is_of_file = added.file != nullptr && (error.path().empty() || error.path() == added.path);
  if (is_of_file && kind(error.code()) == Kind::format && added.file->is_changed())
    return changed_while_read(added.path);
  const std::string message = added.prefix.empty() ? error.message() : concat(added.prefix, ": ", error.message());
  const Hint inner = error.advice().hint;
  // All damaged messages have this advice; an outer layer may know the kind of the file.
  const bool is_general = inner == Hint::none || (inner == Hint::get_model_again && added.advice.hint != Hint::none);
  const Advice& advice = is_general ? added.advice : error.advice();
  Place place = placed(error, added);
  return {error.code(), message, std::move(place), error.path().empty() ? added.path : error.path(), advice};
}

}  // namespace onnxar::base
