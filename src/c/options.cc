// Checks the options of verbs, and converts them to structs of C++.
#include "c/options.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "c/boundary.h"
#include "c/sized_struct.h"
#include "onnxar/error.h"
#include "os/names.h"

namespace onnxar::c {
namespace {

// As in archive.cc: the shortest struct that a caller of this ABI can have.
constexpr std::size_t first_options = offsetof(onnxar_options, progress_context) + sizeof(void*);
static_assert(sizeof(void*) != 8 || first_options == 144);

template <typename... Verbs>
constexpr std::uint32_t set_of(Verbs... verbs) {
  return (static_cast<std::uint32_t>(verbs) | ...);
}

struct Member {
  std::string_view name;
  std::uint32_t verbs;  ///< that take it
  bool (*is_set)(const onnxar_options&);
};

#define ONNXAR_C_MEMBER(member, ...)                                                                              \
  Member {                                                                                                        \
    #member, set_of(__VA_ARGS__), [](const onnxar_options& options) { return static_cast<bool>(options.member); } \
  }

/// The verbs that take each member, as the comments of onnxar_options name them. A member that a verb would ignore is
/// an error: a caller that sets `dry_run` for a verb without one must not find its files changed.
constexpr std::size_t member_count = 20;
const Member (&members())[member_count] {
  using enum Verb;
  static constexpr Member all[member_count] = {
      ONNXAR_C_MEMBER(overwrite, pack, unpack, repack, recover, link, extract),
      ONNXAR_C_MEMBER(no_sync, pack, unpack, repack, replace, undo, recover, link, extract),
      ONNXAR_C_MEMBER(dry_run, pack, unpack, repack, replace, undo, recover, link, extract),
      ONNXAR_C_MEMBER(checksum_sha1, pack),
      ONNXAR_C_MEMBER(file_per_tensor, unpack),
      ONNXAR_C_MEMBER(append_external, replace),
      ONNXAR_C_MEMBER(foreign_zips, pack, unpack),
      ONNXAR_C_MEMBER(raw, extract),
      ONNXAR_C_MEMBER(data, check),
      ONNXAR_C_MEMBER(strict, check),
      ONNXAR_C_MEMBER(threads, pack, unpack, check, repack),
      ONNXAR_C_MEMBER(threshold, pack, unpack, replace),
      ONNXAR_C_MEMBER(alignment, pack, unpack, repack),
      ONNXAR_C_MEMBER(max_expansion, pack, unpack, repack, extract),
      ONNXAR_C_MEMBER(external_data_dir, pack, unpack, check, replace, extract),
      ONNXAR_C_MEMBER(data_file, unpack),
      ONNXAR_C_MEMBER(add_count, pack, replace),
      ONNXAR_C_MEMBER(remove_count, replace),
      ONNXAR_C_MEMBER(progress, pack, unpack, check, repack, replace, extract),
      ONNXAR_C_MEMBER(graph, pack, unpack, replace, link, extract),
  };
  return all;
}
#undef ONNXAR_C_MEMBER

}  // namespace

VerbOptions::VerbOptions(const onnxar_options* given, Verb verb)
    : given_(known_part(given, first_options)), verb_(verb) {
  for (const Member& member : members()) {
    // Any value except 0 and NULL is set. Zeroed options are therefore the defaults of every verb.
    if (!member.is_set(given_) || (member.verbs & set_of(verb)) != 0) continue;
    throw Error(Code::usage_argument,
                base::concat("the option `", member.name, "` is set, but this verb does not take it"));
  }
  check_argument(given_.add != nullptr || given_.add_count == 0, "options.add");
  check_argument(given_.remove != nullptr || given_.remove_count == 0, "options.remove");
}

LoadOptions VerbOptions::load() const {
  LoadOptions load;
  if (given_.external_data_dir != nullptr) load.external_data_dir = os::path_of(given_.external_data_dir);
  load.threads = thread_count(given_.threads);
  load.foreign_zips = given_.foreign_zips != 0;
  if (given_.max_expansion != 0) load.max_expansion = given_.max_expansion;
  // For `replace`, it names what the model becomes, and not a graph of the file that the model comes from.
  if (verb_ != Verb::replace) load.graph = graph();
  return load;
}

std::vector<AddedFile> VerbOptions::added_files() const {
  std::vector<AddedFile> files;
  for (const onnxar_added_file& file : std::span(given_.add, given_.add_count)) {
    check_argument(file.name != nullptr, "options.add.name");
    check_argument(file.path != nullptr, "options.add.path");
    files.push_back({file.name, os::path_of(file.path)});
  }
  return files;
}

ProgressCallback VerbOptions::progress() const {
  if (given_.progress == nullptr) return {};
  return [tell = given_.progress, context = given_.progress_context](std::uint64_t done, std::uint64_t total) {
    // An exception is the only way out of the middle of a write. It passes the writer, which discards the output.
    if (tell(context, done, total) != 0) throw CallbackFailed("the progress callback cancelled the call");
  };
}

std::string VerbOptions::graph() const { return given_.graph == nullptr ? "" : given_.graph; }

OutputOptions VerbOptions::output() const {
  return {.overwrite = given_.overwrite != 0,
          .sync = given_.no_sync == 0,
          .dry_run = given_.dry_run != 0,
          .threads = thread_count(given_.threads)};
}

SaveOptions VerbOptions::save() const {
  SaveOptions save;
  // 0 means the default of the C++ options, so a caller cannot ask for a threshold of 0.
  if (given_.threshold != 0) save.threshold = given_.threshold;
  if (given_.alignment != 0) save.alignment = given_.alignment;
  // C has no member for the format: the names of data files imply it, and the verb does for archives.
  if (verb_ == Verb::unpack) {
    const bool has_data_files = given_.data_file != nullptr || given_.file_per_tensor != 0;
    save.format = has_data_files ? Format::onnx_external : Format::onnx_inline;
  }
  if (given_.data_file != nullptr) save.data_file = given_.data_file;
  save.file_per_tensor = given_.file_per_tensor != 0;
  if (given_.checksum_sha1 != 0) save.checksum = Checksum::sha1;
  save.add = added_files();
  save.output = output();
  save.progress = progress();
  return save;
}

CheckOptions VerbOptions::check() const {
  CheckOptions check;
  check.data = given_.data != 0;
  check.strict = given_.strict != 0;
  check.load = load();
  check.progress = progress();
  return check;
}

RepackOptions VerbOptions::repack() const {
  RepackOptions repack;
  if (given_.alignment != 0) repack.alignment = given_.alignment;
  repack.output = output();
  if (given_.max_expansion != 0) repack.max_expansion = given_.max_expansion;
  repack.progress = progress();
  return repack;
}

ReplaceOptions VerbOptions::replace() const {
  ReplaceOptions replace;
  if (given_.threshold != 0) replace.threshold = given_.threshold;
  replace.append_external = given_.append_external != 0;
  replace.add = added_files();
  for (const char* name : std::span(given_.remove, given_.remove_count)) {
    check_argument(name != nullptr, "options.remove");
    replace.remove.emplace_back(name);
  }
  replace.output = output();
  replace.progress = progress();
  replace.graph = graph();
  return replace;
}

LinkOptions VerbOptions::link() const {
  LinkOptions link;
  link.output = output();
  link.graph = graph();
  return link;
}

ExtractOptions VerbOptions::extract() const {
  ExtractOptions extract;
  extract.raw = given_.raw != 0;
  extract.output = output();
  extract.load = load();
  extract.progress = progress();
  return extract;
}

}  // namespace onnxar::c
