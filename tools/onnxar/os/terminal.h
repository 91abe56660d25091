// Reports what the command needs to know about its terminal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace onnxar::tool::os {

enum class Stream : std::uint8_t { output, error };

/// True if the stream is a terminal. False for pipes and files.
bool is_terminal(Stream stream) noexcept;

/// Returns the number of columns of the stream's terminal; 0 if it is not a terminal, or its width is unknown.
std::size_t terminal_width(Stream stream) noexcept;

}  // namespace onnxar::tool::os
