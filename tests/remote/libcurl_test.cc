// What remote/libcurl.h declares is what curl's own headers declare.
#include "remote/libcurl.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#if __has_include(<curl/curl.h>)
#include <curl/curl.h>
#endif

namespace onnxar::testing {
namespace {

TEST(Libcurl, IsIncompleteIfItIsNotThere) { EXPECT_FALSE(curl::Functions(nullptr).is_complete()); }

#if __has_include(<curl/curl.h>)

using curl::Option;
using curl::Part;
using curl::Result;

TEST(Libcurl, OptionsHaveTheNumbersOfItsHeaders) {
  constexpr std::pair<Option, CURLoption> pairs[] = {
      {Option::sslversion, CURLOPT_SSLVERSION},
      {Option::netrc, CURLOPT_NETRC},
      {Option::followlocation, CURLOPT_FOLLOWLOCATION},
      {Option::ssl_verifypeer, CURLOPT_SSL_VERIFYPEER},
      {Option::ssl_verifyhost, CURLOPT_SSL_VERIFYHOST},
      {Option::buffersize, CURLOPT_BUFFERSIZE},
      {Option::nosignal, CURLOPT_NOSIGNAL},
      {Option::httpauth, CURLOPT_HTTPAUTH},
      {Option::connecttimeout_ms, CURLOPT_CONNECTTIMEOUT_MS},
      {Option::protocols, static_cast<CURLoption>(181)},  // CURLOPT_PROTOCOLS, which new headers call deprecated
      {Option::path_as_is, CURLOPT_PATH_AS_IS},
      {Option::writedata, CURLOPT_WRITEDATA},
      {Option::url, CURLOPT_URL},
      {Option::errorbuffer, CURLOPT_ERRORBUFFER},
      {Option::httpheader, CURLOPT_HTTPHEADER},
      {Option::headerdata, CURLOPT_HEADERDATA},
      {Option::cainfo, CURLOPT_CAINFO},
      {Option::netrc_file, CURLOPT_NETRC_FILE},
      {Option::username, CURLOPT_USERNAME},
      {Option::password, CURLOPT_PASSWORD},
      {Option::xoauth2_bearer, CURLOPT_XOAUTH2_BEARER},
      {Option::aws_sigv4, CURLOPT_AWS_SIGV4},
      {Option::writefunction, CURLOPT_WRITEFUNCTION},
      {Option::headerfunction, CURLOPT_HEADERFUNCTION},
  };
  for (const auto& [ours, theirs] : pairs) EXPECT_EQ(static_cast<int>(ours), theirs);
}

TEST(Libcurl, ResultsHaveTheNumbersOfItsHeaders) {
  constexpr std::pair<Result, CURLcode> pairs[] = {
      {Result::ok, CURLE_OK},
      {Result::couldnt_resolve_proxy, CURLE_COULDNT_RESOLVE_PROXY},
      {Result::couldnt_resolve_host, CURLE_COULDNT_RESOLVE_HOST},
      {Result::couldnt_connect, CURLE_COULDNT_CONNECT},
      {Result::weird_server_reply, CURLE_WEIRD_SERVER_REPLY},
      {Result::http2, CURLE_HTTP2},
      {Result::partial_file, CURLE_PARTIAL_FILE},
      {Result::out_of_memory, CURLE_OUT_OF_MEMORY},
      {Result::operation_timedout, CURLE_OPERATION_TIMEDOUT},
      {Result::ssl_connect_error, CURLE_SSL_CONNECT_ERROR},
      {Result::got_nothing, CURLE_GOT_NOTHING},
      {Result::send_error, CURLE_SEND_ERROR},
      {Result::recv_error, CURLE_RECV_ERROR},
      {Result::again, CURLE_AGAIN},
      {Result::http2_stream, CURLE_HTTP2_STREAM},
  };
  for (const auto& [ours, theirs] : pairs) EXPECT_EQ(static_cast<int>(ours), theirs);
  EXPECT_EQ(static_cast<int>(Result::ok), CURLM_OK);
  EXPECT_EQ(static_cast<int>(Result::ok), CURLUE_OK);
}

TEST(Libcurl, PartsOfAnAddressHaveTheNumbersOfItsHeaders) {
  constexpr std::pair<Part, CURLUPart> pairs[] = {
      {Part::url, CURLUPART_URL},           {Part::scheme, CURLUPART_SCHEME},   {Part::user, CURLUPART_USER},
      {Part::password, CURLUPART_PASSWORD}, {Part::options, CURLUPART_OPTIONS}, {Part::host, CURLUPART_HOST},
      {Part::port, CURLUPART_PORT},         {Part::path, CURLUPART_PATH},       {Part::query, CURLUPART_QUERY},
      {Part::fragment, CURLUPART_FRAGMENT},
  };
  for (const auto& [ours, theirs] : pairs) EXPECT_EQ(static_cast<int>(ours), theirs);
  EXPECT_EQ(curl::default_port, CURLU_DEFAULT_PORT);
  EXPECT_EQ(curl::path_as_is, CURLU_PATH_AS_IS);
  EXPECT_EQ(curl::urldecode, CURLU_URLDECODE);
  EXPECT_EQ(curl::urlencode, CURLU_URLENCODE);
}

TEST(Libcurl, ValuesOfOptionsAreThoseOfItsHeaders) {
  EXPECT_EQ(curl::netrc_optional, CURL_NETRC_OPTIONAL);
  EXPECT_EQ(curl::auth_basic, static_cast<long>(CURLAUTH_BASIC));
  EXPECT_EQ(curl::auth_bearer, static_cast<long>(CURLAUTH_BEARER));
  EXPECT_EQ(curl::sslversion_tlsv1_2, CURL_SSLVERSION_TLSv1_2);
  EXPECT_EQ(curl::proto_http_and_https, CURLPROTO_HTTP | CURLPROTO_HTTPS);
  EXPECT_EQ(curl::global_default, CURL_GLOBAL_DEFAULT);
  EXPECT_EQ(curl::error_size, std::size_t{CURL_ERROR_SIZE});
}

TEST(Libcurl, StructuresHaveTheLayoutOfItsHeaders) {
  EXPECT_EQ(sizeof(curl::Message), sizeof(CURLMsg));
  EXPECT_EQ(offsetof(curl::Message, handle), offsetof(CURLMsg, easy_handle));
  EXPECT_EQ(offsetof(curl::Message, result), offsetof(CURLMsg, data));
  EXPECT_EQ(offsetof(curl::VersionInfo, version), offsetof(curl_version_info_data, version));
  EXPECT_EQ(offsetof(curl::VersionInfo, number), offsetof(curl_version_info_data, version_num));
}

/// What a function is called with, with an integer for each enumeration and one type for all pointers.
template <typename T>
using Passed = std::conditional_t<std::is_enum_v<T>, int, std::conditional_t<std::is_pointer_v<T>, void*, T>>;
template <typename Function>
struct Shape;
template <typename R, typename... P>
struct Shape<R (*)(P...)> {
  using Type = Passed<R> (*)(Passed<P>...);
};
template <typename R, typename... P>
struct Shape<R (*)(P..., ...)> {
  using Type = Passed<R> (*)(Passed<P>..., ...);
};

template <typename Ours, typename Theirs>
constexpr bool same = std::is_same_v<typename Shape<Ours>::Type, typename Shape<Theirs>::Type>;

static_assert(same<decltype(curl::Functions::version_info), decltype(&::curl_version_info)>);
static_assert(same<decltype(curl::Functions::global_init), decltype(&::curl_global_init)>);
static_assert(same<decltype(curl::Functions::free), decltype(&::curl_free)>);
static_assert(same<decltype(curl::Functions::easy_init), decltype(&::curl_easy_init)>);
static_assert(same<decltype(curl::Functions::easy_setopt), decltype(&(::curl_easy_setopt))>);
static_assert(same<decltype(curl::Functions::easy_strerror), decltype(&::curl_easy_strerror)>);
static_assert(same<decltype(curl::Functions::easy_reset), decltype(&::curl_easy_reset)>);
static_assert(same<decltype(curl::Functions::easy_cleanup), decltype(&::curl_easy_cleanup)>);
static_assert(same<decltype(curl::Functions::multi_init), decltype(&::curl_multi_init)>);
static_assert(same<decltype(curl::Functions::multi_add_handle), decltype(&::curl_multi_add_handle)>);
static_assert(same<decltype(curl::Functions::multi_remove_handle), decltype(&::curl_multi_remove_handle)>);
static_assert(same<decltype(curl::Functions::multi_perform), decltype(&::curl_multi_perform)>);
static_assert(same<decltype(curl::Functions::multi_poll), decltype(&::curl_multi_poll)>);
static_assert(same<decltype(curl::Functions::multi_info_read), decltype(&::curl_multi_info_read)>);
static_assert(same<decltype(curl::Functions::multi_cleanup), decltype(&::curl_multi_cleanup)>);
static_assert(same<decltype(curl::Functions::slist_append), decltype(&::curl_slist_append)>);
static_assert(same<decltype(curl::Functions::slist_free_all), decltype(&::curl_slist_free_all)>);
static_assert(same<decltype(curl::Functions::url), decltype(&::curl_url)>);
static_assert(same<decltype(curl::Functions::url_get), decltype(&::curl_url_get)>);
static_assert(same<decltype(curl::Functions::url_set), decltype(&::curl_url_set)>);
static_assert(same<decltype(curl::Functions::url_cleanup), decltype(&::curl_url_cleanup)>);

#endif

}  // namespace
}  // namespace onnxar::testing
