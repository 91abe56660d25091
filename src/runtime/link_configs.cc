// Edits the configurations in a folder of links, so that runtimes find the archive's folder.
#include "runtime/link_configs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/annotated.h"
#include "base/json.h"
#include "base/kept.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "os/names.h"

namespace onnxar {
namespace {

using base::concat;
using base::json_string;
using base::JsonKind;
using base::JsonMember;
using base::JsonReader;
using base::JsonValue;

constexpr std::string_view options_key = "session_options";
constexpr Code bad_config = Code::usage_argument;

/// Replaces ranges of one text.
class JsonEdits {
 public:
  JsonEdits(std::string name, base::Kept<std::string_view> text) : name_(std::move(name)), text_(text) {}

  [[nodiscard]] std::vector<JsonMember> members(const JsonValue& object) const {
    if (object.kind != JsonKind::object) refuse(object.begin, "is not an object");
    std::vector<JsonMember> members = JsonReader(text_, bad_config, object).members();
    std::vector<std::string_view> keys;
    for (const JsonMember& member : members) keys.push_back(member.key);
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice != keys.end()) refuse(object.begin, concat("has the key ", base::quoted(*twice), " twice"));
    return members;
  }
  [[nodiscard]] std::string string(const JsonValue& value) const {
    return JsonReader(text_, bad_config, value).string();
  }

  void replace(const JsonValue& value, std::string json) { edits_[value.begin] = {value.end, std::move(json)}; }
  void add(base::TextEdits edits) { edits_.merge(edits); }
  /// Sets a member to this JSON.
  void set(const JsonValue& object, std::string_view key, const std::string& json) {
    const std::vector<JsonMember> there = members(object);
    if (const JsonMember* const member = member_named(there, key)) return replace(member->value, json);
    const std::size_t front = object.begin + 1;
    edits_[front] = {front, concat(json_string(key), ": ", json, there.empty() ? "" : ", ")};
  }
  /// Sets the option for the folder of the archive in the session options of `object`.
  void set_folder(const JsonValue& object, const std::string& folder) {
    const std::string option = json_string(data_folder_option), value = json_string(folder);
    const std::vector<JsonMember> there = members(object);
    const JsonMember* const options = member_named(there, options_key);
    if (options != nullptr) return set(options->value, data_folder_option, value);
    set(object, options_key, concat("{", option, ": ", value, "}"));
  }

  [[nodiscard]] std::string result() const { return base::edited(text_, edits_); }

 private:
  [[noreturn]] void refuse(std::size_t at, const std::string& what) const {
    throw Error(bad_config, what, {name_, at});
  }

  std::string name_;
  std::string_view text_;
  base::TextEdits edits_;
};

/// Sets the folder in each object with session options of a configuration. Models without such an object use the
/// options of the decoder. Configurations have four levels; deeper ones are ignored.
void set_folders(JsonEdits& edits, const std::string& text, const JsonValue& value, const std::string& folder,
                 int levels) {
  if (levels == 0) return;
  if (value.kind == JsonKind::list) {
    JsonReader list(text, bad_config, value);
    list.list([&] { set_folders(edits, text, list.skip(), folder, levels - 1); });
  }
  if (value.kind != JsonKind::object) return;
  const std::vector<JsonMember> members = edits.members(value);
  const JsonMember* const options = member_named(members, options_key);
  if (options != nullptr && options->value.kind == JsonKind::object) edits.set_folder(value, folder);
  for (const JsonMember& member : members) {
    if (member.key == options_key) continue;
    if (member.key == "decoder" && member.value.kind == JsonKind::object &&
        member_named(edits.members(member.value), options_key) == nullptr) {
      edits.set_folder(member.value, folder);
    }
    set_folders(edits, text, member.value, folder, levels - 1);
  }
}

}  // namespace

std::map<std::string, std::string> installed_package(const Package& package, const ArchiveFolder& archive_folder,
                                                     const std::function<bool(const std::string&)>& has_path) {
  std::map<std::string, JsonEdits> edits;
  const auto in = [&](const std::string& file) -> JsonEdits& {
    return edits.try_emplace(file, file, package.texts().at(file)).first->second;
  };
  bool is_installed = false;
  for (const Package::Component& component : package.components()) {
    for (const Package::Variant& variant : component.list) {
      if (variant.graph.empty() || !variant.executor) continue;
      const std::string folder = archive_folder(variant.folder, variant.graph);
      if (folder.empty()) continue;
      in(variant.executor->file).set_folder(variant.executor->value, folder);
      is_installed = true;
    }
  }
  const std::string& text = package.texts().at(std::string(manifest_name));
  JsonEdits& manifest = in(std::string(manifest_name));
  const JsonValue root = JsonReader(text, bad_config).skip();
  if (is_installed) manifest.set(root, "layout", json_string("installed"));
  const std::vector<JsonMember> members = manifest.members(root);
  const JsonMember* const assets = member_named(members, "shared_assets");
  if (assets != nullptr && assets->value.kind == JsonKind::object) {
    const auto is_gone = [&](const JsonMember& member) {
      return member.value.kind == JsonKind::string &&
             !has_path(os::slashed_text_of(os::path_of(manifest.string(member.value)).lexically_normal()));
    };
    manifest.add(without_members(manifest.members(assets->value), is_gone));
  }
  std::map<std::string, std::string> changed;
  for (const auto& [file, edit] : edits) {
    std::string result = edit.result();
    if (result != package.texts().at(file)) changed.emplace(file, std::move(result));
  }
  return changed;
}

std::optional<std::string> genai_with_folder(const std::string& text, const std::string& folder) {
  constexpr int most_levels = 6;
  const auto in_config = [] { return base::Annotation{.entry = std::string(genai_config_name)}; };
  return base::annotated(in_config, [&]() -> std::optional<std::string> {
    JsonReader reader(text, bad_config);
    const JsonValue root = reader.skip();
    reader.finish();
    if (root.kind != JsonKind::object) return std::nullopt;
    JsonEdits edits(std::string(genai_config_name), text);
    const std::vector<JsonMember> members = edits.members(root);
    const JsonMember* const model = member_named(members, "model");
    if (model == nullptr || model->value.kind != JsonKind::object) return std::nullopt;
    set_folders(edits, text, model->value, folder, most_levels);
    return edits.result();
  });
}

}  // namespace onnxar
