# ./dev remote
#     the tests of archives at addresses, also with an S3 store, which Go builds
local store=$PWD/build/s3/versitygw
need remote "${build_packages[@]}" "${library_packages[@]}" "${python_packages[@]}" nginx-light openssl
if [[ ! -x $store ]]; then
  type -P go > /dev/null || die "versitygw is built by Go 1.25 or later, which Debian 12 does not have: see https://go.dev/dl"
  GOBIN=${store%/*} GOPATH=$PWD/build/s3/go go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
fi
build release
ONNXAR_S3_SERVER=$store ctest --test-dir build/release -L '^remote$'
