// Archives on a server: read in ranges over HTTP and HTTPS, from S3, or downloaded. In onnxar::remote, which loads
// the system's libcurl (7.74 or later) when it is first used.
//
//   const onnxar::Archive archive = onnxar::Archive::open(onnxar::open_remote("https://host/model.onnxar"));
//
// All bytes that one object gives come from one version of the file, known by ETag, or else by Last-Modified, and size.
// Failed requests are repeated, redirects are followed, TLS is verified.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "onnxar/options.h"

namespace ONNXAR_API onnxar {

/// Access to an object store that speaks S3. Without a key, requests are not signed.
struct S3Options {
  std::string access_key = {};
  std::string secret_key = {};
  std::string session_token = {};
  std::string region = "us-east-1";
  /// Such as `http://127.0.0.1:9000`, with buckets as the first part of the path. Empty: Amazon's, with buckets in the
  /// host.
  std::string endpoint = {};
};

/// Called while servers keep the call waiting, with the host, and for how long less than 1 KiB/s came: after a second,
/// then in steps of at most 100 ms, and at last with 0, when bytes come again or the call ends. It may throw to end the
/// call, except with 0.
using WaitingCallback = std::function<void(std::string_view host, std::chrono::milliseconds waited)>;

struct RemoteOptions {
  std::size_t connections = 8;                       ///< requests at the same time; at least 1
  std::size_t retries = 5;                           ///< of a request that gave no byte
  std::chrono::milliseconds pause{250};              ///< before the first of them; doubles each time
  std::chrono::milliseconds connect_timeout{30000};  ///< including TLS; 0: none
  /// A request that gets less than 1 KiB/s, or no answer, for this long is sent again once; then the error is
  /// remote.timeout. 0: never. A request as a whole has no limit.
  std::chrono::milliseconds stall_timeout{30000};
  WaitingCallback waiting = {};
  std::filesystem::path certificates = {};  ///< trusted ones, in PEM; empty: those of the system
  /// Names and passwords of hosts; empty: ~/.netrc. They are sent to the host of the address only, not after a
  /// redirect.
  std::filesystem::path netrc = {};
  /// Sent as `Authorization: Bearer`, also to the first host only.
  std::string token = {};
  S3Options s3 = {};
};

/// From AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION or AWS_DEFAULT_REGION,
/// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL; CURL_CA_BUNDLE or SSL_CERT_FILE; NETRC. libcurl itself reads the variables
/// of proxies (HTTPS_PROXY, ALL_PROXY, NO_PROXY, http_proxy).
[[nodiscard]] RemoteOptions remote_options_of_environment();

/// Opens the file at an address, and reads its last 256 KiB in the same request. A name and a password may precede the
/// host. Errors: remote.* (.no_ranges: the server sends whole files only); io.not_found, io.permission; when ranges are
/// read also io.changed.
[[nodiscard]] std::shared_ptr<const RandomAccess> open_remote(std::string_view address,
                                                              const RemoteOptions& options = {});

/// Opens addresses, for LoadOptions::open_ranges: gives null for other paths.
[[nodiscard]] RangesOpener remote_files(const RemoteOptions& options = {});

struct GetOptions {
  RemoteOptions remote = {};
  OutputOptions output = {};
  ProgressCallback progress = {};
};

struct GetReport {
  std::uint64_t file_bytes = 0;
  std::uint64_t resumed_bytes = 0;  ///< of these, from an interrupted call
  std::size_t entries = 0;
};

/// Downloads an archive by several requests at once. The file gets its name when the container and the CRC-32 of each
/// entry are verified. An interrupted call leaves `output` as it was, and beside it `.NAME.part` and `.NAME.part.list`,
/// from which the next call for the same version of the file continues. Only their owner may read and write them; a
/// link or a file in their place that others may change is refused. Errors: as open_remote, Archive::open and `verify`;
/// output.exists, io.*; archive.busy (the output is being downloaded or edited).
GetReport get(std::string_view address, const std::filesystem::path& output, const GetOptions& options = {});

}  // namespace ONNXAR_API onnxar
