// What the command has to know about the terminal that it may write to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace onnxar::tool::os {

enum class Stream : std::uint8_t { output, error };

/// Whether the stream is a terminal. False for pipes and files.
bool is_terminal(Stream stream) noexcept;

/// The number of columns of the stream's terminal; 0 if it is not a terminal, or does not say.
std::size_t terminal_width(Stream stream) noexcept;

}  // namespace onnxar::tool::os
