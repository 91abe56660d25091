// Packs any bytes as a `.onnx` file. A packed model can be checked, unpacked and packed again. Every way gives the same
// bytes, and the model comes back byte for byte if convert.h promises it.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "archive/file_kind.h"
#include "archive/graph_rules.h"
#include "convert/links.h"
#include "fuzz/fuzz.h"
#include "fuzz/scratch.h"
#include "onnx/sites.h"
#include "onnx/string_entry.h"
#include "onnx/wire.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "support/samples.h"

namespace onnxar::fuzz::split_join_target {
namespace {

namespace fs = std::filesystem;
using Blob = std::vector<std::byte>;

SaveOptions written_as(Format format, SaveOptions options) {
  options.format = format;
  options.data_file = "out.data";
  options.output = {.overwrite = true, .sync = false};
  return options;
}

/// Packs in an empty folder, where a link of the model can only lead to the model itself.
fs::path input_file(const Blob& input) { return put("input/in", input); }

Blob converted(const Blob& input, const SaveOptions& options) {
  const fs::path source = input_file(input);
  testing::pack_or_unpack(source, scratch() / "out", options);
  return get("out");
}

/// The archive's bytes after a detour by a model with a data file.
Blob by_data_file(const Blob& input, const SaveOptions& options) {
  const fs::path source = input_file(input);
  const fs::path folder = scratch_folder("data");
  testing::pack_or_unpack(source, folder / "out", written_as(Format::onnx_external, options));
  testing::pack_or_unpack(folder / "out", scratch() / "out", written_as(Format::archive, options));
  return get("out");
}

std::vector<Finding> checked(const Blob& input) { return check(input_file(input), {.data = true}); }

/// Whether a tensor meets the conditions of convert.h for coming back byte for byte, by a second wire parser: raw_data
/// once, no other data and no link, ascending fields, tag and length in the shortest encoding.
bool comes_back(Bytes model, onnx::Range tensor) {
  constexpr std::uint32_t raw_data = 9;
  std::uint32_t last = 0;
  bool promised = true;
  onnx::Cursor cursor(model, tensor);
  for (onnx::Field field; cursor.next(field);) {
    const bool other_data = (field.number >= 4 && field.number <= 7) || field.number == 10 || field.number == 11;
    const bool link = field.number == 13 || (field.number == 14 && (field.number_value & 0xffffffffU) != 0);
    const bool twice = field.number == raw_data && last == raw_data;
    const bool padded =
        field.number == raw_data && field.value.begin - field.whole.begin != 1 + onnx::varint_size(field.value.size());
    promised = promised && field.number >= last && !other_data && !link && !twice && !padded;
    last = field.number;
  }
  return promised;
}

/// Whether the length of every message around the tensor is in the shortest encoding.
bool is_plainly_nested(const onnx::TensorSite& site) {
  return std::ranges::all_of(site.levels, [](const onnx::Level& level) {
    return level.field.length.size() == onnx::varint_size(level.field.value.size());
  });
}

/// Whether a length around some tensor is padded. Some ways of writing then shorten it, and others do not.
bool has_padded_lengths(const Blob& model) {
  bool plain = true;
  onnx::walk_tensors(model, [&plain](const onnx::TensorSite& site) { plain = plain && is_plainly_nested(site); });
  return !plain;
}

/// Whether the model links to data, which can only be its own bytes. Several tensors may then share a range, which is
/// one entry of the archive, but several copies in an inline model.
bool has_links(const Blob& model) {
  bool any = false;
  onnx::walk_tensors(model, [&any](const onnx::TensorSite& site) { any = any || site.tensor.is_external(); });
  return any;
}

/// Whether the model has keys that the library writes itself. It removes those that only archives or links have.
bool has_own_keys(const Blob& model) {
  return !onnx::find_metadata(model, link_key_prefix).empty() || !onnx::find_metadata(model, model_name_key).empty();
}

/// Whether every tensor whose data was moved in or out comes back byte for byte.
bool promised(const Blob& model, const Blob& archive) {
  std::vector<bool> moved;
  const Archive opened = Archive::open(archive, nullptr);
  onnx::walk_tensors(opened.model(), [&](const onnx::TensorSite& site) { moved.push_back(site.tensor.is_external()); });
  bool all = !has_own_keys(model);
  std::size_t next = 0;
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) {
    const bool stays = !moved.at(next++) && !site.tensor.is_external();
    all = all && (stays || (comes_back(model, site.tensor.range) && is_plainly_nested(site)));
  });
  require(next == moved.size(), "the archive's model has the same tensors");
  return all;
}

void round_trip(const Blob& model, const SaveOptions& options) {
  const SaveOptions pack = written_as(Format::archive, options);
  const SaveOptions unpack = written_as(Format::onnx_inline, options);
  const auto packed = [&] { return converted(model, pack); };
  // Which names a model may have is a rule of archives alone.
  const bool sound = passed(checked(model)) && onnx::find_metadata(model, model_name_key).empty();
  const auto archive = sound ? must("a model that passes the check can be packed", packed) : accepted(packed);
  if (!archive) return;

  if (is_turn(model, 0, 5)) require(packed() == *archive, "the same model gives the same archive");
  if (is_turn(model, 0, 2))
    require(!sound || passed(checked(*archive)), "the archive of a model that passes passes, too");
  const auto unpacked = [&] { return converted(*archive, unpack); };
  // Data outside the model of a name that is defined twice cannot be put inside.
  const auto is_duplicate = [](const Finding& finding) { return finding.code == Code::onnx_graph_duplicate; };
  if (std::ranges::any_of(checked(*archive), is_duplicate) && !accepted(unpacked)) return;
  const Blob back = must("what was packed can be unpacked", unpacked);
  require(back == model || !promised(model, *archive), "the model comes back byte for byte");
  if (has_padded_lengths(model) || has_own_keys(model)) return;
  const auto packed_again = [&] { return converted(back, pack); };
  const auto repacked = [&] { return converted(*archive, pack); };
  const auto by_file = [&] { return by_data_file(model, options); };
  if (is_turn(model, 0, 4) && !has_links(model))
    require(must("what was unpacked can be packed", packed_again) == *archive, "the same archive");
  if (is_turn(model, 1, 4)) require(must("an archive can be packed", repacked) == *archive, "to the same archive");
  if (is_turn(model, 2, 4)) require(must("a data file on the way", by_file) == *archive, "gives the same archive");
}

}  // namespace

void run(Bytes input) {
  const Blob model(input.begin(), input.end());
  if (looks_like_zip(input) || looks_like_text(input)) return;  // other targets test archives and text
  const SaveOptions usual;
  const bool both = model.size() >= usual.threshold;
  if (!both || is_turn(model, 0, 3)) round_trip(model, {.threshold = 0, .all_sites = true});
  if (both && (is_turn(model, 1, 3) || is_turn(model, 2, 3))) round_trip(model, usual);
}

}  // namespace onnxar::fuzz::split_join_target
