#include "c/hints.h"

#include <string_view>

namespace onnxar::c {
namespace {

/// The words for hints that name options or functions. Other hints name verbs, as the C++ interface does.
std::string_view own_words(Hint hint) {
  switch (hint) {
    case Hint::data_folder: return "put it beside the model, or name its folder in `external_data_dir`";
    case Hint::data_beside: return "`append_external` takes data from files beside the model";
    case Hint::max_expansion: return "if you trust it, a higher `max_expansion` allows more";
    case Hint::external_data: return "`data_file` keeps the weights in a file beside the model";
    case Hint::lower_threshold:
    case Hint::lower_threshold_or_all: return "a lower `threshold` moves more tensors out of it";
    case Hint::raw_bytes: return "the option `raw` writes its bytes";
    case Hint::text_parser: return "have the model written in binary form";
    case Hint::add_entry_first: return "add that entry before the model, or set `no_verify_model`";
    case Hint::use_link: return "onnxar_link leaves the data in the archive";
    default: return {};
  }
}

}  // namespace

std::string words_of(const Advice& advice) {
  const std::string_view own = own_words(advice.hint);
  return own.empty() ? to_string(advice) : filled(own, advice);
}

std::string with_advice(const std::string& message, const std::string& words) {
  return words.empty() ? message : message + "; " + words;
}

}  // namespace onnxar::c
