// Writes variants into the manifest of a model package, and removes them from it.
#include "convert/package_edit.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "archive/keys.h"
#include "base/json.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "base/text.h"

namespace onnxar {
namespace {

using base::concat;
using base::json_string;
using base::JsonMember;
using base::JsonReader;
using base::JsonValue;

constexpr std::string_view root_component = "model";  // of graphs in no folder
constexpr std::string_view provider_suffix = "ExecutionProvider";

[[noreturn]] void refuse(const std::string& message, const std::string& entry = std::string(manifest_name)) {
  throw Error(Code::usage_argument, message, {entry, std::nullopt});
}

/// Returns the name that ONNX Runtime gives an execution provider.
std::string provider_named(const std::string& name) {
  using Row = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Row, 20> rows = {{{"acl", "ACL"},
                                                {"cann", "CANN"},
                                                {"coreml", "CoreML"},
                                                {"cpu", "CPU"},
                                                {"cuda", "CUDA"},
                                                {"dml", "Dml"},
                                                {"dnnl", "Dnnl"},
                                                {"js", "Js"},
                                                {"migraphx", "MIGraphX"},
                                                {"nnapi", "Nnapi"},
                                                {"nvtensorrtrtx", "NvTensorRTRTX"},
                                                {"openvino", "OpenVINO"},
                                                {"qnn", "QNN"},
                                                {"rocm", "ROCM"},
                                                {"snpe", "SNPE"},
                                                {"tensorrt", "Tensorrt"},
                                                {"vitisai", "VitisAI"},
                                                {"webgpu", "WebGpu"},
                                                {"webnn", "WebNN"},
                                                {"xnnpack", "Xnnpack"}}};
  if (name.size() > provider_suffix.size() && name.ends_with(provider_suffix)) return name;
  const auto* const found = std::ranges::find(rows, base::folded_copy(name), &Row::first);
  if (found != rows.end()) return concat(found->second, provider_suffix);
  std::string known;
  for (const auto& [shorter, longer] : rows) known += concat(known.empty() ? "" : ", ", shorter);
  refuse(concat("no execution provider has the name ", base::quoted(name),
                "; give its whole name, such as CPUExecutionProvider, or one of: ", known));
}

std::string device_named(const std::string& name) {
  constexpr std::array<std::string_view, 4> devices = {"", "cpu", "gpu", "npu"};
  std::string device = base::folded_copy(name);
  if (std::ranges::find(devices, device) != devices.end()) return device;
  refuse(concat("no device has the name ", base::quoted(name), "; the devices are cpu, gpu and npu"));
}

std::string graph_named(const std::string& name, std::span<const std::string> graphs) {
  for (const std::string& file : graph_file_names(name))
    if (std::ranges::find(graphs, file) != graphs.end()) return file;
  std::string known;
  constexpr std::size_t most = 10;
  for (const std::string& graph : graphs.first(std::min(graphs.size(), most)))
    known += concat(known.empty() ? "" : ", ", base::quoted(graph));
  refuse(concat("no graph of the archive has the name ", base::quoted(name), ", so it cannot be a variant; it has ",
                known.empty() ? "none with a name" : known));
}

/// True if `folder` is `outer`, or lies in it.
bool is_in(std::string_view folder, std::string_view outer) {
  return outer.empty() || folder == outer || (folder.starts_with(outer) && folder[outer.size()] == '/');
}

/// Holds the texts of a package while it is edited.
class PackageText {
 public:
  PackageText(base::Kept<const Package::TextOf> text_of, base::Kept<PackageChanges> changes)
      : text_of_(text_of), changes_(changes) {}

  [[nodiscard]] std::optional<std::string> text(const std::string& file) const {
    const auto changed = changes_.files.find(file);
    return changed == changes_.files.end() ? text_of_(file) : changed->second;
  }
  [[nodiscard]] Package package() const {
    return Package::read([this](const std::string& file) { return text(file); });
  }

  void edit(const std::string& file, const base::TextEdits& edits) {
    changes_.files[file] = base::edited(*text(file), edits);
  }
  void replace(const std::string& file, std::size_t begin, std::size_t end, std::string by) {
    edit(file, {{begin, {end, std::move(by)}}});
  }
  void remove(const std::string& file) { changes_.files[file] = std::nullopt; }

  [[nodiscard]] std::vector<JsonMember> members_of(const Package::At& object) const {
    const std::string all = *text(object.file);
    return JsonReader(all, Code::usage_argument, object.value).members();
  }

  /// Sets a member of an object. Adds a new member after the others, in their layout. Passes to `write` the beginning
  /// of a line of the object, or an empty text if the object is on one line.
  template <typename Write>
  void set(const Package::At& object, std::string_view key, const Write& write) {
    const std::vector<JsonMember> members = members_of(object);
    const std::string all = *text(object.file);
    if (const JsonMember* const member = member_named(members, key))
      return replace(object.file, member->value.begin, member->value.end, write(std::string()));
    if (members.empty()) {
      const std::string line = line_of(all, object.value.begin), inner = line.empty() ? line : line + "  ";
      return replace(object.file, object.value.begin, object.value.end,
                     concat("{", inner, json_string(key), ": ", write(inner), line, "}"));
    }
    const JsonMember& last = members.back();
    const std::size_t before = all.find_last_not_of(" \t\r\n", last.begin - 1) + 1;
    const std::string space = all.substr(before, last.begin - before);
    const std::string line = space.find('\n') == std::string::npos ? std::string() : space;
    replace(object.file, last.value.end, last.value.end,
            concat(",", space.empty() ? " " : space, json_string(key), ": ", write(line)));
  }

  void unset(const Package::At& object, std::string_view key) {
    const std::vector<JsonMember> members = members_of(object);
    if (member_named(members, key) == nullptr) return;
    edit(object.file, without_members(members, [&](const JsonMember& member) { return member.key == key; }));
  }

 private:
  /// Returns a line break and the white space at the beginning of the line that has `at`; empty if the text is one
  /// line.
  static std::string line_of(const std::string& text, std::size_t at) {
    const std::size_t begin = text.rfind('\n', at);
    if (begin == std::string::npos && text.find('\n') == std::string::npos) return {};
    const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
    return "\n" + text.substr(first, text.find_first_not_of(" \t", first) - first);
  }

  const Package::TextOf& text_of_;
  PackageChanges& changes_;
};

/// Adds variants, or changes existing ones.
class Adding {
 public:
  Adding(base::Kept<PackageText> text, const GraphVariant& wanted, std::span<const std::string> graphs)
      : text_(text),
        graph_(graph_named(wanted.graph, graphs)),
        ep_(provider_named(wanted.ep)),
        device_(device_named(wanted.device)) {}

  [[nodiscard]] const std::string& graph() const noexcept { return graph_; }

  void run() {
    const Package package = text_.package();
    if (!package.warnings().empty()) {
      const Finding& fault = package.warnings().front();
      throw Error(Code::usage_argument,
                  "variants cannot be written, as the model package has a fault: " + fault.message, fault.place);
    }
    if (!package.is_one()) refuse("the file is not the manifest of a model package, so it cannot get variants");
    bool is_there = false;
    for (const Package::Component& component : package.components()) {
      for (const Package::Variant& variant : component.list) {
        if (variant.graph != graph_ || is_there) continue;
        update(variant.body);
        is_there = true;  // the positions of the others are no longer valid
      }
    }
    if (!is_there) add(package);
  }

 private:
  void update(const Package::At& body) {
    text_.set(body, "ep", [this](const std::string&) { return json_string(ep_); });
    // The first edit moved the end of the object.
    const Package package = text_.package();
    for (const Package::Component& component : package.components()) {
      for (const Package::Variant& variant : component.list) {
        if (variant.body.file != body.file || variant.body.value.begin != body.value.begin) continue;
        if (device_.empty()) return text_.unset(variant.body, "device");
        return text_.set(variant.body, "device", [this](const std::string&) { return json_string(device_); });
      }
    }
  }

  /// Returns the component with a variant in the graph's folder, or else the one named like that folder or like a
  /// folder around it.
  [[nodiscard]] const Package::Component* component_of(const Package& package) const {
    const std::string_view folder = folder_in_package(graph_);
    for (const Package::Component& component : package.components()) {
      const auto is_beside = [&](const Package::Variant& variant) {
        return !variant.graph.empty() && folder_in_package(variant.graph) == folder;
      };
      if (std::ranges::any_of(component.list, is_beside)) return &component;
    }
    const std::string_view name = folder.empty() ? root_component : folder;
    for (const Package::Component& component : package.components())
      if (is_in(name, component.name)) return &component;
    return nullptr;
  }

  /// Returns the graph's path in its component without `.onnx`, and without `/model` at the end: folders of variants
  /// have it.
  [[nodiscard]] std::string variant_name(const std::string& component) const {
    std::string name(stem_of_graph(graph_));
    if (name.starts_with(component + "/")) name.erase(0, component.size() + 1);
    if (name.ends_with("/model")) name.erase(name.rfind('/'));
    return name;
  }

  [[nodiscard]] std::string body(std::string_view model_file) const {
    const std::string device = device_.empty() ? "" : concat(", \"device\": ", json_string(device_));
    return concat(R"({"variant_directory": ".", "ep": )", json_string(ep_), device,
                  R"(, "executor_info": {"ort": {"model_file": )", json_string(model_file), "}}}");
  }

  void add(const Package& package) {
    const Package::Component* const component = component_of(package);
    if (component == nullptr) return add_component();
    const std::string name = variant_name(component->name);
    if (std::ranges::find(component->list, name, &Package::Variant::name) != component->list.end()) {
      refuse(concat("the component ", base::quoted(component->name), " has a variant ", base::quoted(name),
                    " with another graph"));
    }
    if (!is_in(folder_in_package(graph_), component->folder)) {
      refuse(concat("the graph ", base::quoted(graph_), " is not in the folder of its component ",
                    base::quoted(component->name)));
    }
    const std::size_t skipped = component->folder.empty() ? 0 : component->folder.size() + 1;
    text_.set(component->variants, name, [&](const std::string&) { return body(graph_.substr(skipped)); });
  }

  void add_component() {
    const std::string_view folder = folder_in_package(graph_);
    const std::string name(folder.empty() ? root_component : folder);
    const std::string manifest(manifest_name), all = *text_.text(manifest);
    JsonReader json(all, Code::usage_argument);
    const std::vector<JsonMember> members = json.members();
    text_.set({manifest, member_named(members, "components")->value}, name, [&](const std::string& line) {
      const std::string inner = line.empty() ? line : line + "  ", innermost = line.empty() ? line : inner + "  ";
      return concat("{", inner, "\"variants\": {", innermost, json_string(variant_name(name)), ": ", body(graph_),
                    inner, "}", line, "}");
    });
  }

  PackageText& text_;
  std::string graph_, ep_, device_;
};

/// True if ONNX Runtime chooses `first` wherever it could choose `second`, which comes later.
bool ties(const Package::Variant& first, const Package::Variant& second) {
  // For the CPU, all compatibilities are equal.
  const bool is_as_compatible =
      first.compatibility == second.compatibility || first.ep == concat("CPU", provider_suffix);
  return first.ep == second.ep && is_as_compatible &&
         (first.device.empty() || base::folded_copy(first.device) == base::folded_copy(second.device));
}

void warn_of_ties(const Package& package, const base::KeyedSet<std::string>& written, PackageChanges& changes) {
  for (const Package::Component& component : package.components()) {
    for (const Package::Variant& variant : component.list) {
      if (!written.contains(variant.graph)) continue;
      const auto first =
          std::ranges::find_if(component.list, [&](const Package::Variant& each) { return ties(each, variant); });
      if (&*first == &variant) continue;
      changes.warnings.push_back(
          {Severity::warning,
           Code::zip_foreign,
           {std::string(manifest_name), std::nullopt},
           concat("the variant ", base::quoted(variant.name), " of ", base::quoted(component.name),
                  " can only be chosen by name: ", base::quoted(first->name),
                  " comes first and fits wherever this variant fits")});
    }
  }
}

}  // namespace

PackageChanges with_variants(const Package::TextOf& text_of, std::span<const GraphVariant> variants,
                             std::span<const std::string> graphs) {
  PackageChanges changes;
  PackageText text(text_of, changes);
  const std::string manifest(manifest_name);
  if (!variants.empty() && !text.text(manifest)) {
    changes.files[manifest] =
        "{\n  \"schema_version\": \"1.0\",\n  \"layout\": \"portable\",\n  \"components\": {}\n}\n";
  }
  base::KeyedSet<std::string> written;
  for (const GraphVariant& wanted : variants) {
    Adding adding(text, wanted, graphs);
    if (!written.insert(adding.graph()).second)
      refuse(concat("the graph ", base::quoted(adding.graph()), " would become two variants"));
    adding.run();
  }
  if (!variants.empty()) warn_of_ties(text.package(), written, changes);
  return changes;
}

PackageChanges without_variants(const Package::TextOf& text_of, std::span<const std::string> graphs) {
  PackageChanges changes;
  PackageText text(text_of, changes);
  const base::KeyedSet<std::string> removed(graphs.begin(), graphs.end());
  const Package package = text.package();
  const auto is_removed = [&](const Package::Variant& variant) { return removed.contains(variant.graph); };
  base::KeyedSet<std::string> emptied;
  std::map<std::string, base::TextEdits> edits;  // by file
  for (const Package::Component& component : package.components()) {
    base::KeyedSet<std::string> names;
    for (const Package::Variant& variant : component.list)
      if (is_removed(variant)) names.insert(variant.name);
    if (names.empty()) continue;
    if (names.size() == component.list.size()) {
      emptied.insert(component.name);
    } else {
      edits[component.variants.file].merge(without_members(
          text.members_of(component.variants), [&](const JsonMember& member) { return names.contains(member.key); }));
    }
  }
  const std::string manifest(manifest_name);
  if (!emptied.empty() && emptied.size() == package.components().size()) {
    text.remove(manifest);
    return changes;
  }
  if (!emptied.empty()) {
    const std::string all = *text.text(manifest);
    const std::vector<JsonMember> members = JsonReader(all, Code::usage_argument).members();
    edits[manifest].merge(without_members(text.members_of({manifest, member_named(members, "components")->value}),
                                          [&](const JsonMember& member) { return emptied.contains(member.key); }));
  }
  for (const auto& [file, parts] : edits) text.edit(file, parts);
  return changes;
}

}  // namespace onnxar
