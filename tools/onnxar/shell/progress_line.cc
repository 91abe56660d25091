// Shows on one line of the terminal how far a long operation is.
#include "shell/progress_line.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>

#include "shell/numbers.h"
#include "shell/terminal.h"

namespace onnxar::tool {
namespace {

using Clock = std::chrono::steady_clock;

bool as_json = false;

/// Returns `8 s`, `3 min 20 s`, `2 h 5 min`.
std::string duration_text(double seconds) {
  constexpr std::uint64_t minute = 60;
  constexpr double most = 1e9;
  if (!(seconds < most)) return "very long";
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < minute) return std::to_string(whole) + " s";
  const bool has_hours = whole >= minute * minute;
  const std::uint64_t unit = has_hours ? minute * minute : minute;
  return std::to_string(whole / unit) + (has_hours ? " h " : " min ") +
         std::to_string(whole % unit / (has_hours ? minute : 1)) + (has_hours ? " min" : " s");
}

std::string progress_text(const std::string& doing, std::uint64_t done, std::uint64_t total, double seconds) {
  const double rate = static_cast<double>(done) / seconds;
  std::string text = doing;
  if (total != 0) text += "  " + std::to_string(static_cast<std::uint64_t>(100.0 * double(done) / double(total))) + "%";
  text += "  " + short_size(done);
  if (total != 0) text += " of " + short_size(total);
  text += "  " + short_size(static_cast<std::uint64_t>(rate)) + "/s";
  if (total != 0 && done != 0) text += "  " + duration_text(static_cast<double>(total - done) / rate) + " left";
  return text;
}

void show(const std::string& text) {
  // A line that fills the last column would wrap, and could then not be removed.
  const std::size_t width = os::terminal_width(os::Stream::error);
  std::cerr << '\r' << (width == 0 ? text : text.substr(0, width - 1)) << "\x1b[K" << std::flush;
}

}  // namespace

void show_waiting(std::string_view host, std::chrono::milliseconds waited) {
  if (as_json || !os::is_terminal(os::Stream::error)) return;
  const auto seconds = std::chrono::duration<double>(waited).count();
  show(waited.count() == 0 ? "" : "waiting for " + escaped(host) + "  " + duration_text(seconds));
}

struct ProgressLine::Shown {
  std::string doing;
  Clock::time_point begin = Clock::now();
  Clock::time_point next = begin + std::chrono::seconds(1);
  std::uint64_t done = 0;
  bool is_there = false;

  void update(std::uint64_t now_done, std::uint64_t total) {
    constexpr std::chrono::milliseconds pause(100);
    done = now_done;
    if (as_json) {
      std::cerr << R"({"progress":{"done":)" << done << R"(,"total":)" << total << "}}\n" << std::flush;
      return;
    }
    const auto now = Clock::now();
    if (now < next) return;
    next = now + pause;
    is_there = true;
    const std::chrono::duration<double> elapsed = now - begin;
    show(progress_text(doing, done, total, elapsed.count()));
  }
};

void print_progress_as_json() noexcept { as_json = true; }

ProgressLine::ProgressLine(std::string_view doing, const Verbosity& verbosity) {
  if (!as_json && (verbosity.quiet || !os::is_terminal(os::Stream::error))) return;
  shown_ = std::make_unique<Shown>();
  shown_->doing = doing;
}

ProgressLine::~ProgressLine() {
  if (shown_ && shown_->is_there) std::cerr << "\r\x1b[K" << std::flush;
}

ProgressCallback ProgressLine::callback() {
  if (!shown_) return {};
  return [this](std::uint64_t done, std::uint64_t total) { shown_->update(done, total); };
}

void ProgressLine::add(std::uint64_t bytes) {
  if (shown_) shown_->update(shown_->done + bytes, 0);
}

}  // namespace onnxar::tool
