// One line on the terminal that says how far a long operation is.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "onnxar/bytes.h"
#include "shell/report.h"

namespace onnxar::tool {

/// Makes every later report a line of JSON on stderr, for programs: `{"progress":{"done":5,"total":9}}`. The total is 0
/// if it is unknown. Call it before the first thread starts.
void print_progress_as_json() noexcept;

/// Shows on stderr `waiting for HOST  12 s`; with 0, removes it. Shows nothing if stderr is not a terminal. The next
/// report of a ProgressLine replaces it.
void show_waiting(std::string_view host, std::chrono::milliseconds waited);

/// Shows on stderr, after a second: `packing  45%  1.4 GB of 3.1 GB  150.2 MB/s  11 s left`. Shows nothing if stderr is
/// not a terminal, or with `-q`. The destructor removes the line, so make it before and destroy it after the work.
class ProgressLine {
 public:
  /// `doing` is the first word of the line.
  ProgressLine(std::string_view doing, const Verbosity& verbosity);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ProgressLine(ProgressLine&&) = delete;
  ProgressLine& operator=(ProgressLine&&) = delete;
  ~ProgressLine();

  /// Returns a callback for the options of the library; empty if nothing is shown. Must not outlive the line.
  [[nodiscard]] ProgressCallback callback();
  /// Returns a callback for work whose end is unknown.
  void add(std::uint64_t bytes);

 private:
  struct Shown;
  std::unique_ptr<Shown> shown_;  // null if nothing is shown
};

/// Does the work with a line on the terminal that `progress`, a member of its options, updates.
template <typename Work>
auto with_progress(std::string_view doing, const Verbosity& verbosity, ProgressCallback& progress, const Work& work) {
  ProgressLine line(doing, verbosity);
  progress = line.callback();
  return work();
}

}  // namespace onnxar::tool
