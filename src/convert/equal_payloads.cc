// Compares payloads by size, by their beginnings and by CRC-32, and then byte for byte.
#include "convert/equal_payloads.h"

#include <algorithm>

#include "base/checked.h"
#include "base/crc32.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "base/parallel.h"
#include "base/sources.h"

namespace onnxar {
namespace {

/// In bytes. Weights of equal size almost always differ in fewer bytes.
constexpr std::uint64_t beginning_size = 4096;

/// In bytes. A payload that reading produces is gathered in memory for a comparison, up to this size.
constexpr std::uint64_t most_gathered = 16U << 20U;

/// In bytes. Large payloads are summed in pieces of this size, which are divided among several threads.
constexpr std::size_t summed_piece = 4U << 20U;

/// Returns the CRC-32 of the first `size` bytes. Does not verify bytes in memory: that happens when the payload is
/// compared or written.
std::uint32_t sum_of(const Payload& payload, std::uint64_t size, std::size_t threads) {
  std::uint32_t crc = 0;
  const auto add = [&](Bytes piece) {
    const Bytes part = piece.first(base::in_memory(std::min<std::uint64_t>(piece.size(), size)));
    base::ThreadPool pool(base::threads_for(part.size(), threads));
    crc = base::crc32_in_pieces(crc, part, {summed_piece}, pool, [](std::size_t, Bytes) {});
    size -= part.size();
  };
  payload.is_decoded() ? payload.source->read(add) : add(payload.bytes());
  return crc;
}

/// True if two payloads of one size are equal. Reads `payload` through its source, with its checks, because it will not
/// be written.
bool are_equal(const Payload& first, const Payload& payload) {
  if (!first.is_decoded()) return base::has_bytes(*payload.source, first.bytes());
  if (payload.size() > most_gathered) return false;
  const ByteSpan collected = gathered(*first.source);
  return base::has_bytes(*payload.source, collected.bytes());
}

}  // namespace

EqualPayloads::Key EqualPayloads::key_at(Level level, DataType type, const Payload& payload) const {
  if (level == Level::size) return {level, type, payload.size(), 0};
  const std::uint64_t size = level == Level::all ? payload.size() : std::min(beginning_size, payload.size());
  return {level, type, payload.size(), sum_of(payload, size, threads_)};
}

const Payload* EqualPayloads::first_of(DataType type, base::Kept<const Payload> kept) {
  const Payload& payload = kept;
  for (const Level level : {Level::size, Level::beginning, Level::all}) {
    const auto [met, added] = met_.try_emplace(key_at(level, type, payload), Met{&payload});
    if (added) return nullptr;
    const Payload* const first = met->second.first;
    if (level == Level::all) return are_equal(*first, payload) ? first : nullptr;
    if (!met->second.is_alone) continue;
    met->second.is_alone = false;
    met_.try_emplace(key_at(level == Level::size ? Level::beginning : Level::all, type, *first), Met{first});
  }
  return nullptr;
}

}  // namespace onnxar
