// The file with a model that ONNX Runtime optimised. Its first entry, `about`, is the text of all that it depends on.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "archive/keys.h"
#include "base/errors.h"
#include "base/folder.h"
#include "base/mapped_file.h"
#include "base/open_file.h"
#include "base/output_target.h"
#include "base/text.h"
#include "convert/links.h"
#include "convert/prepacked.h"
#include "onnx/fields.h"
#include "onnx/wire.h"
#include "onnxar/content.h"
#include "onnxar/link.h"
#include "os/error.h"
#include "os/folder.h"
#include "os/machine.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view about_name = "about", data_name = "data";  // entries
constexpr const char *model_file = "model.onnx", *packed_file = "packed";
constexpr std::string_view first_line = "onnxar stored model 1\n";
constexpr std::uint64_t page = 4096;  // the alignment of entries: ONNX Runtime maps ranges of them

/// What a caller of a session sees, by name. ONNX Runtime adds inputs to some models when it stores them: initializers
/// that it replaced stay inputs, as IR versions before 4 have them.
struct Interface {
  std::vector<std::string> inputs, optional_inputs, outputs;
  bool operator==(const Interface&) const = default;
};

/// The last value of a field, as protobuf reads it.
std::optional<onnx::Field> field_in(Bytes model, onnx::Range message, std::uint32_t number) {
  std::optional<onnx::Field> found;
  onnx::Cursor cursor(model, message);
  for (onnx::Field field; cursor.next(field);) {
    if (field.number == number) found = field;
  }
  return found;
}

std::string text_in(Bytes model, onnx::Range message, std::uint32_t number) {
  const auto field = field_in(model, message, number);
  return field ? std::string(as_text(field->value.of(model))) : std::string();
}

Interface interface_of(Bytes model) {
  constexpr std::uint64_t first_with_optional_inputs = 4;
  const onnx::Range whole{0, model.size()};
  const auto graph = field_in(model, whole, onnx::model_field::graph);
  const auto version = field_in(model, whole, onnx::model_field::ir_version);
  Interface found;
  if (!graph) return found;
  std::set<std::string> initializers;
  onnx::Cursor cursor(model, graph->value);
  for (onnx::Field field; cursor.next(field);) {
    if (field.type != onnx::Type::length_delimited) continue;
    switch (field.number) {
      case onnx::graph_field::initializer:
        initializers.insert(text_in(model, field.value, onnx::tensor_field::name));
        break;
      case onnx::graph_field::sparse_initializer:
        if (const auto values = field_in(model, field.value, onnx::sparse_field::values)) {
          initializers.insert(text_in(model, values->value, onnx::tensor_field::name));
        }
        break;
      case onnx::graph_field::input:
        found.inputs.push_back(text_in(model, field.value, onnx::value_field::name));
        break;
      case onnx::graph_field::output:
        found.outputs.push_back(text_in(model, field.value, onnx::value_field::name));
        break;
      default: break;
    }
  }
  const auto is_optional = [&](const std::string& name) { return initializers.contains(name); };
  const bool has_optional = version && version->number_value >= first_with_optional_inputs;
  if (has_optional) std::ranges::copy_if(found.inputs, std::back_inserter(found.optional_inputs), is_optional);
  std::erase_if(found.inputs, is_optional);
  return found;
}

/// Its length goes before each text, so that no text can pretend to be two.
std::string line(std::string_view name, std::string_view text) {
  return base::concat(name, " ", text.size(), " ", text, "\n");
}

std::string about_of(const StoredModel::Key& key, std::string_view digest) {
  std::string about(first_line);
  about += line("archive", digest) + line("graph", key.graph) + line("runtime", key.runtime);
  about += line("settings", key.settings);
  for (const char* const prefix : {"MLAS_", "ORT_"}) {
    for (const std::string& variable : os::variables(prefix)) about += line("variable", variable);
  }
  return about + line("machine", os::machine());
}

/// At most `most` bytes of the file; none if it cannot be read. Errors: io.* (it cannot be opened).
std::string text_at(const fs::path& path, std::uint64_t offset, std::size_t most) {
  std::string text(most, '\0');
  const os::File file = base::open_file(path, os::Access::read);
  std::error_code failed;
  text.resize(os::read_fully_at(file, std::as_writable_bytes(std::span(text)), offset, failed));
  return text;
}

/// Whether the file has our first line at `offset`, whatever became of the rest. An empty file is as good: nothing is
/// lost with it.
bool may_be_replaced(const fs::path& file, std::uint64_t offset) {
  const auto status = base::status_if_there(file);
  return !status || status->size == 0 || text_at(file, offset, first_line.size()) == first_line;
}

/// Refuses what other users may change. Errors: io.*.
void expect_own(const fs::path& path, os::Sticky sticky) {
  std::error_code failed;
  const bool is_shared = os::others_may_change(path, sticky, failed);
  if (failed) throw base::system_error(failed, "cannot examine", path);
  if (!is_shared) return;
  throw Error(Code::io_permission,
              "belongs to another user, or others can write to it, who could decide what sessions compute: change its "
              "owner, or remove their permission (chmod go-w)",
              {}, path);
}

/// The path, which may be a link, of a file that only this user can replace. Errors: io.*.
fs::path own_place(const fs::path& path) {
  const fs::path file = base::find_target(base::absolute_path(path), base::Existing::replace).path;
  const fs::path folder = base::real_path(base::folder_of(file));
  expect_own(folder, os::Sticky::refuse);
  expect_own(folder.parent_path(), os::Sticky::accept);
  if (base::status_if_there(file)) expect_own(file, os::Sticky::refuse);
  return file;
}

std::error_code keep_others_out(const fs::path& file) {
  std::error_code failed;
  fs::permissions(file, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove, failed);
  return failed;
}

fs::path beside(const fs::path& file, const char* suffix) { return fs::path(file) += suffix; }

/// Opens the file and locks it alone. Its name stays, since another process may be about to lock it.
os::File lock_alone(const base::Folder& folder, const fs::path& path) {
  std::error_code failed;
  os::File file = os::create_new(folder.handle(), path.filename(), failed);
  if (os::reason_of(failed) == os::Reason::exists) {
    file = base::open_file(path, os::Access::read_and_write);
  } else if (failed) {
    throw base::system_error(failed, "cannot make", path);
  }
  if (os::try_lock(file, os::Lock::exclusive, failed) == os::Locking::done) return file;
  throw Error(Code::archive_busy, "another process stores the model now, or the file cannot be locked", {}, path);
}

/// What changes with the file in one run of the system: a write changes its times, and no program sets the time of
/// change.
std::string text_of(const os::FileStatus& status) {
  return base::concat(status.identity.device, " ", status.identity.inode, " ", status.size, " ", status.modified, " ",
                      status.changed, "\n");
}

}  // namespace

void pack_stored(const fs::path& folder, const fs::path& archive, std::string_view about, Bytes original) {
  const base::MappedFile model = base::MappedFile::open(folder / model_file);
  if (interface_of(model.bytes()) != interface_of(original)) {
    throw Error(Code::usage_argument,
                "the model that ONNX Runtime stored has other inputs or outputs than its original", {},
                folder / model_file);
  }
  std::optional<base::MappedFile> data;  // a model without large weights has none
  if (base::status_if_there(folder / data_name)) data = base::MappedFile::open(folder / data_name);
  AlignedData aligned(data_name, data ? data->bytes() : Bytes());
  const onnx::Rope moved = base::annotated([&] { return base::Annotation{.path = folder / model_file}; },
                                           [&] { return aligned.move(model.bytes()); });
  // Not synced: the CRC-32s show what a loss of power did.
  ArchiveWriter writer = ArchiveWriter::create(archive, {.alignment = page, .output = {.sync = false}});
  writer.add(about_name, as_bytes(about));
  if (aligned.size() != 0) writer.add(data_name, aligned);
  writer.finish(moved);
}

struct StoredModel::Parts {
  /// The folder `FILE.storing`, which one process at a time has. Removes from it what ONNX Runtime and `store` write,
  /// and nothing else.
  class Workshop {
   public:
    /// Errors: archive.busy; output.exists (its name is taken); io.*.
    explicit Workshop(const fs::path& file)
        : path_(beside(file, ".storing")),
          name_(os::text_of(path_.filename())),
          above_(base::Folder::open(base::folder_of(file))),
          lock_(lock_alone(*above_, beside(file, ".lock"))) {
      if (!base::Folder::make(*above_, name_) && !fs::is_directory(base::link_status(path_))) {
        throw Error(Code::output_exists, "is in the way of a folder: remove it", {}, path_);
      }
      std::error_code failed;
      fs::permissions(path_, fs::perms::owner_all, failed);
      if (failed) throw base::system_error(failed, "cannot use the folder", path_);
      expect_own(path_, os::Sticky::refuse);  // root may also use folders of other users
      folder_ = base::Folder::open_in(above_, name_);
      clear();  // a process that was killed may have left it
    }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;
    ~Workshop() {
      clear();
      above_->remove_folder(name_);
    }

    [[nodiscard]] const fs::path& path() const noexcept { return path_; }

   private:
    void clear() const noexcept {
      for (const char* const name : {model_file, "data", packed_file}) folder_->remove_file(name);
    }

    fs::path path_;
    std::string name_;
    std::shared_ptr<const base::Folder> above_, folder_;
    os::File lock_;
  };

  Parts(fs::path stored_file, Key of, const os::FileStatus& state)
      : file(std::move(stored_file)), key(std::move(of)), archive(state) {}

  fs::path file;
  Key key;
  os::FileStatus archive;  // the state that the digest is of
  std::string digest;
  std::string about;
  Link link;
  std::optional<os::FileStatus> compared;  // the state of the file whose CRC-32s are known to be right
  std::optional<os::FileStatus> stored;    // the state of the file that the link is to
  std::unique_ptr<Workshop> workshop;      // while it is made

  /// The state of archive and file in this run of the system; empty if the system does not tell its runs apart.
  [[nodiscard]] std::string state(const os::FileStatus& status) const {
    const std::string boot = os::boot();
    return boot.empty() ? "" : base::concat(first_line, boot, text_of(archive), text_of(status));
  }

  /// Takes digest and comparisons over from `FILE.seen`, if archive and file have not changed since.
  bool recall() {
    constexpr std::size_t digest_size = 64;
    const auto status = base::status_if_there(file);
    const fs::path path = beside(file, ".seen");
    if (!status) return false;
    expect_own(path, os::Sticky::refuse);
    const std::string now = state(*status), seen = text_at(path, 0, now.size() + digest_size + 1);
    if (now.empty() || seen.size() != now.size() + digest_size || !seen.starts_with(now)) return false;
    digest = seen.substr(now.size());
    compared = status;
    return true;
  }

  void remember() const {
    const std::string now = state(*stored), text = now + digest;
    const fs::path path = beside(file, ".seen");
    try {
      if (now.empty() || !may_be_replaced(path, 0)) return;
      write_file(path, as_bytes(text), {.overwrite = true, .sync = false});
      static_cast<void>(keep_others_out(path));
    } catch (const Error&) {  // the next start reads the files again
      return;
    }
  }

  /// Takes the stored model, if it is of this key. Errors: zip.*, archive.*, onnx.*, wire.*, io.*.
  bool look() {
    const auto status = base::status_if_there(file);
    if (!status) return false;
    const Archive opened = Archive::open(file);
    const auto found = opened.find(about_name);
    if (!found || as_text(opened.bytes(*found)) != about) return false;
    const bool is_new = compared != status;
    for (const ArchiveEntry& entry : opened.entries()) {
      if (is_new) opened.verify(entry);
    }
    Link there = make_link(file, {}, LinkForm::prepacked);
    if (base::status_if_there(file) != status) return false;  // another process is replacing it
    link = std::move(there);
    stored = status;
    if (is_new && base::status_if_there(key.archive) == archive) remember();
    return true;
  }
};

StoredModel::StoredModel(detail::Owned<Parts> parts) noexcept : parts_(std::move(parts)) {}

StoredModel StoredModel::open(const fs::path& file, const Key& key) {
  // First: if the archive is replaced from now on, this status is no longer its own.
  const auto before = base::status_if_there(key.archive);
  const Archive archive = Archive::open(key.archive);
  StoredModel model(detail::own<Parts>(file, key, before.value_or(os::FileStatus())));
  Parts& parts = *model.parts_;
  parts.key.archive = base::absolute_path(key.archive);
  const auto attempt = [](const auto& action) {
    try {
      return action();
    } catch (const Error&) {  // a new file replaces it, or `prepare` says why not
      return false;
    }
  };
  const bool is_own = attempt([&] {
    parts.file = own_place(file);
    return true;
  });
  if (!is_own || !attempt([&] { return parts.recall(); })) parts.digest = onnxar::digest(archive).hex;
  parts.about = about_of(key, parts.digest);
  if (is_own && attempt([&] { return parts.look(); })) return model;
  parts.link = make_link(key.archive, {.graph = key.graph}, LinkForm::unmarked);
  return model;
}

bool StoredModel::is_stored() const noexcept { return parts_->stored.has_value(); }

const Link& StoredModel::link() const& noexcept { return parts_->link; }

fs::path StoredModel::prepare() {
  Parts& parts = *parts_;
  if (parts.stored) throw Error(Code::usage_argument, "the model is stored already", {}, parts.file);
  parts.workshop.reset();
  parts.file = own_place(parts.file);
  if (base::are_same(parts.file, parts.key.archive) || !may_be_replaced(parts.file, page)) {
    throw Error(Code::output_exists,
                "is the archive or not a stored model, and is not replaced: choose a different name", {}, parts.file);
  }
  refuse_unlinkable(parts.file);
  for (const std::string_view entry : {about_name, data_name}) refuse_own_name(entry, parts.file);
  parts.workshop = std::make_unique<Parts::Workshop>(parts.file);
  return parts.workshop->path() / model_file;
}

void StoredModel::store() {
  Parts& parts = *parts_;
  auto workshop = std::move(parts.workshop);  // a failure ends it, too
  if (!workshop) throw Error(Code::usage_argument, "call prepare() before store()", {}, parts.file);
  verify();  // first: after other errors, the session that wrote the model is as good as the archive
  const fs::path packed = workshop->path() / packed_file;
  pack_stored(workshop->path(), packed, parts.about, Bytes(parts.link.model));
  std::error_code failed = keep_others_out(packed);
  if (!failed) fs::rename(packed, parts.file, failed);
  if (failed) throw base::system_error(failed, "cannot write", parts.file);
  workshop.reset();  // before the file is read: a process that is killed from now on leaves nothing
  if (!parts.look()) throw Error(Code::io_changed, "another process replaced the stored model", {}, parts.file);
}

void StoredModel::verify() const {
  const Parts& parts = *parts_;
  const auto& [file, state] =
      parts.stored ? std::tie(parts.file, *parts.stored) : std::tie(parts.key.archive, parts.archive);
  if (base::status_if_there(file) == state) return;
  throw Error(Code::io_changed, "the file changed while a session of it was made: try again", {}, file);
}

}  // namespace onnxar
