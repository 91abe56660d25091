// Archives on a server: read by ranges over HTTP and HTTPS, from S3, or downloaded as a whole.
//
// This header belongs to onnxar::remote, which needs libcurl.
//
//   const onnxar::Archive archive = onnxar::Archive::open(onnxar::open_remote("https://host/model.onnxar"));
//
// All bytes that one object gives come from one version of the file: answers are compared with the first one by ETag,
// or else by Last-Modified, and by size. Failed requests are repeated, redirects are followed, TLS is verified.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "onnxar/bytes.h"
#include "onnxar/options.h"
#include "onnxar/random_access.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// Access to an object store that speaks S3. Without a key, requests are not signed.
struct S3Options {
  std::string access_key = {};
  std::string secret_key = {};
  std::string session_token = {};
  std::string region = "us-east-1";
  /// The address of the store, such as `http://127.0.0.1:9000`, in which buckets are the first part of the path. Empty:
  /// Amazon's, in which they are a part of the host.
  std::string endpoint = {};
};

/// Called on the thread of the call while servers keep it waiting: with the host, and for how long less than 1 KiB/s
/// came. The first call is after a second, later ones follow in steps of at most 100 ms, and the last one, with 0,
/// tells that bytes come again or that the call ends. It may throw to end the call, except where the time is 0.
using WaitingCallback = std::function<void(std::string_view host, std::chrono::milliseconds waited)>;

struct RemoteOptions {
  std::size_t connections = 8;                       ///< requests at the same time; at least 1
  std::size_t retries = 5;                           ///< of a request that gave no byte, with growing pauses
  std::chrono::milliseconds pause{250};              ///< before the first of them; doubles each time
  std::chrono::milliseconds connect_timeout{30000};  ///< of a connection, including TLS; 0: none
  /// A request that gets less than 1 KiB/s for this long, or no answer, has failed. It is sent again once; then the
  /// error is remote.timeout. 0: never. A request as a whole has no limit.
  std::chrono::milliseconds stall_timeout{30000};
  WaitingCallback waiting = {};
  /// The certificates that are trusted, in PEM. Empty: those of the system.
  std::filesystem::path certificates = {};
  /// Names and passwords of hosts. Empty: ~/.netrc. They go to the host of the address only, never to where a redirect
  /// leads.
  std::filesystem::path netrc = {};
  /// Sent as `Authorization: Bearer`, likewise.
  std::string token = {};
  S3Options s3 = {};
};

/// Options from the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION or
/// AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL; CURL_CA_BUNDLE or SSL_CERT_FILE; NETRC. Proxies
/// (HTTPS_PROXY, ALL_PROXY, NO_PROXY, http_proxy) are read by libcurl, whatever the options.
[[nodiscard]] RemoteOptions remote_options_of_environment();

/// Opens the file at an address, and reads its last 256 KiB in the same request. A name and a password may precede the
/// host. Errors: remote.address; remote.unreachable; remote.timeout; remote.refused; remote.answer; remote.no_ranges
/// (the server sends whole files only); io.not_found, io.permission; when ranges are read also io.changed (the file is
/// another one by now).
[[nodiscard]] std::shared_ptr<const RandomAccess> open_remote(std::string_view address,
                                                              const RemoteOptions& options = {});

/// Opens addresses, for LoadOptions::open_ranges: gives null for other paths.
[[nodiscard]] RangesOpener remote_files(const RemoteOptions& options = {});

struct GetOptions {
  RemoteOptions remote = {};
  OutputOptions output = {};
  /// Called after each piece that was downloaded, on the thread of the call.
  ProgressCallback progress = {};
};

struct GetReport {
  std::uint64_t file_bytes = 0;
  std::uint64_t resumed_bytes = 0;  ///< of these, from an earlier call that was interrupted
  std::size_t entries = 0;
};

/// Downloads an archive to `output`, by several requests at the same time. The file gets its name when all is proved:
/// the container, and the CRC-32 of each entry, which another thread compares when the entry's last byte came. A call
/// that is interrupted leaves `output` as it was, and beside it the hidden files `.NAME.part` and `.NAME.part.list`;
/// the next call for the same version of the file goes on from there. Errors: as open_remote, Archive::open and
/// `verify`; output.exists, io.*; archive.busy (another call downloads to the same output).
GetReport get(std::string_view address, const std::filesystem::path& output, const GetOptions& options = {});

}  // namespace ONNXAR_API onnxar
