// SHA-1, for the checksums that ONNX's external data may carry: it finds accidents, no malice.
#pragma once

#include <memory>
#include <string>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// One digest, of bytes that come in pieces. Not synchronised. Cost: 1 to 2 GB/s (OpenSSL's, with the CPU's help).
class Sha1 {
 public:
  Sha1();
  void update(Bytes bytes);
  /// The digest as 40 lower-case hexadecimal digits. Ends the use of this object.
  [[nodiscard]] std::string hex() &&;

 private:
  struct Free {
    void operator()(void* context) const noexcept;
  };
  std::unique_ptr<void, Free> context_;
};

}  // namespace onnxar::base
