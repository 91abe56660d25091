// Reads and writes the marker of a link, and opens the archive that it names.
#include "convert/links.h"

#include <limits>
#include <utility>

#include "archive/access.h"
#include "archive/graph_rules.h"
#include "archive/graphs.h"
#include "base/byte_range.h"
#include "base/crc32.h"
#include "base/file_origin.h"
#include "base/text.h"
#include "base/utf8.h"
#include "onnx/fields.h"
#include "onnx/string_entry.h"
#include "os/names.h"
#include "zip/format.h"

namespace onnxar {
namespace {

constexpr std::string_view archive_key = "onnxar.link.archive", offset_key = "onnxar.link.offset",
                           size_key = "onnxar.link.size", model_key = "onnxar.link.model_crc32",
                           directory_key = "onnxar.link.directory_crc32", folder_key = "onnxar.link.folder";

std::uint32_t model_crc32_of(const Archive& archive) { return own_model_entry(archive).crc32; }

std::uint32_t directory_crc32_of(const Archive& archive) {
  return base::crc32(0, ArchiveAccess::directory(archive).headers());
}

/// Reads the metadata entries of a marker, and refuses their faults (K6).
class MarkerEntries {
 public:
  explicit MarkerEntries(std::vector<onnx::MetadataEntry> entries) : entries_(std::move(entries)) {}

  [[nodiscard]] std::string_view text(std::string_view key) const {
    const auto found = find(key);
    if (!found || found->empty()) refuse(base::concat("has no ", base::quoted(key)));
    return *found;
  }

  [[nodiscard]] std::uint64_t number(std::string_view key, std::uint64_t most) const {
    const std::string_view value = text(key);
    const auto number = base::plain_decimal(value);
    if (!number || *number > most) refuse(key, value);
    return *number;
  }

  /// Returns the archive's folder; without the key, the link's own folder.
  [[nodiscard]] std::string folder() const {
    const auto value = find(folder_key);
    // An absolute path could name another machine, to which Windows would log in.
    if (value && (value->empty() || value->find('\0') != std::string_view::npos || os::path_of(*value).has_root_path()))
      refuse(folder_key, *value);
    return std::string(value.value_or(""));
  }

  /// Returns the offset of the archive in the file; 0 without the key.
  [[nodiscard]] std::uint64_t offset() const {
    const auto value = find(offset_key);
    if (!value) return 0;
    const auto number = base::plain_decimal(*value);
    if (!number || *number % zip::alignment_minimum != 0) refuse(offset_key, *value);
    return *number;
  }

 private:
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const {
    std::optional<std::string_view> found;
    for (const onnx::MetadataEntry& each : entries_) {
      if (each.entry.key != key) continue;
      // K6: with two values, readers could disagree on the archive's state that the link means.
      if (found) refuse(base::concat("has ", base::quoted(key), " twice"));
      found = each.entry.value;
    }
    return found;
  }

  [[noreturn]] void refuse(std::string_view key, std::string_view value) const {
    refuse(base::concat("has ", base::quoted(value), " for ", base::quoted(key)));
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Code::onnx_link_bad_marker,  // K6
                base::concat("the model's metadata about the archive that it links to was changed: it ", what),
                {"", entries_.front().whole.begin}, {}, {Hint::link_again});
  }

  std::vector<onnx::MetadataEntry> entries_;
};

std::vector<onnx::MetadataEntry> marker_entries(Bytes model) {
  try {
    return onnx::find_metadata(model, link_key_prefix);
  } catch (const Error&) {
    return {};  // the walk of the whole model reports the damage with its place
  }
}

}  // namespace

LinkMarker LinkMarker::of(const Archive& archive, std::uint64_t offset, std::string name) {
  return {std::move(name), offset, archive.file().size(), model_crc32_of(archive), directory_crc32_of(archive), {}};
}

std::optional<LinkMarker> LinkMarker::read(Bytes model) {
  auto found = marker_entries(model);
  if (found.empty()) return std::nullopt;
  const MarkerEntries entries(std::move(found));
  constexpr std::uint64_t most64 = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t most32 = std::numeric_limits<std::uint32_t>::max();
  return LinkMarker{std::string(entries.text(archive_key)),
                    entries.offset(),
                    entries.number(size_key, most64),
                    static_cast<std::uint32_t>(entries.number(model_key, most32)),
                    static_cast<std::uint32_t>(entries.number(directory_key, most32)),
                    entries.folder()};
}

/// Accepts damaged markers too, because only the names decide if a location means a file (K8).
std::set<std::string> LinkMarker::archives(Bytes model) {
  std::set<std::string> names;
  for (const onnx::MetadataEntry& each : marker_entries(model)) {
    if (each.entry.key == archive_key) names.emplace(each.entry.value);
  }
  return names;
}

std::string LinkMarker::fields() const {
  std::string out;
  const auto add = [&out](std::string_view key, const std::string& value) {
    onnx::append_string_entry(out, onnx::model_field::metadata_props, key, value);
  };
  add(archive_key, archive);
  // Omitted if 0, which readers assume without the key: most links are to whole files.
  if (offset != 0) add(offset_key, std::to_string(offset));
  add(size_key, std::to_string(size));
  add(model_key, std::to_string(model_crc32));
  add(directory_key, std::to_string(directory_crc32));
  if (!folder.empty()) add(folder_key, folder);
  return out;
}

Archive LinkMarker::open(Bytes file, std::shared_ptr<const void> owner, const std::filesystem::path& path,
                         const base::FileOrigin* origin) const {
  // Edits append, so the state is a prefix of the present archive. Its own directory proves it, and its two CRC-32s
  // distinguish it from a different archive of the same size.
  const auto state = base::slice(file, offset, size);
  try {
    if (state) {
      Archive opened = ArchiveAccess::open(
          {.file = ArchiveFile(*state), .owner = std::move(owner), .path = path, .origin = origin}, {});
      if (model_crc32_of(opened) == model_crc32 && directory_crc32_of(opened) == directory_crc32) return opened;
    }
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;  // a prefix that is not an archive is as stale as a different one
  }
  throw Error(Code::onnx_link_stale,  // K5
              base::concat("the archive ", base::quoted(archive),
                           " was rewritten since this link was made, so its weights may have moved or changed (repack, "
                           "undo and overwriting rewrite an archive, replace does not)"),
              {}, {}, {Hint::link_again});
}

void refuse_unlinkable(const std::filesystem::path& file) {
  const std::string name = os::text_of(file.filename());
  const auto refuse_if = [&](bool fault, std::string_view why) {
    if (!fault) return;
    throw Error(
        Code::usage_argument,
        base::concat("ONNX's readers of external data would refuse the archive because its name ", why, "; rename it"),
        {}, file);
  };
  refuse_if(name.starts_with('#'), "begins with `#`, which they take for a name of memory");
  refuse_if(name.find("..") != std::string::npos, "has `..` in it, which they take for a path out of the folder");
  refuse_if(!base::is_utf8(name), "is not UTF-8");
}

template <typename Action>
auto ModelMarker::keeping_errors(const ModelSource& source, const Action& action) {
  if (error_) throw Error(*error_);  // its place was already added, so it is the same for every tensor
  try {
    return action();
  } catch (const Error& error) {
    error_ = source.with_place(error);
    throw Error(*error_);
  }
}

const LinkMarker* ModelMarker::of(const ModelSource& source, std::string_view archive) {
  return keeping_errors(source, [&]() -> const LinkMarker* {
    // Reads the marker once, at the first link: the metadata would otherwise be searched for each tensor.
    if (!is_read_) marker_ = LinkMarker::read(source.model());
    is_read_ = true;
    return marker_ && marker_->archive == archive ? &*marker_ : nullptr;
  });
}

Archive ModelMarker::open(const ModelSource& source, Bytes file, std::shared_ptr<const void> owner,
                          const std::filesystem::path& path, const base::FileOrigin* origin) {
  return keeping_errors(source, [&] { return marker_->open(file, std::move(owner), path, origin); });
}

}  // namespace onnxar
