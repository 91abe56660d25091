#include "shell/hints.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace onnxar::tool {
namespace {

struct Row {
  Hint hint;
  std::string_view words;
};

/// The library gives a remedy by its id, and each front end names it in its own terms: here, options of the shell.
constexpr std::array rows = {
    Row{Hint::none, ""},
    Row{Hint::overwrite, "choose another name, or --force to replace it"},
    Row{Hint::data_folder, "put it beside the model, or name its folder with --data-dir"},
    Row{Hint::data_folder_of_bytes, "name one with --data-dir"},
    Row{Hint::data_beside, "--append-external takes data from files beside the model"},
    Row{Hint::max_expansion, "if you trust it, a higher --max-expansion allows more"},
    Row{Hint::max_expansion_of, "if you trust it, raise the limit: --max-expansion {}"},
    Row{Hint::rename_entry, "--rename OLD=NEW gives it another one"},
    Row{Hint::name_graph, "--graph NAME=FILE gives it another one"},
    Row{Hint::external_data, "use --external-data NAME to keep the weights in a file beside the model"},
    Row{Hint::lower_threshold, "a lower --threshold moves more tensors out of it"},
    Row{Hint::lower_threshold_or_all, "a lower --threshold or --all-sites moves more tensors out of it"},
    Row{Hint::not_as_text, "without --text its data may be in a file beside it"},
    Row{Hint::raw_bytes, "--raw writes its bytes"},
    Row{Hint::text_parser, "use a build with protobuf, or convert the model to binary form"},
    Row{Hint::load_or_set_payload, "make its external data available"},
    Row{Hint::set_payload, "give the tensor its data"},
    Row{Hint::share_payload, "give the tensor its data"},
    Row{Hint::set_large_payloads, "a lower --threshold moves more tensors out of them"},
    Row{Hint::add_entry_first, "the archive must have an entry of that name"},
    Row{Hint::use_link, "`onnxar link` leaves the data in the archive"},
    Row{Hint::pack_it, "`onnxar pack` makes an archive of it"},
    Row{Hint::pack_or_rename, "`onnxar pack` makes an archive of it, or name it .onnx"},
    Row{Hint::pack_anew, "`onnxar pack` makes a new archive"},
    Row{Hint::pack_own_data, "`onnxar pack` makes an archive in which the tensor has data of its own"},
    Row{Hint::pack_aligns, "`onnxar pack` aligns it"},
    Row{Hint::pack_leaves_out, "`onnxar pack` leaves it out"},
    Row{Hint::pack_moves_tensors, "`onnxar pack` moves its tensors out of it"},
    Row{Hint::pack_threshold, "`onnxar pack` with a lower --threshold moves more tensors out of it"},
    Row{Hint::pack_names_tensors, "`onnxar pack` does, and gives the entries of tensors new names"},
    Row{Hint::pack_names_entries,
        "`onnxar pack` gives the entries of tensors new names and, with --rename, other entries as well"},
    Row{Hint::repack_plain_zip,
        "this is a plain zip or was changed by a zip tool: `onnxar repack` makes an archive of it"},
    Row{Hint::repack_shortens, "`onnxar repack` shortens it"},
    Row{Hint::repack_side_file,
        "a file NAME.onnx in the root is a graph of the archive: if this one is something else, "
        "`onnxar repack --rename {}=extra/{}` makes a side file of it"},
    Row{Hint::repack_rename, "rename the file, or the entry with `onnxar repack --rename {}=NEW`"},
    Row{Hint::unpack_unnamed, "another name is possible, and `onnxar unpack` writes a model without any"},
    Row{Hint::unpack_model_alone, "`-o FILE` writes the model alone, or remove files with a zip tool"},
    Row{Hint::get_whole, "`onnxar get` downloads it as a whole"},
    Row{Hint::wait_longer, "a longer `--timeout SECONDS` waits longer, and `--timeout 0` without end"},
    Row{Hint::copy_in, "run it again when no other program writes to the file, or on a copy of it"},
    Row{Hint::make_anew, "fetch it again, or make it anew with `onnxar pack` or `onnxar repack`"},
    Row{Hint::link_again, "make the link again with `onnxar link`"},
    Row{Hint::recover_cuts, "`onnxar recover` cuts off the rest"},
    Row{Hint::list_entries, "`onnxar ls` and `unzip -l` list them"},
    Row{Hint::dump_strings, "`onnxar dump` shows them"},
    Row{Hint::dump_or_freeze, "`onnxar dump --with-data` prints them, `onnxar freeze --weights` fills them in"},
    Row{Hint::kind_plain_model, "this is a plain .onnx model, not an archive: `onnxar pack` makes an archive of it"},
    Row{Hint::kind_weights,
        "this is {}, which holds weights and no graph: `onnxar freeze MODEL --weights FILE` fills them into a model"},
    Row{Hint::kind_other, "this is {}"},
};

/// Whether every hint has a row, at the index of its number. in_words relies on that.
constexpr bool is_complete() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows.at(i).hint) != i) return false;
  }
  constexpr std::array hints = {
      Hint::none,
#define ONNXAR_HINT(identifier, id, words) Hint::identifier,
#include "onnxar/error_hints.inc"
#undef ONNXAR_HINT
  };
  return rows.size() == hints.size();
}
static_assert(is_complete());

}  // namespace

std::string_view words_of(Hint hint) noexcept { return rows[static_cast<std::size_t>(hint)].words; }

std::string in_words(const Advice& advice) {
  const auto number = static_cast<std::size_t>(advice.hint);
  // A shared library that is newer than this tool may give a hint without a row: the library has words of its own.
  return number < rows.size() ? filled(rows.at(number).words, advice) : to_string(advice);
}

std::string line_of(const Error& error) {
  return "error[" + std::string(id(error.code())) + "] " + error.line(in_words(error.advice()));
}

std::string line_of(const Finding& finding) { return to_string(finding, in_words(finding.advice)); }

std::string message_of(const Finding& finding) {
  const std::string advice = in_words(finding.advice);
  return advice.empty() ? finding.message : finding.message + "; " + advice;
}

}  // namespace onnxar::tool
