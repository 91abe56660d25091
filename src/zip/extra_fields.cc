#include "zip/extra_fields.h"

#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/format.h"

namespace onnxar::zip {

ExtraFields read_extra_fields(Bytes extra, Padding padding, std::string_view name, std::uint64_t offset) {
  const auto refuse = [&](Code code, const std::string& message) {
    throw Error(code, message, {std::string(name), offset});
  };
  ExtraFields found;
  while (!extra.empty()) {
    if (extra.size() < extra_header_size || extra.size() - extra_header_size < base::load<std::uint16_t>(extra, 2)) {
      refuse(Code::zip_extra_malformed, "an extra field runs past the end of the header");
    }
    const auto id = base::load<std::uint16_t>(extra, 0);
    const auto size = base::load<std::uint16_t>(extra, 2);
    const Bytes payload = extra.subspan(extra_header_size, size);
    extra = extra.subspan(extra_header_size + size);
    if (id != zip64_extra_id && id != padding_extra_id) {
      refuse(Code::zip_extra_unknown,
             base::concat("extra field ", base::hex(id), " is not allowed (only zip64 and padding are)"));
    }
    if (id == padding_extra_id && padding == Padding::forbidden) {
      refuse(Code::zip_extra_unknown, "the padding record belongs in the local header only");
    }
    std::optional<Bytes>& field = id == zip64_extra_id ? found.zip64 : found.padding;
    if (field) refuse(Code::zip_extra_duplicate, "the same extra field stands twice in one header");
    field = payload;
    found.padding_last = id == padding_extra_id && extra.empty();
  }
  return found;
}

}  // namespace onnxar::zip
