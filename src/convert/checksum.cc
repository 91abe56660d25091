// Computes, parses and compares the checksums of external data.
#include "convert/checksum.h"

#include "base/sha1.h"
#include "base/text.h"

namespace onnxar {

std::optional<std::string> parse_checksum(std::string_view text) { return base::parse_digest(text, checksum_length); }

std::string no_checksum(std::string_view text) {
  return base::concat("its checksum ", base::quoted(text), " is not a SHA-1 in 40 hexadecimal digits");
}

std::string checksum_of(const ByteSource& source) {
  base::Sha1 sum;
  source.read([&sum](Bytes piece) { sum.update(piece); });
  return std::move(sum).hex();
}

/// Compares the sum after the last piece, when the sink has all bytes. Outputs get their names later, so a difference
/// leaves no file.
void ChecksumSource::read(const ByteSink& sink) const {
  base::Sha1 sum;
  source_->read([&](Bytes piece) {
    sum.update(piece);
    sink(piece);
  });
  if (std::move(sum).hex() != checksum_) throw Error(mismatch_.code, mismatch_.message, mismatch_.place, path_);
}

void ChecksumSource::locate(const std::function<void(const Location&)>& visit) const {
  source_->locate([&visit](Location run) {
    run.verified = true;  // a consumer that reads the bytes where they lie would skip the comparison
    visit(run);
  });
}

}  // namespace onnxar
