# ./dev newcomer [install RELEASE]
#     run the quick start, from its rendered page, in a minimal system that debootstrap makes; needs root; install: install
#     the wheel of a release in a bare Debian 12 and run the program on a bare Debian 11, one command each
((EUID == 0)) || die "newcomer makes the root of a system, so it needs root"
need newcomer debootstrap git
[[ ${1-} != install ]] || { "$python" -B tests/newcomer/install.py "${@:2}"; return; }
run docs
say "the quick start, in build/newcomer/root"
"$python" -B tests/newcomer/play.py "build/docs/site/$("$python" -B tools/release/versions.py)/docs/quickstart.html" build/newcomer
