// The system's libcurl, loaded when the first address is opened. Nothing links it, so one program runs on systems with
// and without it, and gets its TLS library, certificates and security fixes from the system.
//
// Declared after <curl/curl.h>, so that a build needs no headers of curl: the ABI of libcurl.so.4 has been stable since
// 2006. tests/remote/libcurl_test.cc compares each number and type with curl's own.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace onnxar::curl {

// Opaque: CURL, CURLM, CURLU, curl_slist.
struct Easy;
struct Multi;
struct Url;
struct List;

/// CURLcode, CURLMcode, CURLUcode: 0 is success.
enum class Result : int {
  ok = 0,
  couldnt_resolve_proxy = 5,
  couldnt_resolve_host = 6,
  couldnt_connect = 7,
  weird_server_reply = 8,
  http2 = 16,
  partial_file = 18,
  out_of_memory = 27,
  operation_timedout = 28,
  ssl_connect_error = 35,
  got_nothing = 52,
  send_error = 55,
  recv_error = 56,
  again = 81,
  http2_stream = 92,
};

/// CURLoption. The comment is the type of the value.
enum class Option : int {
  sslversion = 32,          // long
  netrc = 51,               // long
  followlocation = 52,      // long
  ssl_verifypeer = 64,      // long
  ssl_verifyhost = 81,      // long
  buffersize = 98,          // long
  nosignal = 99,            // long
  httpauth = 107,           // long
  connecttimeout_ms = 156,  // long
  protocols = 181,          // long
  path_as_is = 234,         // long
  writedata = 10001,        // void*
  url = 10002,              // const char*, as all below
  errorbuffer = 10010,      // char*
  httpheader = 10023,       // List*
  headerdata = 10029,       // void*
  cainfo = 10065,
  netrc_file = 10118,
  username = 10173,
  password = 10174,
  xoauth2_bearer = 10220,
  aws_sigv4 = 10305,
  writefunction = 20011,   // size_t (*)(char*, size_t, size_t, void*)
  headerfunction = 20079,  // size_t (*)(char*, size_t, size_t, void*)
};

inline constexpr long netrc_optional = 1;
inline constexpr long auth_basic = 1;
inline constexpr long auth_bearer = 64;
inline constexpr long sslversion_tlsv1_2 = 6;
inline constexpr long proto_http_and_https = 3;
inline constexpr long global_default = 3;
inline constexpr std::size_t error_size = 256;

/// CURLUPart.
enum class Part : int { url, scheme, user, password, options, host, port, path, query, fragment };

// Flags of curl_url_get and curl_url_set.
inline constexpr unsigned default_port = 1;
inline constexpr unsigned path_as_is = 16;
inline constexpr unsigned urldecode = 64;
inline constexpr unsigned urlencode = 128;

/// CURLMsg.
struct Message {
  int kind;
  Easy* handle;
  union {
    void* whatever;
    Result result;
  };
};

/// The first version that signs requests as stores expect: 7.85.
inline constexpr unsigned first_that_signs = 0x075500;

/// The first members of curl_version_info_data.
struct VersionInfo {
  int age;
  const char* version;
  unsigned number;
};

/// The functions that are used here, without their prefix `curl_`.
class Functions {
  struct Symbol {
    void* address;
    template <typename Function>
    operator Function*() const noexcept {  // NOLINT(google-explicit-constructor): for the initialisers below
      return reinterpret_cast<Function*>(address);
    }
  };
  [[nodiscard]] Symbol find(const char* name) noexcept;

  void* library_;
  bool is_complete_ = true;

 public:
  explicit Functions(void* library) noexcept : library_(library) {}
  /// True if the library has all functions. If not, the missing ones are null.
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

  VersionInfo* (*version_info)(int age) = find("curl_version_info");
  Result (*global_init)(long flags) = find("curl_global_init");
  void (*free)(void* text) = find("curl_free");
  Easy* (*easy_init)() = find("curl_easy_init");
  Result (*easy_setopt)(Easy* handle, Option option, ...) = find("curl_easy_setopt");
  const char* (*easy_strerror)(Result result) = find("curl_easy_strerror");
  void (*easy_reset)(Easy* handle) = find("curl_easy_reset");
  void (*easy_cleanup)(Easy* handle) = find("curl_easy_cleanup");
  Multi* (*multi_init)() = find("curl_multi_init");
  Result (*multi_add_handle)(Multi* multi, Easy* handle) = find("curl_multi_add_handle");
  Result (*multi_remove_handle)(Multi* multi, Easy* handle) = find("curl_multi_remove_handle");
  Result (*multi_perform)(Multi* multi, int* running) = find("curl_multi_perform");
  Result (*multi_poll)(Multi* multi, void* others, unsigned count, int milliseconds,
                       int* ready) = find("curl_multi_poll");
  Message* (*multi_info_read)(Multi* multi, int* left) = find("curl_multi_info_read");
  Result (*multi_cleanup)(Multi* multi) = find("curl_multi_cleanup");
  List* (*slist_append)(List* list, const char* text) = find("curl_slist_append");
  void (*slist_free_all)(List* list) = find("curl_slist_free_all");
  Url* (*url)() = find("curl_url");
  Result (*url_get)(const Url* url, Part part, char** text, unsigned flags) = find("curl_url_get");
  Result (*url_set)(Url* url, Part part, const char* text, unsigned flags) = find("curl_url_set");
  void (*url_cleanup)(Url* url) = find("curl_url_cleanup");
};

/// Loads libcurl 7.74 or later at the first call. Throws remote.no_libcurl. Safe to call from several threads.
const Functions& functions();

struct Release {
  void operator()(Easy* handle) const noexcept { functions().easy_cleanup(handle); }
  void operator()(Multi* multi) const noexcept { static_cast<void>(functions().multi_cleanup(multi)); }
  void operator()(Url* url) const noexcept { functions().url_cleanup(url); }
  void operator()(List* list) const noexcept { functions().slist_free_all(list); }
  void operator()(char* text) const noexcept { functions().free(text); }
};

/// An object that a function of libcurl made.
template <typename T>
using Owned = std::unique_ptr<T, Release>;

/// Takes ownership. Throws std::bad_alloc, if it is null.
template <typename T>
Owned<T> owned(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return Owned<T>(made);
}

}  // namespace onnxar::curl
