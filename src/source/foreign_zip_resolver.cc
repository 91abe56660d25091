#include "source/foreign_zip_resolver.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "archive/keys.h"
#include "base/checked.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/rewrite.h"
#include "os/names.h"
#include "os/search.h"
#include "source/external_files.h"
#include "source/file_resolver.h"
#include "wire/encode.h"

namespace onnxar {
namespace {

/// Searches a stream for a short string, which may span two pieces.
class Search {
 public:
  explicit Search(std::string_view wanted) : wanted_(wanted) {}

  void add(Bytes piece) {
    if (piece.empty()) return;  // an empty piece may have a null address, which memmem does not accept
    const std::string_view text = as_text(piece);
    const std::string border = last_ + std::string(text.substr(0, wanted_.size() - 1));
    found_ = found_ || contains(border) || contains(text);
    const std::string end = last_ + std::string(text.substr(text.size() - std::min(text.size(), wanted_.size() - 1)));
    last_ = end.substr(end.size() - std::min(end.size(), wanted_.size() - 1));
  }
  [[nodiscard]] bool found() const noexcept { return found_; }

 private:
  [[nodiscard]] bool contains(std::string_view text) const { return os::contains(text, wanted_); }

  std::string_view wanted_;
  std::string last_;  // the last bytes that were added, one fewer than `wanted_` has
  bool found_ = false;
};

bool is_stand_in(const onnx::TensorSite& site) {
  const onnx::TensorView& tensor = site.tensor;
  return tensor.raw_data && !tensor.is_external() && as_text(tensor.raw_data->of(site.model)) == stand_in;
}

}  // namespace

// The model may be deflated, so its pieces are searched as they come. Parsing would need the whole model in memory
// before it is known whether the zip is accepted.
bool may_have_stand_ins(const ByteSource& model) {
  std::string field;
  wire::append_bytes_field(field, onnx::tensor_field::raw_data, stand_in);
  Search search(field);
  model.read([&search](Bytes piece) { search.add(piece); });
  return search.found();
}

std::vector<std::byte> link_stand_ins(Bytes model,
                                      const std::function<std::optional<std::uint64_t>(std::string_view)>& size_of,
                                      const LoadOptions& options) {
  const auto link = [&](const onnx::TensorSite& site) {
    if (!is_stand_in(site)) return onnx::TensorEdit::keep();
    const auto size = size_of(site.tensor.name);
    // Ten bytes of real data may happen to be this text.
    if (!size && site.tensor.expected_size() == stand_in.size()) return onnx::TensorEdit::keep();
    // Missing data is an error when the link is resolved. Until then the link has the length that the shape requires.
    const std::uint64_t length = size.value_or(site.tensor.expected_size().value_or(0));
    return onnx::TensorEdit::link_to({std::string(site.tensor.name), 0, length});
  };
  const wire::Rope rope = onnx::rewrite_tensors(model, link, {options.max_depth});
  if (rope.size() > options.max_skeleton_size) {
    throw Error(Code::onnx_model_too_large,
                base::concat("the model without its tensors is ", base::human_size(rope.size()), ", over the limit of ",
                             base::human_size(options.max_skeleton_size)));
  }
  return rope.flat();
}

namespace {

using base::concat;

/// The entry name for a location: normalised as a file system does it, as exporters write `./a` and `a//b`.
std::string entry_name(std::string_view location) {
  return os::slashed_text_of(os::path_of(location).lexically_normal());
}

}  // namespace

ForeignZipResolver::ForeignZipResolver(const std::filesystem::path& path, const LoadOptions& options)
    : Resolver(options, path),
      zip_(std::make_shared<UnpackedZip>(path, options.temporary_dir, options.max_expansion, may_have_stand_ins)),
      selected_(zip_->model().index) {
  if (options.verify_data) zip_->verify(selected_);
  // Kept: `select_model` must not inflate the model and link its stand-ins again.
  main_ = {zip_->bytes(selected_), zip_};
  set_graph(main_);
  if (zip_->model().dialect == Dialect::pytorch) link_stand_ins();
}

void ForeignZipResolver::link_stand_ins() {
  const auto size_of = [this](std::string_view name) -> std::optional<std::uint64_t> {
    const auto index = index_of(name);
    if (!index) return std::nullopt;
    return zip_->entry(*index).size;
  };
  try {
    const auto linked =
        std::make_shared<const std::vector<std::byte>>(onnxar::link_stand_ins(model(), size_of, options()));
    main_ = {*linked, linked};
  } catch (const Error& error) {
    throw with_place(error);
  }
  is_main_linked_ = true;
  set_graph(main_);
}

std::vector<std::string> ForeignZipResolver::graphs() const {
  std::vector<std::string> names;
  const auto entries = zip_->directory().entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_left_out(entries[i]) || i == zip_->model().index) continue;
    const std::string_view name = entries[i].name.substr(zip_->model().folder.size());
    if (is_graph_name(name)) names.emplace_back(name);
  }
  return names;
}

void ForeignZipResolver::select_graph(const std::string& name) {
  const auto index = index_of(name);
  if (options().verify_data) zip_->verify(*index);
  set_graph({zip_->bytes(*index), zip_});
  selected_ = *index;
}

void ForeignZipResolver::select_model() {
  selected_ = zip_->model().index;
  set_graph(main_);
}

/// Finds entries in `__MACOSX/` as well (F36): one that the model refers to is not left out.
std::optional<std::size_t> ForeignZipResolver::index_of(std::string_view location) const {
  return zip_->directory().find(zip_->model().folder + entry_name(location));
}

Place ForeignZipResolver::place(std::optional<std::uint64_t> offset) const {
  const zip::ForeignEntry& entry = zip_->entry(selected_);
  const bool is_rewritten = is_main_linked_ && selected_ == zip_->model().index;
  Place place{std::string(entry.name), std::nullopt};
  if (offset && !is_rewritten && !entry.deflated) place.offset = entry.data_offset + *offset;
  return place;
}

Resolved ForeignZipResolver::find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  const onnx::TensorView& tensor = site.tensor;
  if (const auto fault = location_fault(slice.location)) {
    throw Error(Code::onnx_external_bad_location, concat("the location ", base::quoted(slice.location), " ", *fault),
                {"", tensor.range.begin});
  }
  const auto index = index_of(slice.location);
  if (!index) onnx::refuse_missing(slice.location, "the zip file", tensor.range.begin);
  const Bytes whole = zip_->place_of(*index);
  const Bytes part = whole.subspan(
      base::in_memory(slice.offset),
      base::in_memory(onnx::length_in(slice, tensor.expected_size(), whole.size(), "entry", tensor.range.begin)));
  used_.insert(*index);
  // Not said to be whole: the zip's own CRC-32 verifies the bytes, and a checksum is of the data file that was zipped.
  return {this->part(*index, part, whole.size())};
}

Payload ForeignZipResolver::part(std::size_t index, Bytes part, std::size_t size_of_entry) {
  // An entry is inflated when it is first read, so that a dry run inflates only the model.
  if (zip_->entry(index).deflated) return payload_at(part, zip_, zip_->inflated_source(index, part));
  if (options().verify_data && part.size() == size_of_entry) {
    return payload_at(part, zip_, zip_->source(index, options().threads));
  }
  // Slices are read apart from each other, so their entry is verified here, before any of them is used.
  if (options().verify_data && verified_.insert(index).second) zip_->verify(index);
  return onnxar::payload_of(ByteSpan::borrow(part, zip_), zip_->origin());
}

std::vector<Finding> ForeignZipResolver::remarks() const {
  return {{Severity::note,
           Code::zip_foreign,
           {},
           concat("the input is not an archive; it was read as ", to_string(zip_->model().dialect))}};
}

SourceCompanions ForeignZipResolver::companions() {
  SourceCompanions found;
  const auto entries = zip_->directory().entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_left_out(entries[i]) || used_.contains(i) || i == zip_->model().index) continue;
    const std::string name(entries[i].name.substr(zip_->model().folder.size()));
    if (is_graph_name(name)) continue;  // loading splits it as a further graph
    if (is_identifier(name)) {
      found.remarks.push_back({Severity::warning,
                               Code::archive_entry_unused,
                               {name, std::nullopt},
                               "no tensor is in this entry, and its name could be a tensor's: it is left out; to keep "
                               "it, give it a name with a dot"});
    } else {
      // Read once, from front to back, so it needs no place in the spool.
      found.side_files.push_back({name, zip_->source(i, options().threads)});
    }
  }
  return found;
}

namespace {

GraphBytes mapped(const std::filesystem::path& path) {
  auto file = std::make_shared<const base::MappedFile>(base::MappedFile::open(path));
  const Bytes bytes = file->bytes();
  return {bytes, std::move(file)};
}

}  // namespace

ForeignFolderResolver::ForeignFolderResolver(const std::filesystem::path& model, const LoadOptions& options)
    : Resolver(options, model, mapped(model)), files_(model, options.external_data_dir) {
  try {
    const auto size_of = [this](std::string_view name) { return this->size_of(name); };
    const auto linked = std::make_shared<const std::vector<std::byte>>(link_stand_ins(this->model(), size_of, options));
    set_graph({*linked, linked});
    is_linked_ = true;
  } catch (const Error& error) {
    throw with_place(error);
  }
}

std::optional<std::uint64_t> ForeignFolderResolver::size_of(std::string_view tensor_name) {
  try {
    // The stand-in's text may be real data, so a missing file, or a name that is not a path, is not an error here.
    return files_.resolve({std::string(tensor_name), 0, std::nullopt}, std::nullopt, 0).bytes.size();
  } catch (const Error& error) {
    if (error.code() == Code::onnx_external_missing || error.code() == Code::onnx_external_bad_location) return {};
    throw;
  }
}

Resolved ForeignFolderResolver::find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  // Not said to be whole: PyTorch's exporter writes no checksums, so there is nothing to compare a file with.
  return {resolve_in(files_, site.tensor, slice).payload};
}

std::vector<Finding> ForeignFolderResolver::remarks() const {
  return {{Severity::note, Code::zip_foreign, {}, "the input was read as a folder that PyTorch exported"}};
}

}  // namespace onnxar
