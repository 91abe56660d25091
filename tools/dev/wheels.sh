# ./dev wheels [TARGET... | fetch | --list]
#     the source distribution and the wheels for all systems, by zig, into build/release_work/dist; fetch: only download
# ./dev wheels try [DISTRIBUTION...]
#     install the wheels in bare Debian and Ubuntu and with Pythons for musl, run the tests there, upgrade, uninstall
[[ ${1-} != try ]] || { release_tools trial.py "${@:2}"; return; }
release_tools wheels.py "$@"
