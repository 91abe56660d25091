// Finds out whether a stream is a terminal, and its width, on Windows.
#include "os/terminal.h"

#include <windows.h>

namespace onnxar::tool::os {
namespace {

HANDLE handle_of(Stream stream) noexcept {
  return ::GetStdHandle(stream == Stream::output ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
}

}  // namespace

// A console that does not take escape sequences, as before Windows 10, would print them, so it counts as a file.
bool is_terminal(Stream stream) noexcept {
  const HANDLE console = handle_of(stream);
  DWORD mode = 0;
  return ::GetConsoleMode(console, &mode) != 0 &&
         ::SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

std::size_t terminal_width(Stream stream) noexcept {
  CONSOLE_SCREEN_BUFFER_INFO info = {};
  if (::GetConsoleScreenBufferInfo(handle_of(stream), &info) == 0) return 0;
  return static_cast<std::size_t>(info.srWindow.Right - info.srWindow.Left) + 1;
}

}  // namespace onnxar::tool::os
