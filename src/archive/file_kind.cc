// Recognises files that are not archives, and adds advice on them to errors.
#include "archive/file_kind.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "archive/foreign_zip.h"
#include "archive/zip_expansion.h"
#include "base/annotated.h"
#include "base/checked.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/wire.h"
#include "onnxar/archive.h"
#include "onnxar/options.h"
#include "zip/foreign_directory.h"
#include "zip/format.h"

namespace onnxar {
namespace {

using namespace std::string_view_literals;

/// Maps bytes at `offset` to the kind of the file. The comparison ignores ASCII case.
struct Magic {
  std::size_t offset;
  std::string_view bytes;
  std::string_view kind;
};

constexpr std::string_view lfs_beginning = "version https://git-lfs.github.com/spec/";

constexpr std::string_view pickle = "a Python pickle; export its model to ONNX first";
constexpr std::string_view utf16 = "text in UTF-16; save it in UTF-8 first";
constexpr std::string_view web_page = "a web page (HTML), perhaps a sign-in or error page; download the file itself";

constexpr std::array magics = {
    Magic{0, "\x93NUMPY"sv, "a NumPy array (.npy); `numpy.savez` turns it into a file of weights"},
    Magic{0, "GGUF"sv, "a GGUF file, which holds weights without an ONNX graph"},
    Magic{0, "\x1f\x8b"sv, "compressed with gzip; `gunzip` it first"},
    Magic{0, "\xfd\x37zXZ\0"sv, "compressed with xz; `unxz` it first"},
    Magic{4, "1AY&SY"sv, "compressed with bzip2; `bunzip2` it first"},
    Magic{0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive; unpack it first"},
    Magic{0, "Rar!\x1a\x07"sv, "a rar archive; unpack it first"},
    Magic{257, "ustar"sv, "a tar archive; unpack it first (`tar -xf`)"},
    Magic{0, "\x28\xb5\x2f\xfd"sv, "compressed with zstd; `unzstd` it first"},
    Magic{0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file; export its model to ONNX first"},
    Magic{4, "TFL3"sv, "a TensorFlow Lite model; convert it to ONNX first"},
    Magic{4, "ORTM"sv, "a model in ONNX Runtime's own format; start from its .onnx file"},
    Magic{0, "\x80\x02"sv, pickle},
    Magic{0, "\x80\x03"sv, pickle},
    Magic{0, "\x80\x04"sv, pickle},
    Magic{0, "\x80\x05"sv, pickle},
    Magic{0, "\xff\xfe"sv, utf16},
    Magic{0, "\xfe\xff"sv, utf16},
    Magic{0, lfs_beginning, "a pointer of Git LFS, not the file itself; run `git lfs pull` to get it"},
};

/// Lists kinds of text by their first bytes, after white space and a byte order mark.
constexpr std::array text_magics = {
    Magic{0, "<!doctype html"sv, web_page},
    Magic{0, "<html"sv, web_page},
    Magic{0, "<?xml"sv, "XML, not an ONNX model"},
    Magic{0, "{\""sv, "JSON; ONNX's Python package converts a model in JSON to .onnx (onnx.load, format=\"json\")"},
};

/// Lists kinds of zip files by the name of an entry, or by how such a name begins or ends.
constexpr std::array zip_magics = {
    Magic{0, "[Content_Types].xml"sv, "a document of Office"},
    Magic{0, "META-INF/"sv, "a Java archive (.jar)"},
    Magic{0, "model.weights.h5"sv, "a Keras model; export it with `model.export(format=\"onnx\")`"},
    Magic{0, "mimetype"sv, "a document (OpenDocument or EPUB)"},
};

Advice other(std::string_view kind) { return {Hint::kind_other, std::string(kind)}; }

/// Returns the kind of the first row that `begin` matches.
Advice kind_in(std::span<const Magic> rows, std::string_view begin) {
  for (const Magic& magic : rows) {
    if (begin.size() < magic.offset + magic.bytes.size()) continue;
    if (std::ranges::equal(begin.substr(magic.offset, magic.bytes.size()), magic.bytes, {}, base::folded, base::folded))
      return other(magic.kind);
  }
  return {};
}

/// Returns the kind of a zip file without a model, by the names of its entries.
Advice kind_by_entries(const zip::ForeignDirectory& directory) {
  for (const zip::ForeignEntry& entry : directory.entries()) {
    if (Advice kind = kind_in(zip_magics, entry.name); kind.hint != Hint::none) return kind;
  }
  return other("a zip file without an ONNX model");
}

/// Examines the directory of a zip file. Returns that the file holds no model, or else which verb makes an archive of
/// it, if there is a hint `of_model`.
Advice advice_by_directory(Bytes file, Hint of_model) {
  try {
    const auto directory = zip::ForeignDirectory::read(file, {});
    ZipExpansion expansion(file.size(), LoadOptions().max_expansion);
    try {
      const ForeignModel model = find_foreign_model(file, directory, expansion);
      if (of_model == Hint::none) return {};
      // Only `pack` converts what PyTorch wrote, and takes the model of a folder out of it.
      const bool is_for_pack = model.dialect == Dialect::pytorch || !model.folder.empty();
      return {is_for_pack ? Hint::pack_it : of_model};
    } catch (const Error& error) {
      const bool has_none = error.entry().empty();  // other errors name the entry that is wrong
      return has_none ? kind_by_entries(directory) : Advice{};
    }
  } catch (const Error&) {
    return {};  // each verb would refuse it
  }
}

/// Returns the kind of a zip file. Recognises NumPy's and PyTorch's by the name of the first entry, which works for
/// damaged files too; recognises others by the directory.
Advice advice_on_zip(Bytes file, Hint of_model) {
  constexpr std::size_t name_length_at = 26;
  if (file.size() < zip::local_file_header_size) return {};
  const auto length = base::load<std::uint16_t>(file, name_length_at);
  const std::string_view name = as_text(file).substr(zip::local_file_header_size, length);
  if (name.ends_with(".npy")) return {Hint::kind_weights, "a NumPy file of arrays (.npz)"};
  if (name.ends_with("/data.pkl")) {
    return other("a PyTorch checkpoint; export its model with `torch.onnx.export`");
  }
  return advice_by_directory(file, of_model);
}

bool is_white_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_text(Bytes file) {
  const std::string_view begin = as_text(file.first(std::min<std::size_t>(file.size(), 256)));
  const auto is_printed = [](char c) { return (c > ' ' && c < 0x7f) || is_white_space(c); };
  return !begin.empty() && std::ranges::all_of(begin, is_printed);
}

/// True if the message has the field `graph` of a ModelProto. Throws wire.* if the bytes are not a message.
bool has_graph(Bytes file) {
  onnx::Cursor cursor(file, {0, file.size()});
  bool found = false;
  for (onnx::Field field; cursor.next(field);) {
    found = found || (field.number == onnx::model_field::graph && field.type == onnx::Type::length_delimited);
  }
  return found;
}

/// True if the bytes begin as a GraphDef (of nodes, which begin with a name) or a SavedModel of TensorFlow. A
/// ModelProto without a graph may begin as the second.
bool looks_like_tensorflow(Bytes file) {
  try {
    onnx::Cursor cursor(file, {0, file.size()});
    onnx::Field field;
    if (!cursor.next(field) || field.number != 1) return false;
    const bool is_saved_model = field.type == onnx::Type::varint && field.number_value == 1;
    if (is_saved_model && (!cursor.next(field) || field.number != 2)) return false;
    if (field.type != onnx::Type::length_delimited) return false;
    onnx::Cursor inner(file, field.value);
    return inner.next(field) && field.type == onnx::Type::length_delimited &&
           field.number <= (is_saved_model ? 2U : 1U);
  } catch (const Error&) {
    return false;
  }
}

/// True if the bytes are the fields of a GraphProto: nodes, then a field that TensorFlow's GraphDef, which also begins
/// with nodes, does not have.
bool looks_like_graph(Bytes file) {
  try {
    onnx::Cursor cursor(file, {0, file.size()});
    bool found = false;
    for (onnx::Field field; cursor.next(field);) {
      if (field.type != onnx::Type::length_delimited) return false;
      found = found || field.number == onnx::graph_field::initializer || field.number == onnx::graph_field::input ||
              field.number == onnx::graph_field::output;
    }
    return found;
  } catch (const Error&) {
    return false;
  }
}

bool is_plain_model(Bytes file) {
  try {
    return has_graph(file);
  } catch (const Error&) {
    return false;
  }
}

/// Returns the kind of a file that is not a zip.
Advice advice_on_other_kind(Bytes file) {
  if (safetensors_header(file)) return {Hint::kind_weights, "a safetensors file"};
  std::string_view begin = as_text(file.first(std::min<std::size_t>(file.size(), 512)));
  if (Advice kind = kind_in(magics, begin); kind.hint != Hint::none) return kind;
  if (begin.starts_with(base::byte_order_mark)) begin.remove_prefix(base::byte_order_mark.size());
  begin = std::string_view(std::ranges::find_if_not(begin, is_white_space), begin.end());
  const bool is_object = begin.starts_with('{') && begin.find_first_not_of(" \t\r\n", 1) == begin.find('"');
  if (Advice kind = kind_in(text_magics, is_object ? "{\""sv : begin); kind.hint != Hint::none) return kind;
  if (is_text(file)) return other("text, but not a model in protobuf's text format");
  if (looks_like_graph(file)) {
    return other("a GraphProto without the ModelProto around it; onnx.helper.make_model(graph) makes a model of it");
  }
  return looks_like_tensorflow(file) ? other("a TensorFlow model (.pb); convert it with tf2onnx first") : Advice{};
}

bool is_text_of_model(Bytes file) {
  const std::string_view begin = as_text(file.first(std::min<std::size_t>(file.size(), 4096)));
  return is_text(file) &&
         (begin.find("ir_version:") != std::string_view::npos || begin.find("graph {") != std::string_view::npos);
}

/// Skips white space and comments. A comment extends from `#` to the end of the line.
void skip_blank(std::string_view& text) noexcept {
  while (!text.empty() && (is_white_space(text.front()) || text.front() == '#')) {
    const std::size_t length = text.front() == '#' ? std::min(text.find('\n'), text.size()) : 1;
    text.remove_prefix(length);
  }
}

/// True if the text has a control character that is not white space. Serialised models have one near the front: the tag
/// of a field, or the length of a short string.
bool has_binary_control(std::string_view text) noexcept {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' && !is_white_space(c); });
}

}  // namespace

std::optional<std::string_view> safetensors_header(Bytes file) noexcept {
  constexpr std::uint64_t longest = 100'000'000;  // the limit of the format
  if (file.size() <= safetensors_length_size || file[safetensors_length_size] != std::byte{'{'}) return std::nullopt;
  const auto length = base::load<std::uint64_t>(file, 0);  // once: mapped bytes may change
  if (length < 2 || length > longest || length > file.size() - safetensors_length_size) return std::nullopt;
  return as_text(file.subspan(safetensors_length_size, static_cast<std::size_t>(length)));
}

bool looks_like_text(Bytes bytes) noexcept {
  constexpr std::size_t nearby = 256;
  std::string_view text = as_text(bytes);
  if (text.starts_with(base::byte_order_mark)) text.remove_prefix(base::byte_order_mark.size());
  skip_blank(text);
  const std::string_view begin = text.substr(0, nearby);
  const auto* const name_end = std::ranges::find_if_not(text, base::is_identifier_character);
  if (name_end == text.begin() || base::is_digit(text.front())) return false;
  text.remove_prefix(static_cast<std::size_t>(name_end - text.begin()));
  skip_blank(text);
  const bool has_value = !text.empty() && (text.front() == ':' || text.front() == '{' || text.front() == '<');
  return has_value && !has_binary_control(begin);
}

bool is_lfs_pointer(Bytes file) noexcept { return as_text(file).starts_with(lfs_beginning); }

Advice advice_on_kind(Bytes file, Hint of_model) {
  if (file.empty()) return {Hint::make_anew};
  if (looks_like_zip(file)) return advice_on_zip(file, of_model);
  if (is_text_of_model(file) || is_plain_model(file)) return {Hint::kind_plain_model};
  return advice_on_other_kind(file);
}

void refuse_other_kind(Bytes file) {
  if (looks_like_zip(file)) return;
  const Advice advice = advice_on_other_kind(file);
  if (advice.hint == Hint::none) return;
  const auto added = [&advice] { return base::Annotation{.advice = advice}; };
  if (base::annotated(added, [file] { return has_graph(file); })) return;
  throw Error(Code::onnx_model_invalid, "it has no field `graph` of an ONNX model", {"", 0}, {}, advice);
}

}  // namespace onnxar
