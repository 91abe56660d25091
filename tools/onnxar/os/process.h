// What the command needs of the operating system: standard streams and signals.
//
// The library has a seam of its own, src/os; the command sees public headers only.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>

namespace onnxar::tool::os {

/// Reads from the standard input what there is. Returns the number of bytes: 0 only at the end or after a failure.
std::size_t read_input(std::span<std::byte> target, std::error_code& failed) noexcept;

/// Writes a part of `bytes`, not 0 of them unless it fails. errc::bad_address if they are mapped from a file that was
/// shortened.
std::size_t write_output(std::span<const std::byte> bytes, std::error_code& failed) noexcept;

/// For handlers of faults and interrupts: may be called at any moment.
void write_error(std::string_view text) noexcept;
[[noreturn]] void end_at_once(int exit_code) noexcept;

/// Calls `handler`, which must not return, where a mapped file has no byte any more, as another process shortened it.
void on_mapping_fault(void (*handler)()) noexcept;

/// Calls `handler` when the user, or a shutdown, ends the process, which then ends as it would without a handler. A
/// signal that the parent process has set to be ignored (nohup) stays ignored.
void on_interrupt(void (*handler)()) noexcept;

}  // namespace onnxar::tool::os
