// The zip format's part of mutations.h. First a zip is taken apart at the signatures of its records, and changed; then
// the records are put together, and the Mender repairs what depends on them.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32.h"
#include "fuzz/fuzz.h"
#include "fuzz/mutations.h"
#include "support/zip_builder.h"

namespace onnxar::fuzz {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): put_u16 and its kin

constexpr std::size_t local_size = 30, central_size = 46, end_size = 22, zip64_end_size = 56, locator_size = 20;
constexpr std::size_t common_size = 22;  // from version needed to the sizes: the same in both headers

/// As find_signature of zip_builder.h, which is slow and short.
std::optional<std::size_t> find_fast(const Blob& bytes, std::uint32_t value, std::size_t from = 0) {
  const std::array<std::byte, 4> wanted = std::bit_cast<std::array<std::byte, 4>>(value);
  const std::size_t found = as_text(bytes).find(as_text(wanted), from);
  return found == std::string_view::npos ? std::nullopt : std::optional(found);
}

Blob slice(const Blob& bytes, std::size_t begin, std::size_t end) {
  const Bytes part = Bytes(bytes).subspan(begin, end - begin);
  return {part.begin(), part.end()};
}

class Mender {
 public:
  Mender(Blob bytes, Random& random) : in_(std::move(bytes)), random_(random) {}

  Blob mend() {
    std::size_t from = find_fast(in_, signature::local).value_or(in_.size());
    out_ = slice(in_, 0, from);
    while (from < in_.size()) {
      const std::size_t next = find_fast(in_, signature::local, from + 1).value_or(in_.size());
      add_local(from, next);
      from = next;
    }
    for (std::size_t at = 0; at + 4 <= out_.size(); ++at) {
      if (out_[at] == std::byte{'P'} && out_[at + 1] == std::byte{'K'}) visit(at);
    }
    return std::move(out_);
  }

 private:
  /// Whether to repair a value: almost always, so that single faults remain.
  bool mostly() { return random_() % 16 != 0; }

  void append(std::size_t begin, std::size_t end) { insert(out_, out_.size(), Bytes(in_).subspan(begin, end - begin)); }

  /// Writes the local header at `from` with padding for its new place, and with size and CRC-32 of its data, which ends
  /// at a directory or at `next`.
  void add_local(std::size_t from, std::size_t next) {
    if (next - from < local_size) return append(from, next);
    const std::size_t name = u16_at(in_, from + 26), extra = u16_at(in_, from + 28);
    const std::size_t name_end = from + local_size + name, data = name_end + extra;
    if (data > next) return append(from, next);
    const std::size_t header = out_.size();
    append(from, name_end);
    if (mostly()) {
      add_padding(header, name_end, data);
    } else {
      append(name_end, data);
    }
    const std::size_t data_end = std::min(find_fast(in_, signature::central, data).value_or(next), next);
    if (mostly() && u32_at(in_, from + 18) != 0xffffffff) {
      put_u32(out_, header + 14, base::crc32(0, std::span(in_).subspan(data, data_end - data)));
      put_u32(out_, header + 18, static_cast<std::uint32_t>(data_end - data));
      put_u32(out_, header + 22, static_cast<std::uint32_t>(data_end - data));
    }
    append(data, next);
  }

  void add_padding(std::size_t header, std::size_t begin, std::size_t end) {
    const std::size_t old_size = end - begin;
    std::size_t alignment = 64;
    std::uint16_t id = 0xd935;
    if (old_size >= 6 && (u16_at(in_, begin) == 0xd935 || u16_at(in_, begin) == 0xa11e)) {
      id = u16_at(in_, begin);
      alignment = std::max<std::size_t>(u16_at(in_, begin + 4), 1);
    }
    if (old_size >= 20 && u16_at(in_, begin) == 1) append(begin, begin + 20);       // zip64
    if (out_.size() % alignment == 0 && mostly()) return put_extra_length(header);  // some writers pad without a record
    const std::size_t zeros = (alignment - (out_.size() + 6) % alignment) % alignment;
    const std::size_t at = out_.size();
    out_.resize(at + 6 + zeros);
    put_u16(out_, at, id);
    put_u16(out_, at + 2, static_cast<std::uint16_t>(2 + zeros));
    put_u16(out_, at + 4, static_cast<std::uint16_t>(alignment));
    put_extra_length(header);
  }

  void put_extra_length(std::size_t header) {
    put_u16(out_, header + 28,
            static_cast<std::uint16_t>(out_.size() - header - local_size - u16_at(out_, header + 26)));
  }

  [[nodiscard]] bool room(std::size_t at, std::size_t size) const { return size <= out_.size() - at; }
  [[nodiscard]] std::string name_at(std::size_t at, std::size_t size) const {
    return std::string(as_text(Bytes(out_).subspan(at, std::min(size, out_.size() - at))));
  }

  void visit(std::size_t at) {
    const std::uint32_t found = u32_at(out_, at);
    if (found == signature::local && room(at, local_size)) {
      locals_[name_at(at + local_size, u16_at(out_, at + 26))] = at;
    } else if (found == signature::central && room(at, central_size)) {
      mend_central(at);
    } else if (found == signature::zip64_end && room(at, zip64_end_size)) {
      zip64_end_ = at;
      directory_end_ = at;
      if (mostly()) mend_zip64_end(at);
    } else if (found == signature::zip64_locator && room(at, locator_size)) {
      if (mostly()) put_u64(out_, at + 8, zip64_end_);
    } else if (found == signature::end && room(at, end_size)) {
      if (directory_end_ <= directory_) directory_end_ = at;
      if (mostly()) mend_end(at);
    }
  }

  void mend_central(std::size_t at) {
    if (at != next_central_) {
      directory_ = at;
      entries_ = 0;
    }
    ++entries_;
    const std::size_t name = u16_at(out_, at + 28);
    next_central_ = at + central_size + name + u16_at(out_, at + 30) + u16_at(out_, at + 32);
    const auto local = locals_.find(name_at(at + central_size, name));
    if (local == locals_.end() || !mostly()) return;
    put_bytes(out_, at + 6, slice(out_, local->second + 4, local->second + 4 + common_size));
    if (u32_at(out_, at + 42) != 0xffffffff) put_u32(out_, at + 42, static_cast<std::uint32_t>(local->second));
  }

  void mend_zip64_end(std::size_t at) {
    put_u64(out_, at + 24, entries_);
    put_u64(out_, at + 32, entries_);
    put_u64(out_, at + 40, directory_end_ - directory_);
    put_u64(out_, at + 48, directory_);
  }

  void mend_end(std::size_t at) {
    if (u16_at(out_, at + 10) == 0xffff || u32_at(out_, at + 16) == 0xffffffff) return;
    put_u16(out_, at + 8, static_cast<std::uint16_t>(entries_));
    put_u16(out_, at + 10, static_cast<std::uint16_t>(entries_));
    put_u32(out_, at + 12, static_cast<std::uint32_t>(directory_end_ - directory_));
    put_u32(out_, at + 16, static_cast<std::uint32_t>(directory_));
  }

  Blob in_, out_;
  Random& random_;
  std::map<std::string, std::size_t> locals_;  // by name: the last one before
  std::size_t directory_ = 0, directory_end_ = 0, next_central_ = 0, entries_ = 0, zip64_end_ = 0;
};

// --- Structure -------------------------------------------------------------------------------------------------------

/// The fields of a record after its signature, in their order: each digit is the width of one in bytes.
struct Layout {
  std::uint32_t record;
  std::string_view widths;
};

constexpr Layout layouts[] = {
    {signature::local, "2222244422"},          // version, flags, method, time, date, CRC-32, sizes, lengths
    {signature::central, "2222224442222244"},  // two versions, flags, ..., lengths, disk, attributes, offset
    {signature::end, "2222442"},               // disks, counts, size, offset, length of the comment
    {signature::zip64_end, "822448888"},       // size, versions, disks, counts, size, offset
    {signature::zip64_locator, "484"},         // disk, offset, number of disks
    {signature::descriptor, "444"},            // CRC-32, sizes
};

struct RecordField {
  std::uint32_t record;
  std::size_t offset;
  std::size_t width;
};

std::vector<RecordField> fields_of(std::span<const Layout> all) {
  std::vector<RecordField> fields;
  for (const Layout& layout : all) {
    std::size_t offset = 4;
    for (const char digit : layout.widths) {
      fields.push_back({layout.record, offset, static_cast<std::size_t>(digit - '0')});
      offset += fields.back().width;
    }
  }
  return fields;
}

bool is_record(std::uint32_t value) { return std::ranges::find(layouts, value, &Layout::record) != std::end(layouts); }

/// The zip in pieces: each begins at a record's signature and ends before the next, so data belongs to its local
/// header.
using Pieces = std::vector<Blob>;

Pieces pieces_of(const Blob& zip) {
  Pieces pieces;
  std::size_t begin = 0;
  const auto end_piece = [&](std::size_t end) {
    pieces.push_back(slice(zip, begin, end));
    begin = end;
  };
  for (std::size_t at = 1; at + 4 <= zip.size(); ++at) {
    if (zip[at] == std::byte{'P'} && zip[at + 1] == std::byte{'K'} && is_record(u32_at(zip, at))) end_piece(at);
  }
  end_piece(zip.size());
  return pieces;
}

Blob joined(const Pieces& pieces) {
  Blob zip;
  for (const Blob& piece : pieces) zip.insert(zip.end(), piece.begin(), piece.end());
  return zip;
}

std::uint32_t kind_of(const Blob& piece) { return piece.size() < 4 ? 0 : u32_at(piece, 0); }

/// Where the parts of a header are, as far as the piece has them.
struct Header {
  std::size_t size = 0;
  std::size_t name = 0;
  std::size_t extra = 0;

  /// Nothing if the piece is not a header with its name and extra field.
  static std::optional<Header> of(const Blob& piece) {
    const bool local = kind_of(piece) == signature::local;
    const Header fixed{local ? local_size : central_size};
    if ((!local && kind_of(piece) != signature::central) || piece.size() < fixed.size) return std::nullopt;
    const Header header{fixed.size, u16_at(piece, local ? 26 : 28), u16_at(piece, local ? 28 : 30)};
    return header.end() <= piece.size() ? std::optional(header) : std::nullopt;
  }
  [[nodiscard]] std::size_t name_length_at() const { return size == local_size ? 26 : 28; }
  [[nodiscard]] std::size_t end() const { return size + name + extra; }
};

std::string name_of(const Blob& piece) {
  const auto header = Header::of(piece);
  return header ? std::string(as_text(Bytes(piece).subspan(header->size, header->name))) : std::string();
}

bool is_named_as_model(const Blob& piece) {
  const std::string name = name_of(piece);
  return name.ends_with("__MODEL_PROTO") || name.ends_with(".onnx");
}

/// Replaces bytes of a piece, and the 16-bit length of this part.
void replace_part(Blob& piece, std::size_t at, std::size_t size, std::size_t length_at, Bytes by) {
  erase(piece, at, size);
  insert(piece, at, by);
  put_u16(piece, length_at, static_cast<std::uint16_t>(by.size()));
}

class ZipMutation {
 public:
  ZipMutation(const Blob& zip, Random& random) : pieces_(pieces_of(zip)), random_(random) {}

  Blob run() {
    switch (below(random_, 9)) {
      case 0: change_field(); break;
      case 1: move(); break;
      case 2: pieces_.insert(anywhere(), Blob(chosen())); break;
      case 3: pieces_.erase(place(below(random_, pieces_.size()))); break;
      case 4: rename(); break;
      case 5: change_extra(); break;
      case 6: append_edit(); break;
      default: change_data();
    }
    return joined(pieces_);
  }

 private:
  Blob& chosen() { return pieces_[below(random_, pieces_.size())]; }
  Pieces::iterator place(std::size_t i) { return pieces_.begin() + static_cast<std::ptrdiff_t>(i); }
  Pieces::iterator anywhere() { return place(below(random_, pieces_.size() + 1)); }

  void change_field() {
    static const std::vector<RecordField> fields = fields_of(layouts);
    const RecordField& field = fields[below(random_, fields.size())];
    Blob& piece = chosen();
    for (Blob& each : pieces_) {
      if (kind_of(each) != field.record || each.size() < field.offset + field.width || one_in(random_, 3)) continue;
      return put(each, field);
    }
    if (kind_of(piece) == field.record && piece.size() >= field.offset + field.width) put(piece, field);
  }

  void put(Blob& piece, const RecordField& field) {
    std::uint64_t value = 0;
    for (std::size_t i = field.width; i-- != 0;)
      value = value << 8U | std::to_integer<std::uint64_t>(piece[field.offset + i]);
    value = odd_number(random_, value);
    for (std::size_t i = 0; i < field.width; ++i) piece[field.offset + i] = static_cast<std::byte>(value >> (8 * i));
  }

  void move() {
    const std::size_t from = below(random_, pieces_.size());
    const Blob piece = pieces_[from];
    pieces_.erase(place(from));
    pieces_.insert(anywhere(), piece);
  }

  std::string new_name(const std::string& old) {
    static constexpr std::string_view names[] = {
        "__MODEL_PROTO", "a",          "A",        "a/b",       "b",     "g.onnx",       "h.onnx",
        "m.onnx",        "top/m.onnx", "x.json",   "",          "..",    "a/../b",       "/a",
        "a//b",          "a\\b",       "\xc3\xa9", "e\xcc\x81", ".onnx", "__model_proto"};
    if (one_in(random_, 4)) return old + ".onnx";
    if (one_in(random_, 4)) return name_of(chosen());
    return std::string(pick(random_, names));
  }

  /// Renames an entry in both headers, or sometimes in one alone.
  void rename() {
    const std::string old = name_of(chosen());
    const std::string name = new_name(old);
    for (Blob& piece : pieces_) {
      const auto header = Header::of(piece);
      if (!header || name_of(piece) != old || one_in(random_, 16)) continue;
      replace_part(piece, header->size, header->name, header->name_length_at(), as_bytes(name));
    }
  }

  Blob new_extra(const Blob& old) {
    static constexpr std::uint16_t ids[] = {0x0001, 0xd935, 0xa11e, 0x7075, 0x6375, 0x5455, 0x9901, 0x7875};
    if (one_in(random_, 3)) return mutate_bytes(old);
    Blob extra = extra_record(pick(random_, ids), Blob(below(random_, 30)));
    insert(extra, one_in(random_, 2) ? extra.size() : 0, old);
    return extra;
  }

  void change_extra() {
    Blob& piece = chosen();
    const auto header = Header::of(piece);
    if (!header) return change_field();
    const std::size_t at = header->size + header->name;
    const Blob old = slice(piece, at, header->end());
    replace_part(piece, at, header->extra, header->name_length_at() + 2, one_in(random_, 4) ? Blob() : new_extra(old));
  }

  /// Changes what an entry holds: a model as a model, other data as bytes.
  void change_data() {
    Blob& piece = chosen();
    const auto header = Header::of(piece);
    if (!header || header->size != local_size) return change_model();
    change_content(piece, *header);
  }

  /// Models have the most structure, so they are changed most.
  void change_model() {
    for (Blob& piece : pieces_) {
      const auto header = Header::of(piece);
      if (!header || header->size != local_size || one_in(random_, 4)) continue;
      if (is_named_as_model(piece)) return change_content(piece, *header);
    }
  }

  void change_content(Blob& piece, const Header& header) {
    const Blob content = slice(piece, header.end(), piece.size());
    const Blob changed = is_named_as_model(piece) ? mutate_model(content, random_) : mutate_bytes(content);
    piece.resize(header.end());
    piece.insert(piece.end(), changed.begin(), changed.end());
  }

  /// The records from some local header on come a second time at the end, as an edit appends them.
  void append_edit() {
    const std::size_t from = below(random_, pieces_.size());
    const Pieces added(place(from), pieces_.end());
    pieces_.insert(pieces_.end(), added.begin(), added.end());
  }

  Pieces pieces_;
  Random& random_;
};

}  // namespace

Blob mutate_zip(const Blob& zip, Random& random) {
  Blob changed = zip;
  for (std::size_t times = 1 + below(random, 2); times != 0 && !changed.empty(); --times) {
    changed = ZipMutation(changed, random).run();
  }
  return one_in(random, 8) ? changed : Mender(std::move(changed), random).mend();
}

}  // namespace onnxar::fuzz
