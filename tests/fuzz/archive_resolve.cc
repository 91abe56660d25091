// An archive and queries: `resolve` returns bytes of the named entry, or refuses. In an archive that passes `check` all
// links resolve, and it can be listed and loaded.
//
// Input: the archive; queries (a byte with a location's length, or from 0xc0 on an entry's number; the location; offset
// and length in 8 bytes each, after a byte that is odd if a length is given); 2 bytes: the length of the queries.
#include <filesystem>
#include <string>

#include "convert/load.h"
#include "convert/open.h"
#include "fuzz/fuzz.h"
#include "fuzz/reader.h"
#include "fuzz/scratch.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/listing.h"

namespace onnxar::fuzz::archive_resolve_target {
namespace {

void ask(const Archive& archive, std::string_view location, std::uint64_t offset, std::optional<std::uint64_t> length) {
  const auto part = accepted([&] { return archive.resolve(location, offset, length); });
  const auto entry = archive.find(location);
  if (!entry) {
    require(!part, "a name that no entry has does not resolve");
    return;
  }
  const auto whole = accepted([&] { return archive.bytes(*entry); });
  const bool fits = offset <= entry->size && length.value_or(0) <= entry->size - offset;
  require(part.has_value() == (whole && fits), "what lies in an entry that can be used resolves, and nothing else");
  if (!part) return;
  require(part->data() == whole->data() + offset, "a slice begins at its offset");
  require(part->size() == length.value_or(entry->size - offset), "a slice has its length");
}

void ask_all(const Archive& archive, Reader questions) {
  constexpr std::uint64_t first_index = 0xc0;
  while (!questions.empty()) {
    const std::uint64_t size = questions.number(1);
    const std::string_view location =
        size < first_index ? as_text(questions.take(size)) : archive.entry((size - first_index) % archive.size()).name;
    const bool has_length = questions.number(1) % 2 != 0;
    const std::uint64_t offset = questions.number(8);
    const std::uint64_t length = questions.number(8);
    ask(archive, location, offset, has_length ? std::optional(length) : std::nullopt);
  }
}

void resolve_link(const Archive& archive, ModelSource& source, const onnx::TensorSite& site) {
  const Payload payload = source.payload_of(site);
  const onnx::ExternalSlice link = onnx::parse_external_data(site.tensor.external, 0);
  const Bytes bytes = archive.resolve(link.location, link.offset, payload.size());
  require(payload.bytes().size() == bytes.size(), "both ways to resolve a link give as many bytes");
  require(payload.bytes().empty() || payload.bytes().data() == bytes.data(), "both ways give the same bytes");
  require(!site.tensor.expected_size() || bytes.size() == *site.tensor.expected_size(),
          "M18: as many as the shape has");
}

void check_links(const Archive& archive, Bytes file, const LoadOptions& options) {
  const auto source = source_of(Archive::open(file, nullptr), options);
  const auto visit = [&](const onnx::TensorSite& site) {
    if (site.tensor.is_external()) resolve_link(archive, *source, site);
  };
  onnx::walk_tensors(source->model(), visit);
}

}  // namespace

void run(Bytes input) {
  const auto both = two_of(input);
  if (!both) return;
  const Bytes file = both->first;

  const auto archive = accepted([&] { return Archive::open(file, nullptr); });
  if (!archive) return;
  ask_all(*archive, Reader(both->second));

  const std::filesystem::path copy = put("archive", file);
  const CheckOptions options = {.load = {.verify_data = false}};
  if (!passed(check(copy, options))) return;
  if (is_turn(input, 0, 3)) {
    must("an archive that passes has links that resolve", [&] {
      check_links(*archive, file, options.load);
      return true;
    });
  }
  if (is_turn(input, 1, 3)) must("an archive that passes can be listed", [&] { return ls(copy, options.load); });
  if (is_turn(input, 2, 3)) {
    must("an archive that passes can be loaded",
         [&] { return load_model(copy, ExternalPolicy::of(SaveOptions()), options.load); });
  }
}

}  // namespace onnxar::fuzz::archive_resolve_target
