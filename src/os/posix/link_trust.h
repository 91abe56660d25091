// Whether a symbolic link in a shared folder may be followed.
#pragma once

#include <cstdint>

namespace onnxar::os {

/// As a kernel with fs.protected_symlinks decides it: in a sticky folder that everybody may write to, only links that
/// `user` or the folder's owner made are followed. Another user could have laid one there as a trap.
bool is_trusted_link(std::uint32_t folder_mode, std::uint32_t folder_owner, std::uint32_t link_owner,
                     std::uint32_t user) noexcept;

}  // namespace onnxar::os
