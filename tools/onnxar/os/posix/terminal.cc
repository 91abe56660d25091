// Finds out whether a stream is a terminal, and its width, on POSIX systems.
#include "os/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace onnxar::tool::os {
namespace {

int descriptor_of(Stream stream) noexcept { return stream == Stream::output ? STDOUT_FILENO : STDERR_FILENO; }

}  // namespace

bool is_terminal(Stream stream) noexcept { return ::isatty(descriptor_of(stream)) == 1; }

std::size_t terminal_width(Stream stream) noexcept {
  struct winsize size = {};
  return ::ioctl(descriptor_of(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace onnxar::tool::os
