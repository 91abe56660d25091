// Whether a symbolic link in a shared folder may be followed.
#pragma once

#include <cstdint>

namespace onnxar::os {

/// Follows the rule of a kernel with fs.protected_symlinks set: in a sticky, world-writable folder, only links that
/// `user` or the folder's owner made are followed. A different user could have placed one there as a trap.
bool is_trusted_link(std::uint32_t folder_mode, std::uint32_t folder_owner, std::uint32_t link_owner,
                     std::uint32_t user) noexcept;

}  // namespace onnxar::os
