#include "archive/foreign_faults.h"

namespace onnxar {

bool is_portable_name_fault(Code code) noexcept {
  return code == Code::zip_name_character || code == Code::zip_name_part_too_long || code == Code::zip_name_part_end ||
         code == Code::zip_name_device;
}

bool is_foreign_fault(Code code) noexcept {
  if (is_portable_name_fault(code)) return true;
  switch (code) {
    case Code::zip_end_comment:
    case Code::zip_entry_descriptor:
    case Code::zip_entry_method:
    case Code::zip_entry_sizes:
    case Code::zip_entry_flags:
    case Code::zip_entry_comment:
    case Code::zip_entry_attributes:
    case Code::zip_entry_first_offset:
    case Code::zip_entry_order:
    case Code::zip_extra_malformed:
    case Code::zip_extra_unknown:
    case Code::zip_extra_alignment:
    case Code::zip_name_directory:
    case Code::zip_padding_alignment:
    case Code::archive_model_not_last: return true;
    default: return false;
  }
}

bool may_be_foreign_zip(Code code) noexcept {
  if (code == Code::zip_data_crc) return false;  // the data is damaged, but its form as a zip is right
  return id(code).starts_with("zip.") || code == Code::archive_model_missing || code == Code::archive_model_not_last;
}

}  // namespace onnxar
