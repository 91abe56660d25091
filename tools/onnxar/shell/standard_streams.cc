// Reads the standard input as a whole, and writes the standard output without a buffer.
#include "shell/standard_streams.h"

#include <cstddef>
#include <span>
#include <system_error>
#include <vector>

#include "onnxar/error.h"
#include "os/process.h"
#include "shell/shortened.h"

namespace onnxar::tool {

namespace {

std::vector<std::byte> standard_input() {
  constexpr std::size_t step = 1U << 20U;
  std::vector<std::byte> bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + step);
    std::error_code failed;
    const std::size_t got = os::read_input(std::span(bytes).subspan(before), failed);
    bytes.resize(before + got);
    if (failed) throw Error(Code::io_failed, "cannot read the standard input: " + failed.message());
    if (got == 0) return bytes;
  }
}

}  // namespace

ConvertReport convert_input(const std::filesystem::path& input, const std::filesystem::path& output,
                            const SaveOptions& save, LoadOptions load) {
  const bool packing = save.format == Format::archive;
  if (input != "-")
    return packing ? onnxar::pack(input, output, save, load) : onnxar::unpack(input, output, save, load);
  // A pipe cannot be mapped and its size is unknown, so the whole model is read into memory.
  const std::vector<std::byte> bytes = standard_input();
  if (load.external_data_dir.empty()) load.external_data_dir = ".";
  return packing ? onnxar::pack(bytes, output, save, load) : onnxar::unpack(bytes, output, save, load);
}

void write_to_stdout(Bytes bytes) {
  while (!bytes.empty()) {
    std::error_code failed;
    const std::size_t written = os::write_output(bytes, failed);
    // The kernel reads the mapping for `write`. Where the file lost its end, that fails with EFAULT, without SIGBUS.
    if (failed == std::errc::bad_address) throw shortened(bytes);
    if (failed) throw Error(Code::io_failed, "cannot write to the standard output: " + failed.message());
    bytes = bytes.subspan(written);
  }
}

}  // namespace onnxar::tool
