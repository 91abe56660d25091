#include "onnxar/remote.h"

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/text.h"
#include "os/names.h"
#include "remote/http_file.h"

namespace onnxar {
namespace {

/// The first of these variables that is set and not empty.
std::string environment(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

}  // namespace

RemoteOptions remote_options_of_environment() {
  RemoteOptions options;
  options.certificates = environment({"CURL_CA_BUNDLE", "SSL_CERT_FILE"});
  options.netrc = environment({"NETRC"});
  options.s3.access_key = environment({"AWS_ACCESS_KEY_ID"});
  options.s3.secret_key = environment({"AWS_SECRET_ACCESS_KEY"});
  options.s3.session_token = environment({"AWS_SESSION_TOKEN"});
  options.s3.endpoint = environment({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  if (std::string region = environment({"AWS_REGION", "AWS_DEFAULT_REGION"}); !region.empty()) {
    options.s3.region = std::move(region);
  }
  return options;
}

std::shared_ptr<const RandomAccess> open_remote(std::string_view address, const RemoteOptions& options) {
  return std::make_shared<const HttpFile>(address, options);
}

RangesOpener remote_files(const RemoteOptions& options) {
  return [options](const std::filesystem::path& path) -> std::shared_ptr<const RandomAccess> {
    const std::string text = os::text_of(path);
    return is_address(text) ? open_remote(text, options) : nullptr;
  };
}

}  // namespace onnxar
