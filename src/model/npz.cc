// Finds and verifies the arrays of a `.npz`.
#include "model/npz.h"

#include <algorithm>
#include <utility>

#include "base/annotated.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "convert/numpy_format.h"
#include "model/npy.h"
#include "onnxar/error.h"

namespace onnxar {

NpzFile::NpzFile(std::shared_ptr<UnpackedZip> zip) : zip_(std::move(zip)) {
  const auto entries = zip_->directory().entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (places_.try_emplace(entries[i].name, i).second) continue;
    throw Error(Code::zip_name_duplicate, "two arrays have this name",
                {std::string(entries[i].name), entries[i].central_offset}, zip_->path());
  }
}

NpzFile NpzFile::open(const OpenedInput& input, const std::filesystem::path& folder, std::uint64_t max_expansion) {
  return NpzFile(
      std::make_shared<UnpackedZip>(input.file(), input.path(), folder, max_expansion, zip::Limits{.any_names = true}));
}

bool NpzFile::is_one(const OpenedInput& input) {
  if (!input.is_zip()) return false;
  try {
    const zip::ForeignDirectory directory = zip::ForeignDirectory::read(input.file()->bytes(), {.any_names = true});
    return std::ranges::all_of(directory.entries(),
                               [](const zip::ForeignEntry& entry) { return entry.name.ends_with(npy_suffix); });
  } catch (const Error&) {
    return input.path().extension() == ".npz";  // damaged: the caller opens it as .npz and reports the error
  }
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> names;
  for (const zip::ForeignEntry& entry : zip_->directory().entries()) {
    if (entry.name.ends_with(npy_suffix))
      names.emplace_back(entry.name.substr(0, entry.name.size() - npy_suffix.size()));
  }
  return names;
}

std::optional<std::size_t> NpzFile::find(const std::string& name) const {
  const auto found = places_.find(name + std::string(npy_suffix));
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

Bytes NpzFile::bytes_of(std::size_t index) {
  if (zip_->entry(index).deflated) return zip_->bytes(index);
  zip_->verify(index);
  return zip_->stored(index);  // F35 limits what is inflated, so stored arrays are not counted
}

NpzFile::Array NpzFile::read(const std::string& name) {
  const auto index = find(name);
  if (!index)
    throw Error(Code::usage_no_such_tensor, base::concat("the file has no array ", base::quoted(name)), {},
                zip_->path());
  const auto here = [&] {
    return base::Annotation{.entry = std::string(zip_->entry(*index).name), .path = zip_->path()};
  };
  return base::annotated(here, [&] {
    NpyArray array = parse_npy(bytes_of(*index));
    return Array{std::move(array.descr), std::move(array.dims), ByteSpan::borrow(array.data, zip_)};
  });
}

}  // namespace onnxar
