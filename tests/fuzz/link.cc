// Links to an archive, its own and a hostile one. The archive's own link has the tensors of the archive, each with the
// same bytes, and is a link of this state. No link makes a reader read beyond what the archive and the link hold.
//
// Input: the archive; the bytes of a model beside it; 2 bytes: the length of these.
#include "onnxar/link.h"

#include "archive/file_kind.h"
#include "convert/load.h"
#include "fuzz/models.h"
#include "fuzz/reader.h"
#include "fuzz/scratch.h"
#include "onnxar/archive.h"

namespace onnxar::fuzz::link_target {
namespace {

namespace fs = std::filesystem;

/// Without those of tensors that have no type, and without empty ones of an unknown type: `payload` refuses both if
/// they are in the message, where a link puts them.
Payloads typed_payloads_of(const Model& model) {
  Payloads all = payloads_of(model);
  for_each_tensor(model.proto(), [&](const schema::TensorProto&, const TensorInfo& info) {
    const auto found = all.find(info.site);
    if (found == all.end()) return;
    const bool is_unknown = bits_per_element(info.type) == 0 && found->second.empty();
    if (info.type == DataType::undefined || is_unknown) all.erase(found);
  });
  return all;
}

/// Work whose misuse is a name that the archive chose: an entry may have the file's name.
template <typename Work>
auto accepted_by_name(const Work& work) -> std::optional<std::invoke_result_t<Work>> {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != Code::usage_own_name && kind(error.code()) != Kind::format) throw;
    return std::nullopt;
  }
}

void check_own_link(const fs::path& archive, const Link& link) {
  const LinkOptions options = {.output = {.overwrite = true, .sync = false}};
  const fs::path path = scratch() / "link.onnx";
  const LinkReport report =
      must("a link that was made can be written", [&] { return onnxar::link(archive, path, options); });
  require(get("link.onnx") == link.model && report.tensors == link.tensors, "a link is written as it is made");
  const bool uses_archive = link.tensors != 0;  // else all data is inline
  const bool is_link = must("a new link is good", [&] { return verify_link(path); });
  const bool in_memory = must("so it is in memory", [&] { return verify_link(link.model, link.folder); });
  require(is_link == uses_archive && in_memory == uses_archive, "what was written is a link if it uses the archive");
  const auto direct = accepted([&] { return typed_payloads_of(Model::load(archive)); });
  const auto linked = accepted([&] { return typed_payloads_of(Model::load(path)); });
  require(!direct || linked, "the link of an archive that loads can be loaded");
  require(!direct || *linked == *direct, "all tensors have the same bytes");
}

void check_runtime_model(Bytes file) {
  const Archive archive = Archive::open(file, nullptr);
  const auto made = accepted([&] { return make_runtime_model(archive); });
  if (!made) return;
  for (const RuntimeTensor& tensor : made->tensors) {
    require(lies_in(tensor.bytes, file), "a runtime's tensor lies in the archive");
    require(!tensor.info.name.empty(), "and has a name to be given by");
  }
}

void read_hostile(Bytes model) {
  const fs::path path = put("hostile.onnx", model);
  const bool is_link = accepted([&] { return verify_link(path); }).value_or(false);
  const bool in_memory = accepted([&] { return verify_link(model, scratch()); }).value_or(false);
  require(is_link == in_memory, "a link is judged alike in a file and in memory");
  if (looks_like_text(model)) return require(!is_link, "a model as text is no link");
  const bool good = passed(check(path));
  // Protobuf also refuses damage in messages that cannot hold a tensor, at which `check` does not look.
  const auto prove = [&] { return load_model(path, ExternalPolicy::of(SaveOptions()), {}); };
  if (good) must("a model that passes loads", prove);
  accepted([&] { return payloads_of(Model::load(path)); });
}

}  // namespace

void run(Bytes input) {
  const auto both = two_of(input);
  if (!both || !accepted([&] { return Archive::open(both->first, nullptr); })) return;
  const fs::path archive = put("m.onnxar", both->first);
  if (const auto made = accepted_by_name([&] { return make_link(archive); })) check_own_link(archive, *made);
  check_runtime_model(both->first);
  if (!both->second.empty() && !looks_like_zip(both->second)) read_hostile(both->second);
}

}  // namespace onnxar::fuzz::link_target
