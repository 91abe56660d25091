// Walks a file over its records, and finds the end records that end a state.
#include "zip/states.h"

#include <utility>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/kept.h"
#include "base/little_endian.h"
#include "onnxar/error.h"
#include "zip/end_records.h"
#include "zip/extra_fields.h"
#include "zip/format.h"
#include "zip/records.h"

namespace onnxar::zip {
namespace {

/// Returns the size that the local header states; nothing if it is in a zip64 field that is missing or malformed.
std::optional<std::uint64_t> size_of_data(const LocalFileHeader& header, Bytes extra) {
  if (header.compressed_size != sentinel32) return header.compressed_size;
  try {
    const ExtraFields fields = read_extra_fields(extra, HeaderKind::local, {{}, 0});
    if (!fields.zip64 || fields.zip64->size() != local_zip64_payload) return std::nullopt;
    return base::load<std::uint64_t>(*fields.zip64, 0);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Returns the end of the state that ends at `position`, or nothing if its end records break a rule.
std::optional<EndOfArchive> end_at(Bytes file, std::uint64_t position) {
  try {
    return read_end(file.first(base::in_memory(position)));
  } catch (const Error&) {
    return std::nullopt;
  }
}

class Walk {
 public:
  explicit Walk(base::Kept<Bytes> file) : file_(file) {}

  std::vector<std::uint64_t> run() {
    // Every pass skips at least one record, so the walk ends.
    while (pass_entry() || pass_directory_header() || pass_end_records()) {
    }
    return std::move(ends_);
  }

 private:
  [[nodiscard]] Bytes rest() const { return base::section(file_, position_); }

  /// Skips `length` bytes if as many are left.
  bool pass(std::optional<std::uint64_t> length) {
    if (!length || *length > rest().size()) return false;
    position_ += *length;
    return true;
  }

  bool pass_entry() {
    const auto header = parse_local_file_header(rest());
    if (!header) return false;
    const std::uint64_t before_extra = local_file_header_size + header->file_name_length;
    const auto extra = base::slice(rest(), before_extra, header->extra_field_length);
    if (!extra) return false;
    const auto size = size_of_data(*header, *extra);
    directory_.reset();  // headers of an unfinished edit do not belong to the next directory
    return size && pass(base::checked_add(*size, before_extra + extra->size()));
  }

  bool pass_directory_header() {
    const auto header = parse_central_file_header(rest());
    if (!header) return false;
    if (!directory_) directory_ = position_;
    return pass(central_file_header_size + header->file_name_length + header->extra_field_length +
                header->file_comment_length);
  }

  bool pass_end_records() {
    if (!directory_) return false;
    // A record that was parsed is in the file as a whole.
    if (parse_zip64_end_record(rest())) position_ += zip64_end_record_size;
    if (parse_zip64_locator(rest())) position_ += zip64_locator_size;
    if (!parse_end_record(rest())) return false;
    position_ += end_record_size;
    if (ends_here()) ends_.push_back(position_);
    directory_.reset();
    return true;
  }

  [[nodiscard]] bool ends_here() const {
    const auto end = end_at(file_, position_);
    return end && end->directory_offset == *directory_;
  }

  Bytes file_;
  std::uint64_t position_ = 0;
  std::optional<std::uint64_t> directory_;  // offset of the first header in the current run of directory headers
  std::vector<std::uint64_t> ends_;
};

}  // namespace

std::vector<std::uint64_t> state_ends(Bytes file) { return Walk(file).run(); }

std::optional<std::uint64_t> last_end_after(Bytes file, std::uint64_t from) {
  for (std::uint64_t end = file.size(); end >= from + end_record_size; --end) {
    if (parse_end_record(base::section(file, end - end_record_size)) && end_at(file, end)) return end;
  }
  return std::nullopt;
}

}  // namespace onnxar::zip
