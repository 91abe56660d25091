#include "c/hints.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace onnxar::c {
namespace {

struct Row {
  Hint hint;
  std::string_view words;
};

// C has no function for some remedies, such as renaming an entry. Their words name the command line, which can do it.
constexpr std::array rows = {
    Row{Hint::none, ""},
    Row{Hint::overwrite, "choose another name, or set `overwrite` to replace it"},
    Row{Hint::data_folder, "put it beside the model, or name its folder in `external_data_dir`"},
    Row{Hint::data_folder_of_bytes, "name one in `external_data_dir`"},
    Row{Hint::data_beside, "`append_external` takes data from files beside the model"},
    Row{Hint::max_expansion, "if you trust it, a higher `max_expansion` allows more"},
    Row{Hint::max_expansion_of, "if you trust it, raise the limit: max_expansion = {}"},
    Row{Hint::rename_entry, "`pack` and `repack` of the command line can give it another name"},
    Row{Hint::name_graph, "the `name` of a model in onnxar_pack_models gives it another one"},
    Row{Hint::external_data, "`data_file` keeps the weights in a file beside the model"},
    Row{Hint::lower_threshold, "a lower `threshold` moves more tensors out of it"},
    Row{Hint::lower_threshold_or_all, "a lower `threshold` moves more tensors out of it"},
    Row{Hint::not_as_text, "written in binary form, its data may be in a file beside it"},
    Row{Hint::raw_bytes, "the option `raw` writes its bytes"},
    Row{Hint::text_parser, "have the model written in binary form"},
    Row{Hint::load_or_set_payload, "its external data has to be there"},
    Row{Hint::set_payload, "give the tensor its data"},
    Row{Hint::share_payload, "give the tensor its data"},
    Row{Hint::set_large_payloads, "a lower `threshold` moves more tensors out of them"},
    Row{Hint::add_entry_first, "add that entry before the model, or set `no_verify_model`"},
    Row{Hint::use_link, "onnxar_link leaves the data in the archive"},
    Row{Hint::pack_it, "onnxar_pack makes an archive of it"},
    Row{Hint::pack_or_rename, "onnxar_pack makes an archive of it, or name it .onnx"},
    Row{Hint::pack_anew, "onnxar_pack makes a new archive"},
    Row{Hint::pack_own_data, "onnxar_pack makes an archive in which the tensor has data of its own"},
    Row{Hint::pack_aligns, "onnxar_pack aligns it"},
    Row{Hint::pack_leaves_out, "onnxar_pack leaves it out"},
    Row{Hint::pack_moves_tensors, "onnxar_pack moves its tensors out of it"},
    Row{Hint::pack_threshold, "onnxar_pack with a lower `threshold` moves more tensors out of it"},
    Row{Hint::pack_names_tensors, "onnxar_pack does, and gives the entries of tensors new names"},
    Row{Hint::pack_names_entries,
        "onnxar_pack gives the entries of tensors new names, and `pack` of the command line can rename other entries"},
    Row{Hint::repack_plain_zip,
        "this is a plain zip or was changed by a zip tool: onnxar_repack makes an archive of it"},
    Row{Hint::repack_shortens, "onnxar_repack shortens it"},
    Row{Hint::repack_side_file,
        "a file NAME.onnx in the root is a graph of the archive: if this one is not, `repack` of the command line can "
        "rename {} to \"extra/{}\", which makes it a side file"},
    Row{Hint::repack_rename, "rename the file, or the entry {} with `repack` of the command line"},
    Row{Hint::unpack_unnamed, "another name is possible, and onnxar_unpack writes a model without any"},
    Row{Hint::unpack_model_alone,
        "onnxar_unpack to a file instead of a folder writes the model alone, or remove files with a zip tool"},
    Row{Hint::get_whole, "`get` of the command line downloads it as a whole"},
    Row{Hint::wait_longer, "the command line has an option for longer waits"},
    Row{Hint::copy_in, "let no other program write to it meanwhile, or open an archive with `copy_in`"},
    Row{Hint::make_anew, "fetch it again, or make it anew with onnxar_pack or onnxar_repack"},
    Row{Hint::link_again, "make the link again with onnxar_link"},
    Row{Hint::recover_cuts, "onnxar_recover cuts off the rest"},
    Row{Hint::list_entries, "onnxar_get_entry lists them"},
    Row{Hint::dump_strings, "`dump` of the command line shows them"},
    Row{Hint::dump_or_freeze,
        "`dump` of the command line prints them with its data, and its `freeze` fills them in from a file of weights"},
    Row{Hint::kind_plain_model, "this is a plain model, not an archive: `onnxar_pack` makes an archive of it"},
    Row{Hint::kind_weights,
        "this is {}, which holds weights and no graph: `freeze` of the command line fills them into a model"},
    Row{Hint::kind_other, "this is {}"},
};

/// Whether every hint has a row, at the index that is its number. A new hint thus does not compile without its words.
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

std::string words_of(const Advice& advice) {
  return filled(rows.at(static_cast<std::size_t>(advice.hint)).words, advice);
}

std::string with_advice(const std::string& message, const std::string& words) {
  return words.empty() ? message : message + "; " + words;
}

}  // namespace onnxar::c
