#include "sink/equal_payloads.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.h"

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

/// Bytes. The digest of a payload is that of its parts' digests, so that several threads can make them.
constexpr std::size_t part_size = 4U << 20U;

/// The digests of the parts of bytes that come in pieces of any size.
class PartDigests {
 public:
  void add(Bytes piece) {
    while (!piece.empty()) {
      const Bytes next = piece.first(std::min(piece.size(), part_size - size_));
      part_.add(next);
      size_ += next.size();
      piece = piece.subspan(next.size());
      if (size_ == part_size) end_part();
    }
  }
  std::vector<base::Digest> take() {
    if (size_ != 0) end_part();
    return std::move(digests_);
  }

 private:
  void end_part() {
    digests_.push_back(part_.result());
    part_ = base::KeyedDigest();
    size_ = 0;
  }

  std::vector<base::Digest> digests_;
  base::KeyedDigest part_;
  std::size_t size_ = 0;
};

std::vector<base::Digest> digests_of_parts(Bytes bytes, std::size_t threads) {
  std::vector<base::Digest> digests((bytes.size() + part_size - 1) / part_size);
  base::parallel_for(digests.size(), base::threads_for(bytes.size(), threads), [&](std::size_t i) {
    const Bytes rest = bytes.subspan(i * part_size);
    base::KeyedDigest digest;
    digest.add(rest.first(std::min(rest.size(), part_size)));
    digests[i] = digest.result();
  });
  return digests;
}

/// Without checks of the bytes in memory: they come when the payload is compared or written.
std::vector<base::Digest> digests_of_parts(const Payload& payload, std::size_t threads) {
  if (!payload.is_decoded()) return digests_of_parts(payload.bytes(), threads);
  PartDigests parts;
  payload.source->read([&parts](Bytes piece) { parts.add(piece); });
  return parts.take();
}

base::Digest digest_of(Level level, DataType type, const Payload& payload, std::size_t threads) {
  base::KeyedDigest digest;
  digest.add(static_cast<std::uint64_t>(level));
  digest.add(static_cast<std::uint64_t>(type));
  digest.add(payload.size());
  if (level == Level::beginning) add_beginning(digest, payload);
  if (level == Level::all) {
    for (const auto& [first, second] : digests_of_parts(payload, threads)) {
      digest.add(first);
      digest.add(second);
    }
  }
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
    const auto [met, added] = met_.try_emplace(digest_of(level, type, payload, threads_), Met{&payload});
    if (added) return nullptr;
    const Payload* const first = met->second.first;
    if (level == Level::all) return are_equal(*first, payload) ? first : nullptr;
    if (!met->second.is_alone) continue;
    met->second.is_alone = false;
    const Level next = level == Level::size ? Level::beginning : Level::all;
    met_.try_emplace(digest_of(next, type, *first, threads_), Met{first});
  }
  return nullptr;
}

}  // namespace onnxar
