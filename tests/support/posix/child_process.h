// Runs a part of a test in a child process, which can give up rights and mounts.
#pragma once

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <iostream>

namespace onnxar::testing {

/// The child's exit codes: the action did what the test expects, and an exception left the action.
inline constexpr int child_passed = 0;
inline constexpr int child_threw = 254;

/// Runs `action` (which returns 0 to 253) in a forked child and returns that number; -1 if the child was killed.
template <typename Action>
int in_child(const Action& action) {
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child == 0) {
    int code = child_threw;
    try {
      code = action();
    } catch (const std::exception& error) {
      std::cerr << "child: " << error.what() << '\n';
    }
    ::_exit(code);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Runs `action` in a child as a user to whom permissions apply: root becomes `nobody`, other users do not change.
template <typename Action>
int as_ordinary_user(const Action& action) {
  return in_child([&action] {
    constexpr uid_t nobody = 65534;
    const bool root = ::geteuid() == 0;
    if (root && (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0)) return child_threw;
    return action();
  });
}

}  // namespace onnxar::testing
