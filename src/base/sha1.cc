#include "base/sha1.h"

#include <openssl/evp.h>

#include <array>
#include <new>

#include "onnxar/error.h"

namespace onnxar::base {
namespace {

EVP_MD_CTX* of(void* context) { return static_cast<EVP_MD_CTX*>(context); }

/// OpenSSL fails where SHA-1 is forbidden on the machine.
void require(bool success) {
  if (!success) throw Error(Code::io_failed, "SHA-1 is not to be had from OpenSSL on this machine");
}

}  // namespace

void Sha1::Free::operator()(void* context) const noexcept { EVP_MD_CTX_free(of(context)); }

Sha1::Sha1() : context_(EVP_MD_CTX_new()) {
  if (!context_) throw std::bad_alloc();
  require(EVP_DigestInit_ex(of(context_.get()), EVP_sha1(), nullptr) == 1);
}

void Sha1::update(Bytes bytes) { require(EVP_DigestUpdate(of(context_.get()), bytes.data(), bytes.size()) == 1); }

std::string Sha1::hex() && {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  require(EVP_DigestFinal_ex(of(context_.get()), digest.data(), &size) == 1);
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += digits[digest.at(i) >> 4U];
    text += digits[digest.at(i) & 0xFU];
  }
  return text;
}

}  // namespace onnxar::base
