// Parses addresses of files on servers, and applies redirections to them.
#include "remote/address.h"

#include <algorithm>

#include "base/text.h"
#include "onnxar/error.h"
#include "remote/libcurl.h"

namespace onnxar {
namespace {

using base::concat;
using curl::Part;
using Url = curl::Owned<curl::Url>;

Url new_url() { return curl::owned(curl::functions().url()); }

std::string part_of(const Url& url, Part part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl::functions().url_get(url.get(), part, &text, flags) != curl::Result::ok) return {};
  return curl::owned(text).get();
}

curl::Result set(const Url& url, Part part, const char* text, unsigned flags = 0) {
  return curl::functions().url_set(url.get(), part, text, flags);
}

/// Returns the address, whose secrets move from the URL into members.
Address address_of(const Url& url) {
  Address address;
  address.name = part_of(url, Part::user, curl::urldecode);
  address.password = part_of(url, Part::password, curl::urldecode);
  for (const Part part : {Part::user, Part::password, Part::options, Part::fragment}) {
    set(url, part, nullptr);
  }
  address.url = part_of(url, Part::url);
  address.site = concat(part_of(url, Part::scheme), "://", part_of(url, Part::host), ":",
                        part_of(url, Part::port, curl::default_port));
  set(url, Part::query, nullptr);
  address.shown = part_of(url, Part::url);
  return address;
}

bool is_http(const Url& url) {
  const std::string scheme = part_of(url, Part::scheme);
  return scheme == "http" || scheme == "https";
}

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  // An address that cannot be parsed may hold a password anywhere, so only the part before it is repeated.
  const std::string_view scheme = text.substr(0, text.find("://"));
  throw Error(Code::remote_address, concat("this is not an address that can be opened: ", why), {},
              scheme.size() < text.size() ? std::filesystem::path(concat(scheme, "://...")) : std::filesystem::path());
}

Address parse_http(std::string_view text) {
  const Url url = new_url();
  const curl::Result failed = set(url, Part::url, std::string(text).c_str(), curl::urlencode);
  if (failed != curl::Result::ok) refuse(text, "it is malformed");
  if (!is_http(url)) refuse(text, "only http, https and s3 are supported");
  return address_of(url);
}

bool is_bucket(std::string_view name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789.-_";
  return !name.empty() && name.find_first_not_of(allowed) == std::string_view::npos;
}

/// Returns the path of a key, in the only form whose signature counts: libcurl signs a path as it is, and stores encode
/// it again, with capital hexadecimal digits.
std::string encoded(std::string_view path) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (const char c : path) {
    if (plain.find(c) != std::string_view::npos) {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {'%', digits[byte >> 4U], digits[byte & 15U]};
    }
  }
  return text;
}

/// `rest` is BUCKET/KEY.
Address parse_s3(std::string_view text, std::string_view rest, const S3Options& options) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view bucket = rest.substr(0, slash);
  const std::string_view key = rest.substr(slash);
  if (!is_bucket(bucket) || key.size() < 2) refuse(text, "it needs the form s3://BUCKET/KEY");
  std::string host = options.endpoint.empty() ? concat("https://", bucket, ".s3.", options.region, ".amazonaws.com")
                                              : options.endpoint;
  while (host.ends_with('/')) host.pop_back();
  const std::string path = encoded(options.endpoint.empty() ? std::string(key) : concat("/", bucket, key));
  // In one piece: libcurl writes the hexadecimal digits of a path that is set separately in lower case.
  const Url url = new_url();
  const curl::Result failed = set(url, Part::url, (host + path).c_str(), curl::path_as_is);
  if (failed != curl::Result::ok || !is_http(url) || !part_of(url, Part::path).ends_with(path)) {
    refuse(text, "the store's address or region is wrong");
  }
  Address address = address_of(url);
  address.is_s3 = true;
  address.shown = text;
  return address;
}

}  // namespace

Address parse_address(std::string_view text, const RemoteOptions& options) {
  constexpr std::string_view s3 = "s3://";
  if (text.find('\0') != std::string_view::npos) refuse(text, "it has a NUL byte");  // libcurl would stop there
  if (base::folded_copy(text.substr(0, s3.size())) == s3) return parse_s3(text, text.substr(s3.size()), options.s3);
  return parse_http(text);
}

Address redirected(const Address& from, const std::string& location) {
  const Url url = new_url();
  const bool is_parsed = set(url, Part::url, from.url.c_str()) == curl::Result::ok &&
                         set(url, Part::url, location.c_str(), curl::urlencode) == curl::Result::ok;
  if (!is_parsed || !is_http(url)) {
    throw Error(Code::remote_answer, "the server redirects to a non-HTTP address", {}, from.shown);
  }
  Address to = address_of(url);
  if (from.is_encrypted() && !to.is_encrypted()) {
    throw Error(Code::remote_answer, "the server redirects from HTTPS to HTTP, which is not followed", {}, from.shown);
  }
  const bool is_same = to.site == from.site;
  to.name = is_same ? from.name : std::string();
  to.password = is_same ? from.password : std::string();
  to.is_s3 = is_same && from.is_s3;
  return to;
}

}  // namespace onnxar
