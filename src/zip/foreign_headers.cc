#include "zip/foreign_headers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/checked.h"
#include "base/crc32.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/central_header.h"
#include "zip/inflate.h"
#include "zip/layout.h"
#include "zip/names.h"
#include "zip/records.h"
#include "zip/wide_fields.h"

namespace onnxar::zip {
namespace {

using base::concat;

/// Where a header stands, for messages.
class Header {
 public:
  Header(std::string_view name, std::uint64_t offset) : name_(name), offset_(offset) {}
  [[noreturn]] void refuse(Code code, const std::string& message) const {
    throw Error(code, message, {std::string(name_), offset_});
  }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::string_view name_;
  std::uint64_t offset_;
};

/// Of all extra fields, those that say something about names, sizes or alignment.
struct KnownFields {
  std::optional<Bytes> zip64, padding, alignment, unicode_path;
};

void refuse_stray_bytes(Bytes rest, const Header& header) {
  if (std::ranges::count(rest, std::byte{0}) == std::ssize(rest)) return;
  header.refuse(Code::zip_extra_malformed,
                concat(rest.size(), " stray bytes follow the extra fields, too few for a field and not zero"));
}

/// Any fields may be there, and zeros at the end: zipalign pads with them, and writes no id.
KnownFields read_known_fields(Bytes extra, const Header& header) {
  KnownFields found;
  while (extra.size() >= extra_header_size) {
    const auto id = base::load<std::uint16_t>(extra, 0);
    const auto size = base::load<std::uint16_t>(extra, 2);
    if (size > extra.size() - extra_header_size) {
      header.refuse(Code::zip_extra_malformed, "an extra field runs past the end of the header");
    }
    if (id == asi_unix_extra_id || id == libarchive_extra_id) {
      header.refuse(Code::zip_extra_unknown,
                    concat("the extra field ", base::hex(id),
                           " says what kind of file the entry is, and only some readers obey it: make the zip anew"));
    }
    const Bytes payload = extra.subspan(extra_header_size, size);
    extra = extra.subspan(extra_header_size + size);
    std::optional<Bytes>* field = id == zip64_extra_id          ? &found.zip64
                                  : id == padding_extra_id      ? &found.padding
                                  : id == alignment_extra_id    ? &found.alignment
                                  : id == unicode_path_extra_id ? &found.unicode_path
                                                                : nullptr;
    if (field == nullptr) continue;
    if (*field) header.refuse(Code::zip_extra_duplicate, "the same extra field stands twice in one header");
    *field = payload;
  }
  refuse_stray_bytes(extra, header);
  return found;
}

/// Info-ZIP's field gives the name in UTF-8 where the header's is in another encoding: some readers follow it.
void check_unicode_path(const KnownFields& fields, const Header& header) {
  constexpr std::size_t head = 5;  // version, CRC-32 of the header's name
  if (!fields.unicode_path || fields.unicode_path->size() < head) return;
  if (base::load<std::uint32_t>(*fields.unicode_path, 1) != base::crc32(0, as_bytes(header.name()))) return;
  const std::string_view other = as_text(fields.unicode_path->subspan(head));
  if (other == header.name()) return;
  header.refuse(Code::zip_extra_unknown, concat("a Unicode path field gives the entry another name, ",
                                                base::quoted(other), ", to some readers"));
}

void check_flags(std::uint16_t flags, const Header& header) {
  if ((flags & (flag_encrypted | flag_strong_encryption | flag_masked)) != 0) {
    header.refuse(Code::zip_entry_encrypted, "the entry is encrypted; make a zip without a password");
  }
  if ((flags & flag_patch) != 0) header.refuse(Code::zip_entry_flags, "the entry is a patch of another one");
}

void check_version(std::uint16_t version, const Header& header) {
  if (version <= version_zip64) return;
  header.refuse(Code::zip_entry_version,
                concat("version ", version, " is needed to read the entry; versions up to 45 are read"));
}

/// Whatever host the directory names: some readers look at the attributes all the same.
void check_attributes(std::uint32_t attributes, const ForeignEntry& entry, const Header& header) {
  const std::uint32_t type = (attributes >> 16U) & unix_type_mask;
  const bool is_file_or_folder = type == 0 || type == unix_regular_file || (type == unix_folder && entry.folder);
  if (!is_file_or_folder || (attributes & windows_reparse_point) != 0) {
    header.refuse(Code::zip_entry_attributes, "the entry is a link or device; only files and folders are read");
  }
  if ((attributes & dos_volume) != 0) {
    header.refuse(Code::zip_entry_attributes, "the entry is marked as the name of a volume, which some readers skip");
  }
  if ((attributes & dos_directory) != 0 && !entry.folder) {
    header.refuse(
        Code::zip_entry_attributes,
        "the entry has the name of a file and is marked as a folder: some readers see the one, some the other");
  }
}

void check_kind(const CentralFileHeader& central, const ForeignEntry& entry, const Header& header) {
  if (central.method != method_stored && central.method != method_deflated) {
    header.refuse(Code::zip_entry_method,
                  concat("the entry is compressed with method ", central.method, "; stored and deflated are read"));
  }
  if (central.disk_number_start != 0) header.refuse(Code::zip_entry_disk, "the entry is said to lie on another disk");
  check_attributes(central.external_file_attributes, entry, header);
}

void check_name(const ForeignEntry& entry, const Header& header) {
  const std::string_view name = entry.folder ? entry.name.substr(0, entry.name.size() - 1) : entry.name;
  if (const auto fault = unreadable_name_fault(name)) header.refuse(fault->code, std::string(fault->message));
}

void check_sizes(const ForeignEntry& entry, const Header& header) {
  if (entry.folder && entry.size != 0) {
    header.refuse(Code::zip_name_directory, "the entry has the name of a folder, but holds data");
  }
  if (!entry.deflated && entry.stored_size != entry.size) {
    header.refuse(Code::zip_entry_sizes, "the entry is stored, but its two sizes differ");
  }
  if (entry.deflated && !can_inflate_to(entry.stored_size, entry.size)) {
    header.refuse(Code::zip_data_inflate, concat("the entry says that ", entry.stored_size, " bytes inflate to ",
                                                 entry.size, ", which no deflate stream does"));
  }
}

bool is_ascii(std::string_view name) {
  return std::ranges::all_of(name, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

/// What the local header says of the sizes; 0 where it leaves them to a descriptor.
struct LocalSizes {
  std::uint64_t size;
  std::uint64_t stored_size;
};

/// Readers take the values of the field one by one, or by their places in it: both have to find the same ones.
LocalSizes read_local_sizes(const LocalFileHeader& local, const KnownFields& fields, const Header& header) {
  const std::array<std::uint32_t, 2> narrow = {local.uncompressed_size, local.compressed_size};
  const auto sentinels = std::ranges::count(narrow, sentinel32);
  const Bytes field = fields.zip64.value_or(Bytes());
  if (sentinels != 0 && field.empty()) {
    header.refuse(Code::zip_zip64_extra, "the sizes are in a zip64 field that is missing from the local header");
  }
  std::array<std::uint64_t, 2> wide = {narrow[0], narrow[1]};
  for (std::size_t i = 0; i < wide.size() && field.size() >= (i + 1) * 8; ++i) {
    wide.at(i) = base::load<std::uint64_t>(field, i * 8);
    if (narrow.at(i) != sentinel32 && narrow.at(i) != wide.at(i) && sentinels == 0) {
      header.refuse(Code::zip_zip64_extra, "the zip64 field of the local header contradicts its sizes");
    }
  }
  const bool one_by_one = sentinels == 1 && (field.size() < 16 || wide[0] != wide[1]);
  if (one_by_one || (sentinels != 0 && field.size() < 16)) {
    header.refuse(Code::zip_zip64_extra,
                  "the local header sends one of its sizes to the zip64 field, not both: readers differ in which value "
                  "of the field is that size");
  }
  return {wide[0], wide[1]};
}

void check_local_fields(const LocalFileHeader& local, const LocalSizes& sizes, const ForeignEntry& entry,
                        const Header& header) {
  check_flags(local.flags, header);
  check_version(local.version_needed, header);
  // It says nothing of a name that is ASCII; of another, readers take it from the one header or from the other.
  const unsigned free = is_ascii(header.name()) ? unsigned{flag_utf8} : 0U;
  if (((local.flags ^ entry.flags) & ~free) != 0) {
    header.refuse(Code::zip_local_field, concat("the local header says flags ", base::hex(local.flags),
                                                ", the directory ", base::hex(entry.flags)));
  }
  if (local.method != (entry.deflated ? method_deflated : method_stored)) {
    header.refuse(Code::zip_local_field, concat("the local header says method ", local.method, ", the directory ",
                                                entry.deflated ? method_deflated : method_stored));
  }
  const bool streamed = (local.flags & flag_descriptor) != 0;
  const auto agrees = [streamed](std::uint64_t here, std::uint64_t there) {
    return here == there || (streamed && here == 0);
  };
  if (!agrees(sizes.size, entry.size) || !agrees(sizes.stored_size, entry.stored_size)) {
    header.refuse(Code::zip_local_size, concat("the local header says other sizes than the directory's ",
                                               entry.stored_size, " and ", entry.size));
  }
  if (!agrees(local.crc32, entry.crc32)) {
    header.refuse(Code::zip_local_field, concat("the local header says CRC-32 ", base::hex(local.crc32),
                                                ", the directory ", base::hex(entry.crc32)));
  }
}

/// As either record says it; 0 where there is none of ours. Bit 15 of the one is a flag that has nothing to do with it.
std::uint64_t recorded_alignment_of(const KnownFields& fields) {
  std::uint64_t alignment = 0;
  if (fields.padding && fields.padding->size() >= 2) {
    alignment = base::load<std::uint16_t>(*fields.padding, 0);
  } else if (fields.alignment && fields.alignment->size() >= 2) {
    alignment = base::load<std::uint16_t>(*fields.alignment, 0) & ~unsigned{alignment_extra_flag};
  }
  return is_valid_alignment(alignment) ? alignment : 0;
}

/// The length of the descriptor at the front of `behind` that says what the directory says; nothing if there is none.
/// Signature and width are up to the writer.
std::optional<std::uint64_t> descriptor_length(Bytes behind, const ForeignEntry& entry) {
  for (const std::uint64_t head : {std::uint64_t{4}, std::uint64_t{0}}) {
    if (behind.size() < head || (head != 0 && base::load<std::uint32_t>(behind, 0) != descriptor_signature)) continue;
    const Bytes fields = behind.subspan(head);
    if (fields.size() < 12 || base::load<std::uint32_t>(fields, 0) != entry.crc32) continue;
    if (fields.size() >= 20 && base::load<std::uint64_t>(fields, 4) == entry.stored_size &&
        base::load<std::uint64_t>(fields, 12) == entry.size) {
      return head + 20;
    }
    if (base::load<std::uint32_t>(fields, 4) == entry.stored_size &&
        base::load<std::uint32_t>(fields, 8) == entry.size) {
      return head + 12;
    }
  }
  return std::nullopt;
}

}  // namespace

ForeignHeader read_foreign_central(Bytes directory, std::uint64_t offset) {
  const auto central = parse_central_file_header(directory);
  ForeignHeader result;
  result.length = proved_length(central, directory, offset);
  ForeignEntry& entry = result.entry;
  entry.name = as_text(directory.subspan(central_file_header_size, central->file_name_length));
  entry.folder = entry.name.size() > 1 && entry.name.back() == '/';
  entry.central_offset = offset;
  entry.crc32 = central->crc32;
  entry.deflated = central->method == method_deflated;
  entry.flags = central->flags;
  const Header header(entry.name, offset);
  check_name(entry, header);
  check_flags(central->flags, header);
  check_kind(*central, entry, header);
  check_version(central->version_needed, header);
  const KnownFields fields = read_known_fields(
      directory.subspan(central_file_header_size + entry.name.size(), central->extra_field_length), header);
  check_unicode_path(fields, header);
  const WideFields wide = read_wide_fields(*central, fields.zip64, entry.name, offset, Rules::any_zip);
  entry.size = wide.size;
  entry.stored_size = wide.compressed_size;
  entry.header_offset = wide.header_offset;
  check_sizes(entry, header);
  return result;
}

void read_foreign_local(Bytes file, std::uint64_t limit, ForeignEntry& entry) {
  const Header header(entry.name, entry.header_offset);
  if (entry.header_offset >= limit) {
    throw Error(Code::zip_entry_bounds, "the entry is said to begin behind the start of the directory",
                {std::string(entry.name), entry.central_offset});
  }
  const Bytes room = file.subspan(entry.header_offset, limit - entry.header_offset);
  const auto local = parse_local_file_header(room);
  if (!local) header.refuse(Code::zip_local_header, "no local file header where the directory points");
  const std::uint64_t length = local_file_header_size + local->file_name_length + local->extra_field_length;
  if (length > room.size()) header.refuse(Code::zip_local_header, "the local file header runs into the directory");
  const std::string_view name = as_text(room.subspan(local_file_header_size, local->file_name_length));
  if (name != entry.name) {
    header.refuse(Code::zip_local_name, concat("the local header has another name: ", base::quoted(name)));
  }
  const KnownFields fields =
      read_known_fields(room.subspan(local_file_header_size + name.size(), local->extra_field_length), header);
  check_unicode_path(fields, header);
  check_local_fields(*local, read_local_sizes(*local, fields, header), entry, header);
  if (!base::in_range(length, entry.stored_size, room.size())) {
    header.refuse(Code::zip_entry_bounds, concat("the entry's ", entry.stored_size, " bytes run into the directory"));
  }
  entry.data_offset = entry.header_offset + length;
  entry.end = entry.data_offset + entry.stored_size;
  if ((local->flags & flag_descriptor) != 0) {
    const auto descriptor = descriptor_length(file.subspan(entry.end, limit - entry.end), entry);
    if (!descriptor) {
      header.refuse(Code::zip_entry_descriptor,
                    "no data descriptor stands behind the data that says what the directory says");
    }
    entry.end += *descriptor;
  }
  entry.alignment = recorded_alignment_of(fields);
}

}  // namespace onnxar::zip
