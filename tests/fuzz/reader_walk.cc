// Any bytes as the model of an archive with two weights. The reader of reader/ walks through it, in memory and by
// callbacks. What it gives lies where it should, and the library's walk gives the same; the library's check gives the
// same verdict.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fuzz/c_reader.h"
#include "fuzz/scratch.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"

namespace onnxar::fuzz::reader_walk_target {
namespace {

using Buffer = std::vector<std::byte>;

void append(Buffer& out, std::size_t width, std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) out.push_back(static_cast<std::byte>(i < 8 ? value >> (8 * i) : 0));
}

void append(Buffer& out, Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

/// A canonical archive, except that CRC-32s are 0 and times are missing. No stage but check data looks at the CRCs.
class Container {
 public:
  void add(std::string_view name, Bytes data) {
    const std::size_t at = file_.size(), least = at + 30 + name.size() + 6, zeros = (64 - least % 64) % 64;
    append(file_, 4, 0x04034b50);
    put_common(file_, name, data.size(), 6 + zeros);
    append(file_, as_bytes(name));
    append(file_, 2, 0xd935);
    append(file_, 2, 2 + zeros);
    append(file_, 2, 64);
    append(file_, Buffer(zeros));
    append(file_, data);
    append(directory_, 4, 0x02014b50);
    append(directory_, 2, 10);
    put_common(directory_, name, data.size(), 0);
    append(directory_, 10, 0);  // comment, disk, attributes
    append(directory_, 4, at);
    append(directory_, as_bytes(name));
    ++count_;
  }

  Buffer finish() {
    const std::size_t at = file_.size();
    append(file_, directory_);
    append(file_, 4, 0x06054b50);
    append(file_, 4, 0);
    append(file_, 2, count_);
    append(file_, 2, count_);
    append(file_, 4, directory_.size());
    append(file_, 4, at);
    append(file_, 2, 0);
    return std::move(file_);
  }

 private:
  /// The fields that both headers have, from version needed to the length of the extra fields.
  static void put_common(Buffer& out, std::string_view name, std::size_t size, std::size_t extra) {
    append(out, 2, 10);
    append(out, 12, 0);  // flags, method, time, date, CRC-32
    append(out, 4, size);
    append(out, 4, size);
    append(out, 2, name.size());
    append(out, 2, extra);
  }

  Buffer file_, directory_;
  std::size_t count_ = 0;
};

struct Seen {
  int site = 0;
  Bytes message, name, data;
  std::int32_t type = 0;
  std::vector<std::int64_t> dims;
};

bool is_within(const void* at, std::size_t size, Bytes outer) {
  const auto* begin = static_cast<const std::byte*>(at);
  return begin >= outer.data() && size <= outer.size() &&
         static_cast<std::size_t>(begin - outer.data()) <= outer.size() - size;
}

/// Copies all values, and none beyond the room.
void check_values(const onnxar_reader_tensor& tensor) {
  const std::size_t width = tensor.field == 4 || tensor.field == 5 ? 4 : 8;
  require(tensor.values > 0 && tensor.values <= tensor.message_size, "values lie in the message");
  Buffer values(tensor.values * width);
  const std::size_t copied = onnxar_reader_copy_values(&tensor, values.data(), tensor.values);
  require(copied == (tensor.field == 6 ? 0 : tensor.values), "all values are copied");
  require(onnxar_reader_copy_values(&tensor, values.data(), tensor.values / 2) <= tensor.values / 2, "but no more");
}

Seen check_tensor(const onnxar_reader_walk* walk, const onnxar_reader_tensor& tensor, Bytes file) {
  std::size_t size = 0;
  const auto* model = static_cast<const std::byte*>(onnxar_reader_walk_model(walk, &size));
  const Bytes message(static_cast<const std::byte*>(tensor.message), tensor.message_size);
  require(is_within(tensor.message, tensor.message_size, {model, size}), "a tensor lies in its model");
  require(tensor.name_length == 0 || is_within(tensor.name, tensor.name_length, message), "a name lies in its tensor");
  require(tensor.rank <= 1024 && std::all_of(tensor.dims, tensor.dims + tensor.rank, [](auto dim) { return dim >= 0; }),
          "M17: dimensions");
  require(tensor.kind != OAR_INLINE || is_within(tensor.data, tensor.size, message), "raw data lies in its tensor");
  require(tensor.kind != OAR_LINKED || tensor.entry < 3, "a link names an entry");
  if (tensor.kind == OAR_LINKED && !file.empty()) {
    require(is_within(tensor.data, tensor.size, file), "linked data lies in the file");
    require(tensor.data == file.data() + tensor.offset, "the offset is that of the data");
  }
  if (tensor.kind == OAR_TYPED) check_values(tensor);
  char site[4096];
  require(onnxar_reader_walk_site(walk, &site[0], sizeof site) < sizeof site && site[0] != '\0', "each has a site");
  const bool has_bytes = tensor.kind == OAR_INLINE || tensor.kind == OAR_LINKED;
  const Bytes data = has_bytes ? Bytes(static_cast<const std::byte*>(tensor.data), tensor.size) : Bytes();
  return {tensor.site, message,          as_bytes(std::string_view(tensor.name, tensor.name_length)),
          data,        tensor.data_type, std::vector(tensor.dims, tensor.dims + tensor.rank)};
}

std::optional<Refusal> walk(const CReader& archive, Bytes file, std::vector<Seen>& all) {
  onnxar_reader_walk* walk = nullptr;
  onnxar_reader_error error;
  onnxar_reader_tensor tensor;
  int more = onnxar_reader_walk_open(archive.get(), onnxar_reader_model(archive.get()), &walk, &error);
  while (more >= 0 && (more = onnxar_reader_walk_next(walk, &tensor, &error)) > 0) {
    all.push_back(check_tensor(walk, tensor, file));
  }
  onnxar_reader_walk_close(walk);
  return refusal_of(more, error);
}

void compare_with_library(Bytes file, const std::vector<Seen>& all) {
  const Archive archive = Archive::open(file, nullptr);
  const Bytes model = archive.model();
  std::size_t next = 0;
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) {
    require(next < all.size(), "the library does not see more tensors");
    const onnx::TensorView& tensor = site.tensor;
    const Seen& seen = all[next++];
    require(seen.message.data() == model.data() + tensor.range.begin && seen.message.size() == tensor.range.size(),
            "both walks see the same message");
    require(as_text(seen.name) == tensor.name && seen.type == static_cast<std::int32_t>(tensor.type),
            "both walks see the same name and type");
    require(seen.dims == tensor.dims, "both walks see the same dimensions");
    if (!tensor.is_external()) return;
    const onnx::ExternalSlice link = onnx::parse_external_data(tensor.external, 0);
    const auto length = link.length ? link.length : tensor.expected_size();
    const Bytes bytes = archive.resolve(link.location, link.offset, length);
    require(bytes.size() == seen.data.size() && (bytes.empty() || bytes.data() == seen.data.data()),
            "both readers find the same data");
  });
  require(next == all.size(), "the library sees as many tensors");
}

}  // namespace

void run(Bytes input) {
  const Buffer weight(1024);
  Container container;
  container.add("w", weight);
  container.add("a/b.bin", Bytes(weight).first(7));
  container.add("__MODEL_PROTO", input);
  const Buffer bytes = container.finish();
  const Bytes file(bytes);
  std::optional<Refusal> refusal;
  const CReader archive = open_in_memory(file, refusal);
  require(!refusal || input.empty(), "the container is an archive");
  if (!archive) return;
  std::vector<Seen> all, by_reading;
  refusal = walk(archive, file, all);
  if (is_turn(input, 0, 4)) {
    std::optional<Refusal> of_opening;
    const CReader reading = open_by_callbacks(file, of_opening);
    require(walk(reading, {}, by_reading) == refusal && by_reading.size() == all.size(), "reading gives the same");
  }
  if (is_turn(input, 1, 4) && !refusal) compare_with_library(file, all);
  if (!is_turn(input, 2, 4)) return;
  const auto of_check = refusal_of_check(archive, 0);
  require(!refusal || refusal == of_check, "a check refuses what a walk refuses");
  require_same_check(put("in.onnxar", file), of_check, false);
}

}  // namespace onnxar::fuzz::reader_walk_target
