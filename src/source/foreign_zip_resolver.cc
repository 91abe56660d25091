#include "source/foreign_zip_resolver.h"

#include <utility>

#include "archive/keys.h"
#include "base/checked.h"
#include "os/names.h"
#include "source/external_files.h"
#include "source/stand_ins.h"

namespace onnxar {
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

}  // namespace onnxar
