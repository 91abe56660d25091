// Writes and reads the text that describes what a stored model was made from.
#include "runtime/stored_about.h"

#include "base/text.h"
#include "os/machine.h"
#include "os/names.h"

namespace onnxar {
namespace {

/// Returns a line for a text. Its length precedes it, so that no text can look like two lines.
std::string line(std::string_view name, std::string_view text) {
  return base::concat(name, " ", text.size(), " ", text, "\n");
}

struct Line {
  std::string_view name, text;
};

/// Removes the first line from `text` and returns it. Returns nothing, and leaves the text unchanged, if it does not
/// begin with a line.
std::optional<Line> take_line(std::string_view& text) {
  const std::size_t name = text.find(' ');
  const std::size_t size = name == std::string_view::npos ? name : text.find(' ', name + 1);
  if (size == std::string_view::npos) return std::nullopt;
  const auto length = base::plain_decimal(text.substr(name + 1, size - name - 1));
  const std::string_view rest = text.substr(size + 1);
  if (!length || *length >= rest.size() || rest[static_cast<std::size_t>(*length)] != '\n') return std::nullopt;
  const Line found{text.substr(0, name), rest.substr(0, static_cast<std::size_t>(*length))};
  text = rest.substr(found.text.size() + 1);
  return found;
}

}  // namespace

std::string key_text(const StoredModel::Key& key, std::string_view digest) {
  std::string text = line("archive", digest) + line("graph", key.graph) + line("runtime", key.runtime);
  text += line("settings", key.settings);
  for (const char* const prefix : {"MLAS_", "ORT_"}) {
    for (const std::string& variable : os::variables(prefix)) text += line("variable", variable);
  }
  return text + line("machine", os::machine());
}

std::string about_text(std::string_view key_text, const std::filesystem::path& archive) {
  return std::string(key_text) + line("of", os::text_of(archive));
}

std::optional<StoredAbout> StoredAbout::read(std::string_view text) {
  StoredAbout about;
  while (const auto line = take_line(text)) {
    if (line->name == "runtime") about.runtime = line->text;
    if (line->name != "of") continue;
    about.archive = line->text;
    about.rest = text;
    return about;
  }
  return std::nullopt;
}

}  // namespace onnxar
