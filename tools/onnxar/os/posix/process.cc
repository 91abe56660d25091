// Reads and writes the standard streams, and handles signals, on POSIX systems.
#include "os/process.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>

namespace onnxar::tool::os {
namespace {

// Set once, before the handlers are installed. Handlers of signals can take no argument.
void (*fault_handler)(const void* address) = nullptr;
void (*interrupt_handler)() = nullptr;

extern "C" void handle_fault(int /*signal*/, siginfo_t* info, void* /*context*/) { fault_handler(info->si_addr); }

extern "C" void handle_interrupt(int signal) {
  // The archive is restored first: raising the signal again ends the process.
  interrupt_handler();
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // the parent process must see that the signal ended this one
}

/// Repeats the call while signals interrupt it.
template <typename Call>
std::size_t uninterrupted(const Call& call, std::error_code& failed) noexcept {
  ssize_t result = call();
  while (result < 0 && errno == EINTR) result = call();
  failed = result < 0 ? std::error_code(errno, std::system_category()) : std::error_code();
  return result < 0 ? 0 : static_cast<std::size_t>(result);
}

}  // namespace

std::span<char* const> start(int argc, char** argv) {
  static std::array<char, 1U << 16U> line;
  std::setvbuf(stderr, line.data(), _IOLBF, line.size());
  std::cerr << std::nounitbuf;
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` then fails like any other
  return {argv, static_cast<std::size_t>(argc)};
}

std::size_t read_input(std::span<std::byte> target, std::error_code& failed) noexcept {
  return uninterrupted([target] { return ::read(STDIN_FILENO, target.data(), target.size()); }, failed);
}

std::size_t write_output(std::span<const std::byte> bytes, std::error_code& failed) noexcept {
  return uninterrupted([bytes] { return ::write(STDOUT_FILENO, bytes.data(), bytes.size()); }, failed);
}

void write_error(std::string_view text) noexcept {
  // Called in signal handlers, where streams and allocation are not allowed. A failure has nowhere to be reported.
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

/// Skips destructors and buffers, which a signal handler must not run: the fault may have interrupted any of them.
void end_at_once(int exit_code) noexcept { ::_exit(exit_code); }

void wait_for_the_end() noexcept {
  while (true) ::pause();
}

void on_mapping_fault(void (*handler)(const void* address)) noexcept {
  fault_handler = handler;
  struct sigaction action{};
  action.sa_sigaction = handle_fault;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

void on_interrupt(void (*handler)()) noexcept {
  interrupt_handler = handler;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2}) {
    // A signal that the parent process ignores, such as SIGHUP under nohup, stays ignored.
    if (std::signal(signal, handle_interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

}  // namespace onnxar::tool::os
