#include "onnxar/convert.h"

#include "archive/opening.h"
#include "sink/save.h"
#include "skeleton/load.h"
#include "source/open.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

ConvertReport convert_input(const fs::path& input, const fs::path& output, const SaveOptions& save,
                            const LoadOptions& load) {
  LoadOptions options = load;
  // Data that has to be inflated goes to the disk of the output, which needs room for it anyway. A dry run keeps the
  // default folder, since the output's may be read-only.
  if (options.temporary_dir.empty() && !save.output.dry_run)
    options.temporary_dir = Destination::of(output, {}, save.format).folder_above();
  // The lock is taken before the input is read: if the input is the archive that is replaced, an edit between reading
  // and replacing would be lost.
  const os::File lock = save.output.overwrite && !save.output.dry_run ? lock_for_replacing(output) : os::File();
  return save_model(load_model(input, ExternalPolicy::of(save), options), output, save, input);
}

ConvertReport convert_input(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return save_model(load_model(resolver_of(input, nullptr, load), ExternalPolicy::of(save), load), output, save);
}

void expect_archive(const SaveOptions& save, const fs::path& output) {
  if (save.format == Format::archive) return;
  throw Error(Code::usage_argument, "`pack` writes archives; for other formats call `unpack`", {}, output);
}

/// The default of SaveOptions is Format::archive, which only `pack` can mean.
SaveOptions as_plain_model(const SaveOptions& save) {
  SaveOptions plain = save;
  if (plain.format == Format::archive) plain.format = Format::onnx_inline;
  return plain;
}

}  // namespace

ConvertReport pack(const fs::path& input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  expect_archive(save, output);
  return convert_input(input, output, save, load);
}

ConvertReport pack(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  expect_archive(save, output);
  return convert_input(input, output, save, load);
}

ConvertReport unpack(const fs::path& input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return convert_input(input, output, as_plain_model(save), load);
}

ConvertReport unpack(Bytes input, const fs::path& output, const SaveOptions& save, const LoadOptions& load) {
  return convert_input(input, output, as_plain_model(save), load);
}

}  // namespace onnxar
