// Whether this build has sanitizers, for tests of which these would take away the ground.
#pragma once

namespace onnxar::testing {

#if defined(__has_feature)  // Clang; the builds with sanitizers use it
inline constexpr bool has_address_sanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool has_address_sanitizer = false;
#endif

}  // namespace onnxar::testing
