#include "source/foreign_source.h"

#include <algorithm>
#include <utility>

#include "archive/keys.h"
#include "base/annotate.h"
#include "base/checked.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "onnx/rewrite.h"

namespace onnxar {
namespace {

using base::concat;

bool is_stand_in(const onnx::TensorSite& site) {
  const onnx::TensorView& tensor = site.tensor;
  return tensor.raw_data && !tensor.is_external() && as_text(tensor.raw_data->of(site.model)) == stand_in;
}

/// As a name of an entry: what a file system makes of `./a` or `a//b`.
std::string entry_name(std::string_view location) {
  return std::filesystem::path(location).lexically_normal().string();
}

}  // namespace

std::shared_ptr<ForeignSource> ForeignSource::open_zip(const std::filesystem::path& path, const LoadOptions& options) {
  std::shared_ptr<ForeignSource> source(new ForeignSource(options));
  source->path_ = path;
  source->zip_.emplace(path, options.temporary_dir, options.max_expansion);
  const ForeignModel& model = source->zip_->model();
  if (options.verify_data) source->zip_->verify(model.index);
  source->model_ = source->zip_->bytes(model.index);
  source->selected_ = model.index;
  if (model.dialect == Dialect::pytorch) source->link_stand_ins();
  source->main_ = source->model_;
  return source;
}

std::shared_ptr<ForeignSource> ForeignSource::open_folder(const std::filesystem::path& model,
                                                          const LoadOptions& options) {
  std::shared_ptr<ForeignSource> source(new ForeignSource(options));
  auto file = std::make_shared<const base::MappedFile>(base::MappedFile::open(model));
  source->path_ = model;
  source->model_ = file->bytes();
  source->owner_ = std::move(file);
  source->files_.emplace(model, options.external_data_dir);
  source->link_stand_ins();
  source->main_ = source->model_;
  return source;
}

std::vector<std::string> ForeignSource::graphs() const {
  std::vector<std::string> names;
  if (!zip_) return names;
  const auto entries = zip_->directory().entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_left_out(entries[i]) || i == zip_->model().index) continue;
    const std::string_view name = entries[i].name.substr(zip_->model().folder.size());
    if (is_graph_name(name)) names.emplace_back(name);
  }
  return names;
}

void ForeignSource::select_graph(const std::string& name) {
  const auto index = find(name);
  if (options_.verify_data) zip_->verify(*index);
  select(*index, zip_->bytes(*index));
}

void ForeignSource::select(std::size_t index, Bytes bytes) {
  selected_ = index;
  model_ = bytes;
}

/// The model is small, as all of its large tensors are elsewhere: so it is gathered in memory.
void ForeignSource::link_stand_ins() {
  const auto link = [this](const onnx::TensorSite& site) {
    if (!is_stand_in(site)) return onnx::TensorEdit::keep();
    const auto size = size_of(site.tensor.name);
    // Ten bytes of data may happen to be this text.
    if (!size && site.tensor.expected_size() == stand_in.size()) return onnx::TensorEdit::keep();
    // Where the data is missing, which is said when it is asked for, this is what it would be.
    const std::uint64_t length = size.value_or(site.tensor.expected_size().value_or(0));
    return onnx::TensorEdit::link_to({std::string(site.tensor.name), 0, length});
  };
  try {
    const wire::Rope rope = onnx::rewrite_tensors(model_, link, {options_.max_depth});
    if (rope.size() > options_.max_skeleton_size) {
      throw Error(Code::onnx_model_too_large,
                  concat("the model without its tensors is ", base::human_size(rope.size()), ", over the limit of ",
                         base::human_size(options_.max_skeleton_size)));
    }
    linked_ = rope.flat();
  } catch (const Error& error) {
    if (!error.path().empty()) throw;
    throw base::annotate(error, {.place = place(error.offset()), .path = path_});
  }
  model_ = linked_;
}

std::optional<std::uint64_t> ForeignSource::size_of(std::string_view tensor_name) {
  if (zip_) {
    const auto index = find(tensor_name);
    if (!index) return std::nullopt;
    return zip_->entry(*index).size;
  }
  try {
    return files_->resolve({std::string(tensor_name), 0, std::nullopt}, std::nullopt, 0).size();
  } catch (const Error& error) {
    if (error.code() == Code::onnx_external_missing || error.code() == Code::onnx_external_bad_location) return {};
    throw;
  }
}

std::uint64_t ForeignSource::input_size() const { return zip_ ? zip_->file_size() : model_.size() + files_->size(); }

std::optional<std::size_t> ForeignSource::find(std::string_view location) const {
  return zip_->directory().find(zip_->model().folder + entry_name(location));
}

Place ForeignSource::place(std::optional<std::uint64_t> offset) const {
  const bool rewritten = model_.data() == linked_.data();
  if (!zip_) return {"", rewritten ? std::nullopt : offset};
  const zip::ForeignEntry& entry = zip_->directory().entries()[selected_];
  Place place{std::string(entry.name), std::nullopt};
  if (offset && !rewritten && !entry.deflated) place.offset = entry.data_offset + *offset;
  return place;
}

Payload ForeignSource::resolve(const onnx::TensorView& tensor, const onnx::ExternalSlice& slice) {
  if (zip_) return resolve_in_zip(tensor, slice);
  ByteSpan span = files_->resolve(slice, tensor.expected_size(), tensor.range.begin);
  const Bytes bytes = span.bytes();
  return {std::make_shared<SpanSource>(bytes), std::move(span), std::nullopt};
}

Payload ForeignSource::resolve_in_zip(const onnx::TensorView& tensor, const onnx::ExternalSlice& slice) {
  const Place place{"", tensor.range.begin};
  if (const auto fault = location_fault(slice.location)) {
    throw Error(Code::onnx_external_bad_location, concat("the location ", base::quoted(slice.location), " ", *fault),
                place);
  }
  const auto index = find(slice.location);
  if (!index) onnx::refuse_missing(slice.location, "the zip file", tensor.range.begin);
  const Bytes whole = zip_->place_of(*index);
  const Bytes part = whole.subspan(
      slice.offset, onnx::length_in(slice, tensor.expected_size(), whole.size(), "entry", tensor.range.begin));
  ByteSpan span = ByteSpan::borrow(part, shared_from_this());
  if (zip_->entry(*index).deflated) return {zip_->inflated_source(*index, part), std::move(span), index};
  if (!options_.verify_data) return {std::make_shared<SpanSource>(part), std::move(span), index};
  if (part.size() == whole.size()) return {zip_->source(*index, options_.threads), std::move(span), index};
  if (verified_.insert(*index).second) zip_->verify(*index);
  return {std::make_shared<SpanSource>(part), std::move(span), index};
}

void ForeignSource::describe(LoadedModel& model) {
  base::KeyedSet<std::size_t> used;
  for (const Payload& payload : model.payloads) {
    if (payload.entry) used.insert(*payload.entry);
  }
  const auto note = [&](Severity severity, Code code, const std::string& entry, const std::string& message) {
    model.remarks.push_back({severity, code, {entry, std::nullopt}, message});
  };
  if (!zip_) {
    note(Severity::note, Code::zip_foreign, "", "the input was read as a folder that PyTorch exported");
    return;
  }
  note(Severity::note, Code::zip_foreign, "",
       concat("the input is no archive; it was read as ", to_string(zip_->model().dialect)));
  const auto entries = zip_->directory().entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_left_out(entries[i]) || used.contains(i) || i == zip_->model().index) continue;
    const std::string name(entries[i].name.substr(zip_->model().folder.size()));
    if (is_graph_name(name)) continue;  // loading has split it
    if (is_identifier(name)) {
      note(Severity::warning, Code::archive_entry_unused, name,
           "no tensor is in this entry, and its name could be a tensor's: it is left out; to keep it, give it a name "
           "with a dot");
      continue;
    }
    model.side_files.push_back({name, zip_->source(i, options_.threads)});
  }
}

}  // namespace onnxar
