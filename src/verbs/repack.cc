#include "archive/repack.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "base/keyed_hash.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/edit.h"
#include "onnxar/error.h"
#include "os/names.h"
#include "source/family_resolver.h"
#include "source/foreign_zip_resolver.h"

namespace onnxar {
namespace {

/// The locations that tensors name, as they are and normalised: in foreign zips, `./weights` leads to the entry
/// `weights`.
base::KeyedSet<std::string> linked_names(Bytes model) {
  base::KeyedSet<std::string> names;
  const auto add = [&names](const onnx::TensorSite& site) {
    if (!site.tensor.is_external() || !site.tensor.external.location) return;
    names.emplace(*site.tensor.external.location);
    names.insert(os::slashed_text_of(os::path_of(*site.tensor.external.location).lexically_normal()));
  };
  try {
    onnx::walk_tensors(model, add);
  } catch (const Error& error) {
    throw base::annotate(error, {.place = Place{std::string(model_entry_name), std::nullopt}});
  }
  return names;
}

void prove_model_name(Bytes model, std::span<const std::string_view> names) {
  const auto fault = model_name_fault(model, {names.size(), [names](std::size_t i) { return names[i]; }});
  if (fault) throw Error(fault->code, fault->message);
}

}  // namespace

RepackReport repack(const std::filesystem::path& input, const std::filesystem::path& output,
                    const RepackOptions& options) {
  return repack_zip(input, output, options, {linked_names, prove_model_name, may_have_stand_ins});
}

}  // namespace onnxar
