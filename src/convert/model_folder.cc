#include "convert/model_folder.h"

#include <algorithm>
#include <array>
#include <memory>
#include <system_error>
#include <utility>

#include "archive/keys.h"
#include "base/folder.h"
#include "base/mapped_file.h"
#include "base/open_file.h"
#include "base/text.h"
#include "convert/model_source.h"
#include "onnxar/archive.h"
#include "os/error.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// The model that exporters write alone, and where repositories for Hugging Face have it.
constexpr std::array<std::string_view, 2> usual_models = {"model.onnx", "onnx/model.onnx"};

/// The order of models: the one that a reader expects first, then by name.
auto rank_of(const std::string& name, bool is_only_root) {
  const bool is_root = name.find('/') == std::string::npos;
  const std::size_t usual = name == usual_models[0] ? 0 : is_root && is_only_root ? 1 : name == usual_models[1] ? 2 : 3;
  return std::pair(usual, name);
}

/// Opens a file of the folder by a path that does not leave it. `blobs` is the folder that a model's own file is in.
std::shared_ptr<const base::MappedFile> map_beneath(const fs::path& folder, const fs::path& blobs,
                                                    const std::string& name) {
  std::error_code failed;
  const fs::path path = folder / os::path_of(name);
  const os::File file = base::open_beneath(folder, blobs, os::path_of(name), failed);
  if (!failed) return std::make_shared<const base::MappedFile>(base::MappedFile::map(file, path));
  const os::Reason reason = os::reason_of(failed);
  if (reason == os::Reason::outside || reason == os::Reason::too_many_links) {
    throw Error(Code::usage_argument, "leads out of the folder by a link; put a copy in its place, or remove it", {},
                path);
  }
  throw base::system_error(failed, "cannot open", path);
}

bool is_hidden(const fs::path& path) { return os::text_of(path.filename()).starts_with('.'); }

}  // namespace

bool ModelFolder::is_one(const fs::path& path) {
  return base::is_folder(path) && !base::status_if_there(path / model_entry_name);
}

ModelFolder ModelFolder::read(const fs::path& path) {
  ModelFolder folder(base::real_path(path));
  std::error_code failed;
  fs::recursive_directory_iterator each(folder.path_, failed);
  for (; !failed && each != fs::recursive_directory_iterator(); each.increment(failed)) {
    const fs::path relative = each->path().lexically_relative(folder.path_);
    const std::string name = os::slashed_text_of(relative);
    if (is_hidden(relative)) {
      each.disable_recursion_pending();
      folder.hidden_.push_back(name);
    } else if (is_graph_name(name)) {
      folder.models_.push_back(name);
    } else if (!each->is_directory(failed) || each->is_symlink(failed)) {
      folder.others_.push_back(name);
    }
  }
  if (failed) throw base::system_error(failed, "cannot list the folder", path);
  if (folder.models_.empty()) {
    throw Error(Code::io_not_a_file, "is a folder; name a file, or a folder with .onnx files in it", {}, path);
  }
  std::ranges::sort(folder.others_);
  std::ranges::sort(folder.hidden_);
  const bool is_only_root = std::ranges::count(folder.models_, std::string::npos,
                                               [](const std::string& name) { return name.find('/'); }) == 1;
  std::ranges::sort(folder.models_, {}, [&](const std::string& name) { return rank_of(name, is_only_root); });
  return folder;
}

fs::path ModelFolder::path_of(const std::string& name) const { return path_ / os::path_of(name); }

std::vector<SideFile> ModelFolder::side_files(const base::KeyedSet<std::string>& data, const fs::path& output) const {
  const fs::path blobs = base::real_path(path_of(models_.front())).parent_path();
  std::vector<SideFile> files;
  for (const std::string& name : others_) {
    const fs::path path = path_ / os::path_of(name);
    if (data.contains(os::slashed_text_of(path)) || base::are_same(path, output)) continue;
    const auto file = map_beneath(path_, blobs, name);
    files.push_back({name, payload_of(ByteSpan::borrow(file->bytes(), file), file->origin()).source});
  }
  return files;
}

Finding ModelFolder::remark() const {
  std::string message = base::concat("the input was read as a folder of ", models_.size(),
                                     models_.size() == 1 ? " model and its files" : " models and their files");
  if (models_.size() > 1) {
    message +=
        base::concat("; ", base::quoted(models_.front()), " is the first model (list the files to choose their order)");
  }
  if (!hidden_.empty()) {
    message += base::concat("; left out: ", hidden_.size(), " with a name that begins with a dot, such as ",
                            base::quoted(hidden_.front()));
  }
  return {Severity::note, Code::zip_foreign, {}, std::move(message)};
}

std::optional<Finding> remark_on_places(std::span<const SideFile> files) {
  constexpr std::string_view config = "genai_config.json", list = "shared_initializers";
  constexpr std::uint64_t most = 1U << 20U;  // bytes; such files have some kilobytes
  const auto file = std::ranges::find(files, config, &SideFile::name);
  if (file == files.end() || file->source->size() > most) return std::nullopt;
  const ByteSpan text = gathered(*file->source);
  if (std::ranges::search(text.bytes(), as_bytes(list)).empty()) return std::nullopt;
  std::string message = base::concat(config, " lists weights by their places in data files (", list,
                                     "), and the archive has them in others; write those of a link into the list, or "
                                     "remove it");
  return Finding{Severity::warning, Code::zip_foreign, {std::string(config), std::nullopt}, std::move(message)};
}

}  // namespace onnxar
