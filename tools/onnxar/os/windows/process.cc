// Reads and writes the standard streams, and handles interrupts, on Windows.
#include "os/process.h"

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <fcntl.h>
#include <io.h>
#include <windows.h>
// Needs windows.h before it.
#include <shellapi.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace onnxar::tool::os {
namespace {

// Set once, before the handlers are installed. The system's handlers take no argument of ours.
void (*fault_handler)(const void* address) = nullptr;
void (*interrupt_handler)() = nullptr;

LONG CALLBACK handle_exception(EXCEPTION_POINTERS* exception) {
  const EXCEPTION_RECORD& record = *exception->ExceptionRecord;
  if (record.ExceptionCode == EXCEPTION_IN_PAGE_ERROR) {
    fault_handler(reinterpret_cast<const void*>(record.ExceptionInformation[1]));
  }
  return EXCEPTION_CONTINUE_SEARCH;
}

/// Runs on its own thread. Returns FALSE: the process then ends as without this handler.
BOOL WINAPI handle_control(DWORD /*event*/) {
  interrupt_handler();
  return FALSE;
}

std::string utf8(const wchar_t* word) {
  const int size = ::WideCharToMultiByte(CP_UTF8, 0, word, -1, nullptr, 0, nullptr, nullptr);
  std::string text(static_cast<std::size_t>(size), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, word, -1, text.data(), size, nullptr, nullptr);
  text.resize(text.size() - 1);  // the NUL was counted
  return text;
}

/// Returns the words as the user typed them; those of `main` lack what the machine's code page lacks.
std::vector<std::string> command_line() {
  int count = 0;
  wchar_t** const words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  std::vector<std::string> line;
  for (int i = 0; i < count; ++i) line.push_back(utf8(words[i]));
  ::LocalFree(words);
  return line;
}

unsigned console_code_page = 0;

void restore_console() { ::SetConsoleOutputCP(console_code_page); }

std::error_code outcome(bool done) noexcept {
  return done ? std::error_code() : std::error_code(static_cast<int>(::GetLastError()), std::system_category());
}

/// Writes at most what the system counts in 32 bits for one call.
constexpr std::size_t largest_piece = 1U << 30U;

}  // namespace

std::span<char* const> start(int /*argc*/, char** /*argv*/) {
  for (const int stream : {0, 1, 2}) ::_setmode(stream, _O_BINARY);
  console_code_page = ::GetConsoleOutputCP();
  if (console_code_page != 0 && ::SetConsoleOutputCP(CP_UTF8) != 0) std::atexit(restore_console);
  static std::vector<std::string> words = command_line();
  static std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return pointers;
}

std::size_t read_input(std::span<std::byte> target, std::error_code& failed) noexcept {
  DWORD got = 0;
  const auto size = static_cast<DWORD>(std::min(target.size(), largest_piece));
  failed = outcome(::ReadFile(::GetStdHandle(STD_INPUT_HANDLE), target.data(), size, &got, nullptr) != 0);
  if (failed.value() == ERROR_BROKEN_PIPE) failed.clear();  // the writer has closed its end
  return failed ? 0 : got;
}

std::size_t write_output(std::span<const std::byte> bytes, std::error_code& failed) noexcept {
  DWORD written = 0;
  const auto size = static_cast<DWORD>(std::min(bytes.size(), largest_piece));
  failed = outcome(::WriteFile(::GetStdHandle(STD_OUTPUT_HANDLE), bytes.data(), size, &written, nullptr) != 0);
  if (failed.value() == ERROR_NOACCESS || failed.value() == ERROR_SWAPERROR) {
    failed = std::make_error_code(std::errc::bad_address);
  }
  return failed ? 0 : written;
}

void write_error(std::string_view text) noexcept {
  // Called in handlers, where streams and allocation are not allowed. A failure has nowhere to be reported.
  DWORD written = 0;
  ::WriteFile(::GetStdHandle(STD_ERROR_HANDLE), text.data(), static_cast<DWORD>(text.size()), &written, nullptr);
}

/// Skips destructors and buffers, which a handler must not run: the fault may have interrupted any of them.
void end_at_once(int exit_code) noexcept {
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(exit_code));
  std::abort();  // not reached
}

void wait_for_the_end() noexcept {
  while (true) ::Sleep(INFINITE);
}

void on_mapping_fault(void (*handler)(const void* address)) noexcept {
  fault_handler = handler;
  ::AddVectoredExceptionHandler(1, handle_exception);
}

void on_interrupt(void (*handler)()) noexcept {
  interrupt_handler = handler;
  ::SetConsoleCtrlHandler(handle_control, TRUE);
}

}  // namespace onnxar::tool::os
