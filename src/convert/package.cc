// Reads a model package of ONNX Runtime: its manifest, its variants and their files.
#include "convert/package.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "archive/keys.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "base/sha256.h"
#include "base/text.h"

namespace onnxar {
namespace {

using base::concat;
using base::JsonKind;
using base::JsonMember;
using base::JsonReader;
using base::JsonValue;

/// The code of the error for a text that is not JSON; it becomes a warning.
constexpr Code malformed = Code::usage_argument;

constexpr std::size_t most_warnings = 10;

constexpr std::string_view asset_scheme = "sha256:";

/// Returns `path` in `folder` as a name in the package, without `.` and empty parts; nothing if it would leave the
/// package.
std::optional<std::string> name_in(std::string_view folder, std::string_view path) {
  if (path.starts_with('/') || path.find('\\') != std::string_view::npos || path.find('\0') != std::string_view::npos)
    return std::nullopt;
  std::string name(folder);
  for (const auto part : std::views::split(path, '/')) {
    const std::string_view text(part.begin(), part.end());
    if (text == ".." || text.find(':') != std::string_view::npos) return std::nullopt;
    if (!text.empty() && text != ".") name += concat(name.empty() ? "" : "/", text);
  }
  return name;
}

}  // namespace

std::string_view folder_in_package(std::string_view name) noexcept {
  const std::string_view folder = folder_of_name(name);
  return folder.substr(0, folder.empty() ? 0 : folder.size() - 1);
}

const JsonMember* member_named(const std::vector<JsonMember>& members, std::string_view key) {
  const auto found = std::ranges::find(members.rbegin(), members.rend(), key, &JsonMember::key);
  return found == members.rend() ? nullptr : &*found;
}

base::TextEdits without_members(const std::vector<JsonMember>& members,
                                const std::function<bool(const JsonMember&)>& is_removed) {
  base::TextEdits edits;
  const auto first_kept = std::ranges::find_if_not(members, is_removed);
  if (first_kept != members.begin()) {  // members at the front have no comma before them
    const std::size_t end = first_kept == members.end() ? members.back().value.end : first_kept->begin;
    edits.try_emplace(members.front().begin, end, "");
  }
  for (auto each = first_kept; each != members.end(); ++each)
    if (is_removed(*each)) edits.try_emplace(std::prev(each)->value.end, each->value.end, "");
  return edits;
}

/// Reads the files of one package. Skips each faulty value.
class Package::Reading {
 public:
  Reading(base::Kept<Package> package, base::Kept<const TextOf> text_of) : package_(package), text_of_(text_of) {}

  void run() {
    const auto manifest = file(std::string(manifest_name));
    if (!manifest || manifest->value.kind != JsonKind::object || text_of_(std::string(genai_config_name))) return;
    const std::vector<JsonMember> members = distinct_members_of(*manifest);
    const JsonMember* const version = member_named(members, "schema_version");
    const JsonMember* const components = member_named(members, "components");
    if (version == nullptr || components == nullptr || !knows({manifest->file, version->value})) return;
    if (components->value.kind != JsonKind::object) {
      return warn({manifest->file, components->value}, "`components` is not an object");
    }
    package_.is_one_ = true;
    if (const JsonMember* const assets = member_named(members, "shared_assets"))
      read_assets({manifest->file, assets->value});
    for (const JsonMember& member : distinct_members_of({manifest->file, components->value}))
      read_component(member.key, {manifest->file, member.value});
  }

 private:
  void warn(const At& at, std::string what) {
    if (package_.warnings_.size() >= most_warnings) return;
    package_.warnings_.push_back({Severity::warning, Code::zip_foreign, {at.file, at.value.begin}, std::move(what)});
  }

  /// Returns the text of a file of the package as one value; nothing, with a warning, if it cannot be read.
  std::optional<At> file(const std::string& name) {
    const auto known = package_.texts_.find(name);
    if (known == package_.texts_.end()) {
      auto text = text_of_(name);
      if (!text) return std::nullopt;
      package_.texts_.emplace(name, text->size() > most_bytes ? std::string() : std::move(*text));
    }
    const std::string& text = package_.texts_.at(name);
    // Counts a file each time it is named, because thousands of components may name one.
    bytes_ += text.size();
    if (text.empty() || bytes_ > most_bytes) {
      warn({name, {}}, concat("the file is empty or too large to be read as part of a model package, which may have ",
                              most_bytes, " bytes of JSON"));
      return std::nullopt;
    }
    try {
      JsonReader json(text, malformed);
      const JsonValue value = json.skip();
      json.finish();
      return At{name, value};
    } catch (const Error& error) {
      warn({name, {.begin = static_cast<std::size_t>(error.offset().value_or(0))}},
           concat("the file is not JSON, so it is not read as part of a model package: ", error.message()));
      return std::nullopt;
    }
  }

  [[nodiscard]] JsonReader reader(const At& at) const {
    const std::string& text = package_.texts_.at(at.file);
    return {text, malformed, at.value};
  }

  /// Returns the members of an object; none, with a warning, for any other value.
  std::vector<JsonMember> members_of(const At& at) {
    if (at.value.kind == JsonKind::object) return reader(at).members();
    warn(at, "the value is not an object");
    return {};
  }

  /// Returns the members with each key once. The last one counts, as in ONNX Runtime.
  std::vector<JsonMember> distinct_members_of(const At& at) {
    std::vector<JsonMember> members = members_of(at);
    base::KeyedMap<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < members.size(); ++i) last[members[i].key] = i;
    if (last.size() == members.size()) return members;
    std::vector<JsonMember> distinct;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (last.at(members[i].key) == i) {
        distinct.push_back(members[i]);
      } else {
        warn({at.file, {.begin = members[i].begin}},
             concat("the key ", base::quoted(members[i].key), " occurs twice; ONNX Runtime uses the last"));
      }
    }
    return distinct;
  }

  /// Returns the text of a member that is a string; nothing if there is no such member, with a warning if it is not a
  /// string.
  std::optional<std::string> string_in(const std::vector<JsonMember>& members, std::string_view key, const At& at) {
    const JsonMember* const member = member_named(members, key);
    if (member == nullptr) return std::nullopt;
    if (member->value.kind == JsonKind::string) return reader({at.file, member->value}).string();
    warn({at.file, member->value}, concat("`", key, "` is not a string"));
    return std::nullopt;
  }

  /// Returns the name of a path in the manifest; nothing, with a warning, if it leaves the package.
  std::optional<std::string> name_of(const std::string& folder, const std::string& path, const At& at) {
    auto name = path.starts_with(asset_scheme) ? name_in_asset(path) : name_in(folder, path);
    if (!name)
      warn(at, concat("the path ", base::quoted(path), " does not stay in the package, so it is not followed"));
    return name;
  }

  /// Returns the name of a path `sha256:<digest>/path` in a shared asset.
  std::optional<std::string> name_in_asset(const std::string& path) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string asset = path.substr(0, slash), digest = asset.substr(asset_scheme.size());
    if (!base::parse_digest(digest, base::sha256_digits)) return std::nullopt;
    const auto known = assets_.find(asset);
    const std::string folder = known == assets_.end() ? concat("shared_assets/sha256-", digest) : known->second;
    return name_in(folder, slash == path.size() ? std::string() : path.substr(slash + 1));
  }

  bool knows(const At& version) {
    std::string text(package_.texts_.at(version.file), version.value.begin, version.value.end - version.value.begin);
    if (version.value.kind == JsonKind::string) text = reader(version).string();
    const std::string_view minor = std::string_view(text).substr(std::min<std::size_t>(text.size(), 2));
    if (text == "1" || (text.starts_with("1.") && minor.find_first_not_of("0123456789.") == std::string_view::npos))
      return true;
    warn(version,
         concat("the version ", base::quoted(text), " of model packages is not known, so the manifest is not read"));
    return false;
  }

  void read_assets(const At& assets) {
    for (const JsonMember& member : distinct_members_of(assets)) {
      if (member.value.kind != JsonKind::string) continue;
      const At at{assets.file, member.value};
      if (auto name = name_of({}, reader(at).string(), at)) assets_.emplace(member.key, std::move(*name));
    }
  }

  void warn_missing(const At& at, std::string_view file) {
    warn(at, concat("the package has no file ", base::quoted(file)));
  }

  void read_component(const std::string& name, At body) {
    std::string folder;
    if (body.value.kind == JsonKind::string) {
      const auto path = name_of({}, reader(body).string(), body);
      if (!path) return;
      // The path names the file, or a folder that contains it.
      const std::string in_folder = concat(*path, path->empty() ? "" : "/", "component.json");
      auto found = file(in_folder);
      if (!found) found = file(*path);
      if (!found) return warn_missing(body, in_folder);
      body = *found;
      folder = folder_in_package(body.file);
    }
    const std::vector<JsonMember> members = members_of(body);
    const JsonMember* const variants = member_named(members, "variants");
    if (variants == nullptr) return warn(body, concat("the component ", base::quoted(name), " has no `variants`"));
    Component component{name, folder, {body.file, variants->value}, {}};
    for (const JsonMember& member : distinct_members_of(component.variants))
      read_variant(component, member.key, {body.file, member.value});
    package_.components_.push_back(std::move(component));
  }

  void read_variant(Component& component, const std::string& name, const At& body) {
    Variant variant{name, body};
    const std::vector<JsonMember> members = distinct_members_of(body);
    variant.ep = string_in(members, "ep", body).value_or("");
    variant.device = string_in(members, "device", body).value_or("");
    variant.compatibility = string_in(members, "compatibility_string", body).value_or("");
    const auto folder = name_of(component.folder, string_in(members, "variant_directory", body).value_or(name), body);
    const JsonMember* const info = member_named(members, "executor_info");
    if (folder && info != nullptr) read_executor(variant, *folder, {body.file, info->value});
    component.list.push_back(std::move(variant));
  }

  void read_executor(Variant& variant, const std::string& folder, const At& executors) {
    const std::vector<JsonMember> members = distinct_members_of(executors);
    const JsonMember* const ort = member_named(members, "ort");
    if (ort == nullptr) return;
    At body{executors.file, ort->value};
    if (body.value.kind == JsonKind::string) {
      const auto path = name_of(folder, reader(body).string(), body);
      const auto found = path ? file(*path) : std::nullopt;
      if (path && !found) warn_missing(body, *path);
      if (!found) return;
      body = *found;
    }
    variant.folder = folder;
    variant.executor = body;
    const std::vector<JsonMember> parts = distinct_members_of(body);
    if (const auto model = string_in(parts, "model_file", body))
      variant.graph = name_of(folder, *model, body).value_or("");
    const JsonMember* const options = member_named(parts, "session_options");
    if (options == nullptr) return;
    const At at{body.file, options->value};
    const auto path = string_in(distinct_members_of(at), data_folder_option, at);
    if (!path) return;
    variant.session_options = at;
    variant.data_folder = name_of(folder, *path, at);
  }

  Package& package_;
  const TextOf& text_of_;
  std::map<std::string, std::string> assets_;  // their folders, by URI
  std::size_t bytes_ = 0;
};

Package Package::read(const TextOf& text_of) {
  Package package;
  Reading(package, text_of).run();
  return package;
}

std::map<std::string, std::string> Package::without_data_folders() const {
  std::map<std::string, base::TextEdits> removed;
  for (const Component& component : components_) {
    for (const Variant& variant : component.list) {
      if (!variant.session_options || !variant.data_folder) continue;
      const auto& [file, value] = *variant.session_options;
      // If several variants name one file, the edits are the same.
      removed[file].merge(without_members(JsonReader(texts_.at(file), malformed, value).members(),
                                          [](const JsonMember& member) { return member.key == data_folder_option; }));
    }
  }
  std::map<std::string, std::string> changed;
  for (const auto& [file, edits] : removed) changed.emplace(file, base::edited(texts_.at(file), edits));
  return changed;
}

}  // namespace onnxar
