// The operating system's functions that the command needs: standard streams and signals.
//
// The library has its own layer, src/os, which the command does not use: it includes only public headers.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>

namespace onnxar::tool::os {

/// Prepares the process, and returns the words of the command line in UTF-8, which stay valid. On POSIX, a line of
/// std::cerr becomes one write, so that those of programs that run at the same time do not mix. On Windows, standard
/// streams become binary and the console takes UTF-8.
std::span<char* const> start(int argc, char** argv);

/// Reads available bytes from the standard input. Returns their number: 0 only at the end or after a failure.
std::size_t read_input(std::span<std::byte> target, std::error_code& failed) noexcept;

/// Writes part of `bytes`, at least one of them unless it fails. Fails with errc::bad_address if the bytes are mapped
/// from a file that was shortened: the kernel reports that in write(2) instead of raising SIGBUS.
std::size_t write_output(std::span<const std::byte> bytes, std::error_code& failed) noexcept;

/// Safe to call in signal handlers.
void write_error(std::string_view text) noexcept;
[[noreturn]] void end_at_once(int exit_code) noexcept;

/// Never returns. Safe to call in signal handlers, in which another thread is about to end the process.
[[noreturn]] void wait_for_the_end() noexcept;

/// Calls `handler`, which must not return, with the address of an access to a part of a mapped file that is missing, as
/// another process shortened the file.
void on_mapping_fault(void (*handler)(const void* address)) noexcept;

/// Calls `handler` when the user, a limit or a shutdown ends the process, or the reader of its output is gone. The
/// process then ends as it would without a handler. Signals that the parent process ignores, as nohup does, remain
/// ignored.
void on_interrupt(void (*handler)()) noexcept;

}  // namespace onnxar::tool::os
