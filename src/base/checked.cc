// Refuses sizes that do not fit in memory.
#include "base/checked.h"

#include "base/text.h"
#include "onnxar/error.h"

namespace onnxar::base {

void refuse_address_space(std::uint64_t number, const std::filesystem::path& path) {
  throw Error(Code::io_address_space,
              concat("a size of ", number, " does not fit in the addresses of this program; ",
                     sizeof(void*) < sizeof(std::uint64_t)
                         ? "use a 64-bit one"
                         : "if the size is right, raise the process's limit of addresses (`ulimit -v`)"),
              {}, path);
}

}  // namespace onnxar::base
