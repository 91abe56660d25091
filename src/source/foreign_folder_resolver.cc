#include "source/foreign_folder_resolver.h"

#include <utility>

#include "base/mapped_file.h"
#include "source/file_resolver.h"
#include "source/stand_ins.h"

namespace onnxar {
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
