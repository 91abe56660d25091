// Any external_data of a tensor: only plain decimals are accepted as numbers, and every byte read lies in the model's
// folder, for any location and any symbolic links.
//
// Input: a byte that chooses the folder, then one line `key=value` per pair. The key `expected` gives the size that the
// shape requires.
#include "onnx/external_data.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "convert/external_files.h"
#include "convert/open.h"
#include "fuzz/fuzz.h"
#include "fuzz/reader.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::fuzz::external_data_target {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view canary = "CANARY";  // in every file that must not be read, and only there

const testing::TempDir& folder() {
  static const testing::TempDir made;
  return made;
}

struct Case {
  fs::path model;
  fs::path data_dir;
};

/// model/, with files beside it that must stay hidden; cache/, a snapshot that links into a folder of blobs, as model
/// hubs arrange it.
std::array<Case, 4> make_folders() {
  const testing::TempDir& root = folder();
  for (const char* name : {"secret", "beside/secret", "cache/secret", "cache/snap/other/secret", "model-2/secret"}) {
    root.write_file(name, canary);
  }
  for (const char* name : {"model/model.onnx", "model/data.bin", "model/sub/inner.bin", "cache/blobs/m",
                           "cache/blobs/d", "cache/snap/1/inside.bin"}) {
    root.write_file(name, std::string("the bytes of ") + name);
  }
  const std::array<std::pair<const char*, fs::path>, 12> links = {{
      {"model/out", "../secret"},
      {"model/absolute", root / "secret"},
      {"model/up", ".."},
      {"model/sub/up", "../../secret"},
      {"model/root", "/"},
      {"model/in", "sub/inner.bin"},
      {"model/sub/in", "../data.bin"},
      {"model/loop", "loop"},
      {"model/nowhere", "missing"},
      {"cache/snap/1/model.onnx", "../../blobs/m"},
      {"cache/snap/1/data.bin", "../../blobs/d"},
      {"cache/snap/1/out", "../../secret"},
  }};
  for (const auto& [name, target] : links) fs::create_symlink(target, root / name);
  return {{{root / "model/model.onnx", {}},
           {root / "model/model.onnx", root / "model/sub"},
           {root / "cache/snap/1/model.onnx", {}},
           {root / "cache/snap/1/model.onnx", root / "model"}}};
}

struct Question {
  onnx::ExternalData data;
  std::optional<std::uint64_t> expected;
};

/// The value of a plain decimal below 2^64; nothing for any other text.
std::optional<std::uint64_t> decimal(const std::string& text) {
  const std::string largest = "18446744073709551615";
  const bool plain = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos &&
                     (text == "0" || text.front() != '0');
  if (!plain || text.size() > largest.size() || (text.size() == largest.size() && text > largest)) return std::nullopt;
  return std::stoull(text);
}

std::optional<std::uint64_t> decimal(std::optional<std::string_view> text) {
  return text ? decimal(std::string(*text)) : std::nullopt;
}

bool starts_like_memory(std::string_view location) {
  return location.starts_with("#onnxar:") || location.starts_with("*/_ORT_");
}

void check_slice(const onnx::ExternalData& data, const std::optional<onnx::ExternalSlice>& slice) {
  const bool offset = !data.offset || decimal(data.offset);
  const bool length = !data.length || decimal(data.length);
  const bool location = data.location && !data.location->empty() && !starts_like_memory(*data.location);
  require(slice.has_value() == (offset && length && location), "M8, M11, M12, M14: what is accepted is right");
  if (!slice) return;
  require(slice->location == *data.location, "the location is taken as it is");
  require(slice->offset == decimal(data.offset).value_or(0), "so is the offset");
  require(slice->length == decimal(data.length), "and the length");
}

/// Whether a file that may be read has these bytes at the requested place.
bool is_allowed(std::string_view bytes, std::uint64_t offset) {
  static const std::vector<std::string> files = [] {
    std::vector<std::string> all;
    for (const char* name : {"model/model.onnx", "model/data.bin", "model/sub/inner.bin", "cache/blobs/m",
                             "cache/blobs/d", "cache/snap/1/inside.bin"}) {
      all.push_back(folder().read_text(name));
    }
    return all;
  }();
  return std::ranges::any_of(files, [&](const std::string& file) {
    return offset <= file.size() && file.substr(offset, bytes.size()) == bytes;
  });
}

void resolve(const Case& folder, const Question& question, const onnx::ExternalSlice& slice) {
  ExternalFiles files(folder.model, folder.data_dir);
  const auto ask = [&] { return files.resolve(slice, question.expected, 0); };
  try {
    const ByteSpan span = ask().bytes;
    const std::string_view bytes = as_text(span.bytes());
    require(bytes.find(canary) == std::string_view::npos, "nothing outside the folder is read");
    require(is_allowed(bytes, slice.offset), "what is read is what stands there");
    require(!slice.length || bytes.size() == *slice.length, "as many bytes as were asked for");
    const ByteSpan again = ask().bytes;
    require(again.bytes().data() == span.bytes().data(), "each file is mapped once");
  } catch (const Error& error) {
    require(kind(error.code()) != Kind::usage, "no link is a misuse");
  }
}

}  // namespace

void run(Bytes input) {
  static const std::array<Case, 4> folders = make_folders();
  Reader reader(input);
  const Case& folder = folders.at(reader.number(1) % folders.size());

  // All pairs share one buffer, because the parser returns views of it.
  testing::Blob wire;
  std::vector<onnx::Range> pairs;
  Question question;
  while (!reader.empty()) {
    Reader line(as_bytes(reader.text_until('\n')));
    const std::string_view key = line.text_until('=');
    const std::string_view value = line.text_until('\n');
    if (key == "expected") {
      question.expected = decimal(std::optional(value));
      continue;
    }
    const testing::Message pair = testing::string_entry(key, value);
    pairs.push_back({wire.size(), wire.size() + pair.view().size()});
    wire.insert(wire.end(), pair.view().begin(), pair.view().end());
  }
  const auto all_added = accepted([&] {
    for (const onnx::Range& pair : pairs) question.data.add(wire, pair);
    return true;
  });
  if (!all_added) return;
  const auto slice = accepted([&] { return onnx::parse_external_data(question.data, 0); });
  check_slice(question.data, slice);
  if (slice) resolve(folder, question, *slice);
}

}  // namespace onnxar::fuzz::external_data_target
