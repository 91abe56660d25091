// Reads extra fields, and refuses those that could change the meaning of an entry.
#include "zip/extra_fields.h"

#include <cstddef>

#include "base/little_endian.h"
#include "base/text.h"
#include "zip/format.h"
#include "zip/layout.h"

namespace onnxar::zip {
namespace {

bool is_padding(std::uint16_t id) noexcept { return id == padding_extra_id || id == alignment_extra_id; }

/// Allows only fields that cannot change an entry's meaning. Readers that know other fields could take a different name
/// or kind of file from them.
void check_id(std::uint16_t id, HeaderKind kind, const HeaderContext& refuse) {
  if (id != zip64_extra_id && !is_padding(id)) {  // D11, L5
    refuse(Code::zip_extra_unknown,
           base::concat("extra field ", base::hex(id), " is not allowed (only zip64 and padding are)"));
  }
  if (id == padding_extra_id && kind == HeaderKind::directory) {  // D11
    refuse(Code::zip_extra_unknown,
           base::concat("the padding record ", base::hex(padding_extra_id), " belongs in the local header only"));
  }
}

}  // namespace

ExtraField take_extra_field(Bytes& extra, const HeaderContext& refuse) {
  // D10, L4, F30: the size is compared with the bytes that remain. Adding it to a position could wrap. It is loaded
  // once: mapped bytes may change between the comparison and the use.
  const std::size_t size = extra.size() < extra_header_size ? 0 : base::load<std::uint16_t>(extra, 2);
  if (extra.size() < extra_header_size || extra.size() - extra_header_size < size) {
    refuse(Code::zip_extra_malformed, "an extra field runs past the end of the header");
  }
  const ExtraField field{base::load<std::uint16_t>(extra, 0), extra.subspan(extra_header_size, size)};
  extra = extra.subspan(extra_header_size + size);
  return field;
}

void refuse_second_field(const HeaderContext& refuse) {
  refuse(Code::zip_extra_duplicate, "an extra field appears twice in one header");  // D12, L6, F31
}

ExtraFields read_extra_fields(Bytes extra, HeaderKind kind, const HeaderContext& refuse) {
  ExtraFields found;
  while (!extra.empty()) {
    const auto [id, payload] = take_extra_field(extra, refuse);
    check_id(id, kind, refuse);
    std::optional<Bytes>& field = id == zip64_extra_id ? found.zip64 : found.padding;
    if (field) {  // D12, L6: some readers take the first field, others the last
      if (!is_padding(id)) refuse_second_field(refuse);
      refuse(Code::zip_extra_duplicate, "two records state an alignment in one header");
    }
    field = payload;
    if (is_padding(id)) found.padding_id = id;
  }
  return found;
}

std::optional<std::uint64_t> recorded_alignment(std::uint16_t padding_id, Bytes padding) noexcept {
  const std::uint64_t alignment = base::load<std::uint16_t>(padding, 0);
  const std::uint64_t most = padding_id == alignment_extra_id ? alignment_extra_maximum : alignment_maximum;
  if (!is_valid_alignment(alignment) || alignment > most) return std::nullopt;
  return alignment;
}

}  // namespace onnxar::zip
