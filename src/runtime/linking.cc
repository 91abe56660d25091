// Opens the archive that is linked, and replaces its tensors' bytes by locations in its file.
#include "runtime/linking.h"

#include <cstddef>

#include "archive/graph_rules.h"
#include "archive/keys.h"
#include "archive/opening.h"
#include "archive/tensor_text.h"
#include "base/open_file.h"
#include "base/paths.h"
#include "base/text.h"
#include "convert/duplicates.h"
#include "convert/payload_layout.h"
#include "os/names.h"
#include "runtime/prepacked.h"
#include "zip/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

/// The size from which data is linked. Smaller data stays inline: the fields of a link take about as many bytes, and
/// ONNX Runtime copies small data.
constexpr std::size_t smallest_linked = 128;

/// Opens the file, or the part of it that the range names. Reads all local headers first: links need the offset of
/// every entry's data, but none of the data.
Archive open_archive(const fs::path& path, const LinkOptions& range) {
  const auto open = [&] {
    if (range.offset == 0 && !range.length) return Archive::open(path);
    return open_range(base::open_file(path, os::Access::read), {range.offset, range.length}, {}, path);
  };
  Archive archive = open();
  read_local_headers(archive);
  return archive;
}

}  // namespace

Linking::Linking(const fs::path& archive, const LinkOptions& options, const std::string& graph,
                 std::optional<std::string_view> copy, LinkForm form)
    : path_(base::real_path(archive)),
      begin_(copy ? 0 : options.offset),
      form_(form),
      selected_(graph),
      source_(source_of(open_archive(path_, options), {.graph = graph})),
      expansion_(source_->input_size(), LoadOptions().max_expansion, Hint::none) {
  // Uses the name of the real file: the link must be in its folder, and symbolic links may have other names.
  name_ = copy ? std::string(*copy) : archive_name();
  if (!copy) refuse_unlinkable(path_);
  refuse_own_name(this->archive(), copy ? os::path_of(name_) : path_);
  if (form_ == LinkForm::link) marker_ = LinkMarker::of(this->archive(), begin_, name_);
}

void Linking::select(const std::string& graph, std::string folder) {
  if (graph != std::exchange(selected_, graph)) source_->select(graph);
  if (marker_) marker_->folder = std::move(folder);
  followed_ = {};
  duplicates_ = {};
  remarks_.clear();
  tensors_ = nested_ = 0;
  model_ = source_->placed([&] {
    return onnx::rewrite_tensors(source_->model(), [this](const onnx::TensorSite& site) { return edit(site); },
                                 {link_key_prefix, marker_ ? marker_->fields() : "", model_name_key});
  });
  check_model_size(model_.size(), path_, Hint::pack_threshold);
}

std::string Linking::archive_name() const { return os::text_of(path_.filename()); }

std::vector<std::pair<std::string, std::string>> Linking::graphs() const {
  const std::string model =
      model_name_of(archive().model()).value_or(os::text_of(path_.stem())) + std::string(graph_suffix);
  std::vector<std::pair<std::string, std::string>> graphs = {{"", model}};
  for (const ArchiveEntry& graph : archive().graphs()) {
    if (zip::equal_folded(graph.name, model)) {
      throw Error(Code::usage_argument, "the link of the model would have the name of this graph; link each by itself",
                  {std::string(graph.name), std::nullopt}, path_);
    }
    graphs.emplace_back(graph.name, graph.name);
  }
  return graphs;
}

onnx::TensorEdit Linking::edit(const onnx::TensorSite& site) {
  if (duplicates_.has(site)) remark_duplicate(site);
  if (!site.tensor.is_external()) return onnx::TensorEdit::keep();
  Payload payload = source_->payload_of(site);
  const Bytes bytes = payload.bytes();
  if (bytes.size() < smallest_linked || !followed_.follows(site)) {
    expansion_.add(payload);  // a million attributes may name one entry; each gets a copy
    return onnx::TensorEdit::put_inline(std::move(payload.source));
  }
  ++tensors_;
  if (!site.is_main_initializer()) ++nested_;
  // Entries are stored, so every payload is a range of the archive's mapping.
  const auto offset = static_cast<std::uint64_t>(bytes.data() - archive().file().data());
  onnx::ExternalLink link{name_, begin_ + offset, bytes.size()};
  if (form_ == LinkForm::prepacked) link.more = prepacked_fields(source_->model(), site.tensor, archive(), begin_);
  return onnx::TensorEdit::link_to(link);
}

/// Warns of a name that is defined twice. The link does not change what a runtime does: ONNX Runtime treats data of
/// less than 128 bytes in the model like external data.
void Linking::remark_duplicate(const onnx::TensorSite& site) {
  remarks_.push_back(duplicate_stays(site, source_->place_of(site), !site.tensor.is_external()));
}

}  // namespace onnxar
