// Reads archives on a server in ranges, over HTTP and HTTPS or from S3, or downloads them. In onnxar::remote, which
// loads the system's libcurl (7.74 or later) at its first use.
//
//   const onnxar::Archive archive = onnxar::Archive::open(onnxar::open_remote("https://host/model.onnxar"));
//
// All bytes that one object reads come from one version of the file, identified by its ETag, or by Last-Modified and
// size. Failed requests are repeated, redirects are followed, TLS is verified. Threads: calls are independent of each
// other, and options are only read. Threads may share an archive; one at a time reads its file and calls `waiting`.
#pragma once

#include <chrono>

#include "onnxar/archive.h"
#include "onnxar/options.h"

namespace ONNXAR_API onnxar {

/// Access to an S3 object store. Without a key, requests are not signed.
struct S3Options {
  std::string access_key = {};
  std::string secret_key = {};
  std::string session_token = {};
  std::string region = "us-east-1";
  /// Address, such as `http://127.0.0.1:9000`: buckets begin the path. Empty: Amazon's, with buckets in the host name.
  std::string endpoint = {};
};

/// Called while a server is slow, with the host and the time spent below 1 KiB/s: after a second, then at least every
/// 100 ms. Called with 0 when data flows again or the call ends. It may throw to end the call, except with 0.
using WaitingCallback = std::function<void(std::string_view host, std::chrono::milliseconds waited)>;

struct RemoteOptions {
  std::size_t connections = 8;                       ///< requests at the same time; at least 1
  std::size_t retries = 5;                           ///< of a request that received less than 64 KiB
  std::chrono::milliseconds pause{250};              ///< before the first retry; doubles each time
  std::chrono::milliseconds connect_timeout{30000};  ///< including TLS; 0: none
  /// A request that gets no answer, or less than 1 KiB/s, for this long is repeated once; then the error is
  /// remote.timeout. 0: no limit. The total time of a request has no limit.
  std::chrono::milliseconds stall_timeout{30000};
  WaitingCallback waiting = {};
  std::filesystem::path certificates = {};  ///< trusted certificates, in PEM; empty: those of the system
  /// Names and passwords of hosts; empty: ~/.netrc. Sent only to the host of the address, not after a redirect.
  std::filesystem::path netrc = {};
  /// Sent as `Authorization: Bearer`, only to the host of the address, in place of what `netrc` has for it; not if the
  /// address has a user name.
  std::string token = {};
  S3Options s3 = {};
};

/// Returns the options that these variables set: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
/// AWS_REGION or AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL; CURL_CA_BUNDLE or SSL_CERT_FILE; NETRC;
/// ONNXAR_TOKEN. libcurl itself reads the variables of proxies (HTTPS_PROXY, ALL_PROXY, NO_PROXY, http_proxy).
[[nodiscard]] RemoteOptions remote_options_of_environment();

/// Opens the file at an address, and reads its last 256 KiB in the same request. A name and a password may precede the
/// host. Throws remote.* (.no_ranges: the server sends only whole files); io.not_found, io.permission. Reading ranges
/// also throws io.changed. Cost: one request; opening an archive in the file takes at most two more.
[[nodiscard]] std::shared_ptr<const RandomAccess> open_remote(std::string_view address,
                                                              const RemoteOptions& options = {});

/// Returns an opener of addresses for LoadOptions::open_ranges, which returns null for other paths.
[[nodiscard]] RangesOpener remote_files(const RemoteOptions& options = {});

struct GetOptions {
  RemoteOptions remote = {};
  OutputOptions output = {};
  ProgressCallback progress = {};
  /// Archives on this machine, whose entries of the same size and CRC-32 are copied, or share blocks where the file
  /// system can. With OutputOptions::overwrite, also the replaced file, if it is an archive.
  std::vector<std::filesystem::path> reuse = {};
  /// Graphs, as LoadOptions::graph and its further_graphs. Downloads only what `pack` of the address with these would
  /// read, in few requests, and writes the same bytes as `pack` does. Empty: the whole archive.
  std::vector<std::string> graphs = {};
  /// The expected digest of the content (Digest::hex); empty: any. If it differs, the entries that were copied are
  /// downloaded once; if it still differs, the error is remote.answer.
  std::string digest = {};
};

struct GetReport {
  std::uint64_t file_bytes = 0;     ///< of the output
  std::uint64_t remote_bytes = 0;   ///< of the file on the server
  std::uint64_t resumed_bytes = 0;  ///< from an interrupted call
  std::size_t entries = 0;
  std::uint64_t reused_bytes = 0;      ///< of the file, from GetOptions::reuse
  std::uint64_t downloaded_bytes = 0;  ///< what the server sent; in a dry run, what it would have to send
};

/// Describes an entry of a new version of an archive.
struct UpdatedEntry {
  std::string name;
  std::uint64_t bytes = 0;
  bool reused = false;  ///< the old version has an entry of the same size and CRC-32
};

/// Lists what an update of an archive transfers.
struct UpdatePlan {
  std::vector<UpdatedEntry> entries = {};  ///< of the new version, in the order of the file
  std::uint64_t file_bytes = 0;            ///< of the new version
  std::uint64_t downloaded_bytes = 0;      ///< with the directory and all headers
};

/// Returns what `get` downloads of `after` if GetOptions::reuse has `before`. Cost: O(entries * log entries).
[[nodiscard]] UpdatePlan plan_update(const Archive& before, const Archive& after);

/// Downloads an archive with several concurrent requests. The output has the bytes of the server's file, and gets its
/// name when the container and the CRC-32 of each entry are verified. An interrupted call leaves `output` unchanged,
/// and beside it `.NAME.part` and `.NAME.part.list`, with which the next call for the same version of the file
/// continues. Only their owner can read and write these files; if one of them is a symbolic link, or others may change
/// it, it is refused. Throws what open_remote, Archive::open and `verify` throw; output.exists, io.* (.changed: also if
/// a file of `reuse` was changed meanwhile); archive.busy (the output is being downloaded or edited). Cost: O(bytes).
GetReport get(std::string_view address, const std::filesystem::path& output, const GetOptions& options = {});

}  // namespace ONNXAR_API onnxar
