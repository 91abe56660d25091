#include "sink/equal_payloads.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace onnxar {
namespace {

/// What a digest is of. Each level tells apart what the one before did not, and costs more.
enum class Level : std::uint8_t { size, beginning, all };

/// Bytes. Weights of one size differ within fewer.
constexpr std::uint64_t beginning_size = 4096;

/// Bytes. A payload that reading produces is collected in memory for a comparison, up to this size.
constexpr std::uint64_t most_gathered = 16U << 20U;

void add_beginning(base::KeyedDigest& digest, const Payload& payload) {
  std::uint64_t rest = std::min(beginning_size, payload.size());
  const auto add = [&](Bytes piece) {
    const Bytes part = piece.first(static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), rest)));
    digest.add(part);
    rest -= part.size();
  };
  payload.is_decoded() ? payload.source->read(add) : add(payload.bytes());
}

void add_all(base::KeyedDigest& digest, const Payload& payload) {
  const auto add = [&digest](Bytes piece) { digest.add(piece); };
  // Without checks of the bytes in memory: they come when the payload is compared or written.
  payload.is_decoded() ? payload.source->read(add) : add(payload.bytes());
}

base::Digest digest_of(Level level, DataType type, const Payload& payload) {
  base::KeyedDigest digest;
  digest.add(static_cast<std::uint64_t>(level));
  digest.add(static_cast<std::uint64_t>(type));
  digest.add(payload.size());
  if (level == Level::beginning) add_beginning(digest, payload);
  if (level == Level::all) add_all(digest, payload);
  return digest.result();
}

/// Whether two payloads of one size are equal. Reads `payload` through its source, with its checks, because it will not
/// be written.
bool are_equal(const Payload& first, const Payload& payload) {
  if (!first.is_decoded()) return base::has_bytes(*payload.source, first.bytes());
  if (payload.size() > most_gathered) return false;
  const ByteSpan collected = gathered(*first.source);
  return base::has_bytes(*payload.source, collected.bytes());
}

}  // namespace

const Payload* EqualPayloads::first_of(DataType type, const Payload& payload) {
  for (const Level level : {Level::size, Level::beginning, Level::all}) {
    const auto [met, added] = met_.try_emplace(digest_of(level, type, payload), Met{&payload});
    if (added) return nullptr;
    const Payload* const first = met->second.first;
    if (level == Level::all) return are_equal(*first, payload) ? first : nullptr;
    if (!met->second.is_alone) continue;
    met->second.is_alone = false;
    const Level next = level == Level::size ? Level::beginning : Level::all;
    met_.try_emplace(digest_of(next, type, *first), Met{first});
  }
  return nullptr;
}

}  // namespace onnxar
