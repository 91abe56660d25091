// Loads the system's libcurl, and finds its functions.
#include "remote/libcurl.h"

#include <string>

#include "base/text.h"
#include "onnxar/error.h"
#include "os/process.h"

namespace onnxar::curl {
namespace {

/// Loads it by the first name that works: the usual one, Debian's for GnuTLS, and that of curl's own files for Windows.
Functions loaded() {
  constexpr unsigned oldest = 0x074A00;  // 7.74, of 2020
  std::string why;
  for (const char* const name : {"curl", "curl-gnutls", "curl-x64"}) {
    std::string failure;
    void* const library = os::load_library(name, 4, failure);
    const Functions found(library);
    const VersionInfo* const version =
        library != nullptr && found.version_info != nullptr ? found.version_info(0) : nullptr;
    if (version != nullptr && version->number >= oldest && found.is_complete()) {
      const Result failed = found.global_init(global_default);
      if (failed == Result::ok) return found;
      if (failed == Result::out_of_memory) throw std::bad_alloc();
      failure = base::concat("it does not start: ", found.easy_strerror(failed));
    } else if (version != nullptr) {
      failure = version->number < oldest ? base::concat("its version is ", version->version) : "it lacks functions";
    } else if (library != nullptr) {
      failure = base::concat("lib", name, " is not libcurl");
    }
    if (why.empty() || version != nullptr) why = failure;
  }
  throw Error(Code::remote_no_libcurl,
              base::concat("addresses need libcurl 7.74 or later, which cannot be loaded: ", why), {}, {},
              {Hint::install_libcurl});
}

}  // namespace

Functions::Symbol Functions::find(const char* name) noexcept {
  const Symbol found{library_ == nullptr ? nullptr : os::symbol_of(library_, name)};
  is_complete_ = is_complete_ && found.address != nullptr;
  return found;
}

const Functions& functions() {
  static const Functions once = loaded();
  return once;
}

}  // namespace onnxar::curl
