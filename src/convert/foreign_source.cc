// Finds the model in a foreign zip or folder, and the data of its tensors.
#include "convert/foreign_source.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "archive/foreign_zip.h"
#include "archive/keys.h"
#include "archive/unpacked_zip.h"
#include "base/annotated.h"
#include "base/checked.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "convert/external_files.h"
#include "convert/file_source.h"
#include "onnx/rewrite.h"
#include "onnx/rope.h"
#include "os/names.h"

namespace onnxar {
namespace {

using base::concat;

bool is_stand_in(const onnx::TensorSite& site) {
  const onnx::TensorView& tensor = site.tensor;
  return tensor.raw_data && !tensor.is_external() && as_text(tensor.raw_data->of(site.model)) == stand_in;
}

/// Returns the model with a link instead of each stand-in, so that later steps see an ordinary model with external
/// data. PyTorch's older exporter wrote a short text instead of a tensor's data, which is in an entry or file with the
/// tensor's name. `size_of` returns the size of that entry or file; nothing if it does not exist. Throws wire.* and
/// onnx.*, with offsets from the model's first byte, and what `size_of` throws.
std::vector<std::byte> link_stand_ins(Bytes model,
                                      const std::function<std::optional<std::uint64_t>(std::string_view)>& size_of,
                                      const LoadOptions& options) {
  const auto link = [&](const onnx::TensorSite& site) {
    if (!is_stand_in(site)) return onnx::TensorEdit::keep();
    const auto size = size_of(site.tensor.name);
    // Ten bytes of real data may be this text by chance.
    if (!size && site.tensor.expected_size() == stand_in.size()) return onnx::TensorEdit::keep();
    // Missing data is an error when the link is resolved. Until then the link has the length that the shape requires.
    const std::uint64_t length = size.value_or(site.tensor.expected_size().value_or(0));
    return onnx::TensorEdit::link_to({std::string(site.tensor.name), 0, length});
  };
  const onnx::Rope rope = onnx::rewrite_tensors(model, link);
  if (rope.size() > options.max_skeleton_size) {
    throw Error(Code::onnx_model_too_large, base::concat("the model without its tensors is ",
                                                         base::over_limit(rope.size(), options.max_skeleton_size)));
  }
  return rope.flat();
}

/// Returns the entry name for a location, normalised as in a file system, because exporters write `./a` and `a//b`.
std::string entry_name(std::string_view location) {
  return os::slashed_text_of(os::path_of(location).lexically_normal());
}

/// Resolves links to entries in the model's folder of the zip file.
class ForeignZipSource final : public ModelSource {
 public:
  /// Reads the zip file. Throws io.*, zip.* and archive.model.missing, and wire.* and onnx.* for a model that
  /// PyTorch wrote.
  ForeignZipSource(const OpenedInput& input, const LoadOptions& options)
      : ModelSource(options, input.path()),
        zip_(std::make_shared<UnpackedZip>(input.file(), input.path(), options.temporary_dir, options.max_expansion)),
        found_(zip_->find_model()) {
    // Kept, so that selecting the model again does not inflate it and link its stand-ins again.
    main_ = graph_of(found_.index);
    set_graph(main_);
    if (found_.dialect == Dialect::pytorch) link_stand_ins();
    add_remark({Severity::note, Code::zip_foreign, {}, read_as(found_.dialect)});
  }

  /// Returns the entries `NAME.onnx` beside the model.
  [[nodiscard]] std::vector<std::string> graphs() const override {
    std::vector<std::string> names;
    const auto entries = zip_->directory().entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (is_left_out(entries[i]) || i == found_.index) continue;
      const std::string_view name = entries[i].name.substr(found_.folder.size());
      if (is_graph_name(name)) names.emplace_back(name);
    }
    return names;
  }

  void select(const std::string& graph) override { set_graph(graph.empty() ? main_ : graph_of(*index_of(graph))); }

  /// Returns the companions, with a remark on each entry that is omitted because its name could be a tensor's key.
  [[nodiscard]] SourceCompanions companions() override {
    SourceCompanions found;
    const auto entries = zip_->directory().entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (is_left_out(entries[i]) || used_.contains(i) || i == found_.index) continue;
      const std::string name(entries[i].name.substr(found_.folder.size()));
      if (is_graph_name(name)) continue;  // loading splits it as a graph
      if (is_key(name)) {
        found.remarks.push_back(
            {Severity::warning,
             Code::archive_entry_unused,
             {name, std::nullopt},
             "this entry holds no tensor, but has the name of one (a C identifier), so it is left out; to "
             "keep it, give it a name with a dot"});
      } else {
        // Read once, from front to back, so it needs no place in the spool.
        found.side_files.push_back({name, UnpackedZip::source(zip_, i, options().threads)});
      }
    }
    return found;
  }

  [[nodiscard]] std::uint64_t input_size() const override { return zip_->file().bytes().size(); }

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override {
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
    // Not marked as whole: the zip's own CRC-32 verifies the bytes, and a checksum would be that of the data file that
    // was zipped.
    return {this->part(*index, part, whole.size())};
  }

  [[nodiscard]] GraphBytes graph_of(std::size_t index) const {
    if (options().verify_data) zip_->verify(index);
    const zip::ForeignEntry& entry = zip_->entry(index);
    GraphBytes graph{zip_->bytes(index), zip_, nullptr, std::string(entry.name), std::nullopt};
    if (!entry.deflated) graph.begin = entry.data_offset;
    return graph;
  }

  /// Finds entries in `__MACOSX/` too (F36): an entry that the model refers to is not omitted.
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view location) const {
    return zip_->directory().find(found_.folder + entry_name(location));
  }

  [[nodiscard]] Payload part(std::size_t index, Bytes part, std::size_t size_of_entry) {
    if (zip_->entry(index).deflated) return inflated(index, part);
    if (options().verify_data && part.size() == size_of_entry) {
      return payload_at(part, zip_, UnpackedZip::source(zip_, index, options().threads));
    }
    // Slices are read independently, so their entry is verified here, before any of them is used.
    if (options().verify_data && verified_.insert(index).second) zip_->verify(index);
    return onnxar::payload_of(ByteSpan::borrow(part, zip_), zip_->file().origin());
  }

  /// Returns a payload whose entry is inflated when it is first read, so that a dry run inflates only the model. Until
  /// then the spool holds zeros, so the payload has no view of it.
  [[nodiscard]] Payload inflated(std::size_t index, Bytes part) const {
    Payload produced{UnpackedZip::inflated_source(zip_, index, part)};
    produced.place = part;
    return produced;
  }

  void link_stand_ins() {
    const auto size_of = [this](std::string_view name) -> std::optional<std::uint64_t> {
      const auto index = index_of(name);
      if (!index) return std::nullopt;
      return zip_->entry(*index).size;
    };
    placed([&] {
      const auto linked =
          std::make_shared<const std::vector<std::byte>>(onnxar::link_stand_ins(model(), size_of, options()));
      main_ = {*linked, linked, nullptr, main_.entry, std::nullopt};
    });
    set_graph(main_);
  }

  std::shared_ptr<UnpackedZip> zip_;  // shared with payloads
  ForeignModel found_;                // the entry of the model
  GraphBytes main_;                   // the model, even while another graph is selected
  std::set<std::size_t> used_;        // entries with payloads
  std::set<std::size_t> verified_;    // entries of slices, each verified once
};

}  // namespace

std::unique_ptr<ModelSource> open_foreign_zip(const OpenedInput& input, const LoadOptions& options) {
  return std::make_unique<ForeignZipSource>(input, options);
}

std::unique_ptr<ModelSource> open_foreign_folder(const std::filesystem::path& model, const LoadOptions& options) {
  const base::MappedFile file = base::MappedFile::open(model);
  ExternalFiles files(model, options.external_data_dir);
  const auto size_of = [&files](std::string_view name) -> std::optional<std::uint64_t> {
    try {
      // The stand-in's text may be real data, so a missing file or an invalid path is not an error here.
      return files.resolve({std::string(name), 0, std::nullopt}, std::nullopt, 0).bytes.size();
    } catch (const Error& error) {
      if (error.code() == Code::onnx_external_missing || error.code() == Code::onnx_external_bad_location) return {};
      throw;
    }
  };
  return base::annotated(model, [&] {
    const auto linked = std::make_shared<const std::vector<std::byte>>(link_stand_ins(file.bytes(), size_of, options));
    auto source = std::make_unique<FileSource>(GraphBytes{*linked, linked, nullptr, {}, std::nullopt}, model, options,
                                               std::move(files));
    source->add_remark({Severity::note, Code::zip_foreign, {}, "the input was read as a folder that PyTorch exported"});
    return source;
  });
}

}  // namespace onnxar
