// Copies the payloads of a model into memory that the model owns, or into one buffer.
#include "model/payload_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/expansion.h"

namespace onnxar {
namespace {

/// Groups the payloads that `wanted` chooses by their extents, so that each group is copied once.
template <typename Wanted>
std::vector<std::vector<std::size_t>> by_extent(const std::vector<Payload>& payloads, const Wanted& wanted) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<Extent, std::size_t> known;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if (!payloads[i].source || !wanted(payloads[i])) continue;
    const auto [group, added] = known.try_emplace(Extent(payloads[i]), groups.size());
    if (added) groups.emplace_back();
    groups[group->second].push_back(i);
  }
  return groups;
}

/// True if all bytes may be copied from where they lie, in any order. Verified data must be read through its source,
/// which compares a CRC-32 or checksum of all bytes in order; decoded data does not lie anywhere.
bool is_plain(const Payload& payload) {
  std::uint64_t plain = 0;
  payload.source->locate([&plain](const Location& run) { plain += run.verified ? 0 : run.bytes.size(); });
  return plain == payload.size() && !payload.is_decoded();
}

void own_side_files(LoadedModel& model) {
  for (SideFile& file : model.side_files) file.source = payload_of(gathered(*file.source)).source;
}

bool is_owned(const Payload& payload) { return payload.span && payload.span->owned(); }

const std::byte* end_of(Bytes bytes) { return bytes.data() + bytes.size(); }

// --- prefetching ----------------------------------------------------------------------------------------------------

/// Returns the payloads' bytes in ascending order. Joins close neighbours with the same owner, because 100 000 system
/// calls for 100 000 tensors take too long. Spans with a common owner lie in one mapping, so the gap between them is
/// mapped as well.
std::vector<Bytes> ranges_of(const std::vector<Payload>& payloads) {
  constexpr std::ptrdiff_t most_between = 64 << 10;
  std::vector<const ByteSpan*> spans;
  for (const Payload& payload : payloads) {
    if (!is_owned(payload) && !payload.bytes().empty()) spans.push_back(payload.span.get());
  }
  std::ranges::sort(spans, std::less(), [](const ByteSpan* span) { return span->bytes().data(); });
  std::vector<Bytes> ranges;
  const void* owner = nullptr;
  for (const ByteSpan* span : spans) {
    const Bytes bytes = span->bytes();
    if (ranges.empty() || span->owner().get() != owner || bytes.data() - end_of(ranges.back()) > most_between) {
      ranges.push_back(bytes);
    } else {
      ranges.back() = Bytes(ranges.back().data(), std::max(end_of(ranges.back()), end_of(bytes)));
    }
    owner = span->owner().get();
  }
  return ranges;
}

/// A hostile model may have a million tensors that overlap in one file. Their copies would take far more memory than
/// the file.
void check_expansion(const LoadedModel& model, const std::vector<std::vector<std::size_t>>& groups) {
  Expansion expansion(model);
  for (const auto& group : groups) {
    const Payload& payload = model.payloads[group.front()];
    if (!is_owned(payload)) expansion.add(payload);
  }
}

// --- one buffer -----------------------------------------------------------------------------------------------------

/// The largest page size of current processors, 1 GiB. Devices do not require more alignment than a page.
constexpr std::uint64_t most_alignment = 1ULL << 30U;

std::uint64_t checked_alignment(std::uint64_t alignment) {
  if (alignment == 0) return 1;
  if (std::has_single_bit(alignment) && alignment <= most_alignment) return alignment;
  throw Error(
      Code::usage_argument,
      base::concat("alignment ", alignment, " is not possible; it must be 0 or a power of two up to ", most_alignment));
}

/// One unit of work: a range of a payload, and its place in the buffer.
struct Piece {
  const Payload* payload;
  std::size_t begin;  // in the payload
  std::size_t size;
  std::uint64_t target;
};

/// Cuts plain payloads into pieces, so that threads share the work on a large one. Verified and decoded payloads stay
/// whole, because their sources hand out bytes from front to back.
void add_pieces(std::vector<Piece>& pieces, const Payload& payload, std::uint64_t target) {
  constexpr std::size_t step = 8U << 20U;
  const std::size_t size = base::in_memory(payload.size());
  const bool any_order = is_plain(payload);
  for (std::size_t begin = 0; begin < size;) {
    const std::size_t part = any_order ? std::min(step, size - begin) : size;
    pieces.push_back({&payload, begin, part, target + begin});
    begin += part;
  }
}

void copy(const Piece& piece, std::byte* buffer) {
  std::byte* target = buffer + piece.target;
  if (piece.size != piece.payload->size()) {
    std::memcpy(target, piece.payload->bytes().data() + piece.begin, piece.size);
    return;
  }
  piece.payload->source->read([&target](Bytes bytes) {
    if (bytes.empty()) return;  // memcpy requires non-null pointers even for 0 bytes
    std::memcpy(target, bytes.data(), bytes.size());
    target += bytes.size();
  });
}

}  // namespace

void own_payloads(LoadedModel& model, Ownership ownership, std::size_t threads) {
  const bool all = ownership == Ownership::all;
  std::vector<Payload>& payloads = model.payloads;
  const auto groups = by_extent(payloads, [all](const Payload& payload) { return all || payload.is_decoded(); });
  check_expansion(model, groups);
  std::uint64_t size = 0;
  for (const auto& group : groups) size = base::add_announced(size, payloads[group.front()].size());
  base::parallel_for(groups.size(), base::threads_for(size, threads), [&](std::size_t i) {
    Payload& first = payloads[groups[i].front()];
    first = payload_of(gathered(*first.source));
    for (const std::size_t other : groups[i]) payloads[other] = first;
  });
  if (!all) return;
  own_side_files(model);
  model.source = nullptr;  // unmaps the files, unless a caller holds a share
}

void prefetch_payloads(const LoadedModel& model, Prefetch prefetch) {
  if (prefetch == Prefetch::none) return;
  for (const Bytes range : ranges_of(model.payloads)) base::prefetch(range, prefetch);
}

std::shared_ptr<const void> consolidate(LoadedModel& model, const TensorBufferOptions& options) {
  const std::uint64_t alignment = checked_alignment(options.alignment);
  const auto groups = by_extent(model.payloads, [&options](const Payload& payload) {
    return payload.size() != 0 && payload.size() >= options.threshold;
  });
  if (groups.empty()) return nullptr;
  check_expansion(model, groups);
  std::uint64_t size = 0;
  std::vector<std::uint64_t> offsets;
  std::vector<Piece> pieces;
  for (const auto& group : groups) {
    const Payload& payload = model.payloads[group.front()];
    offsets.push_back(base::align_up(size, alignment));
    add_pieces(pieces, payload, offsets.back());
    size = base::add_announced(offsets.back(), payload.size());
  }
  const std::shared_ptr<std::byte> buffer = base::allocate(base::in_memory(size), base::in_memory(alignment));
  // The table changes only after every copy succeeded, so that an error leaves the model as it was.
  base::parallel_for(pieces.size(), base::threads_for(size, 0), [&](std::size_t i) { copy(pieces[i], buffer.get()); });
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Bytes bytes(buffer.get() + offsets[i], base::in_memory(model.payloads[groups[i].front()].size()));
    const Payload moved = payload_of(ByteSpan::borrow(bytes, buffer));
    for (const std::size_t payload : groups[i]) model.payloads[payload] = moved;
  }
  return buffer;
}

}  // namespace onnxar
