// Addresses of files on servers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "onnxar/remote.h"

namespace onnxar {

/// An HTTP or HTTPS address, and the secrets that may be sent there.
struct Address {
  std::string url;    ///< without name, password and fragment
  std::string site;   ///< scheme, host and port: secrets of one site go to no other
  std::string shown;  ///< for messages: without query, too, which may hold a signature
  std::string name = {};
  std::string password = {};
  bool is_s3 = false;  ///< requests are signed, if there is a key

  [[nodiscard]] bool is_encrypted() const { return url.starts_with("https:"); }
};

/// Throws remote.address.
Address parse_address(std::string_view text, const RemoteOptions& options);

/// Returns the address that a redirect from `from` leads to; `location` may be relative. It has no name and no
/// password, unless it is on the same site; it then keeps those of the site. Throws remote.answer (not HTTP or HTTPS;
/// HTTP after HTTPS).
Address redirected(const Address& from, const std::string& location);

}  // namespace onnxar
