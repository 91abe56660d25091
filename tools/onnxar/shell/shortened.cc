// Ends the command with a message if an input was shortened while it was read.
#include "shell/shortened.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

#include "archive/front_end.h"
#include "os/process.h"
#include "shell/exit_code.h"
#include "shell/hints.h"
#include "shell/paths.h"

namespace onnxar::tool {
namespace {

constexpr std::string_view message = "an input file was shortened while it was read";
constexpr Hint hint = Hint::copy_in;

// Set once, before the handler is installed.
bool is_document = false;

/// Builds a line in a signal handler, in memory that was allocated before.
class Line {
 public:
  Line& add(std::string_view text) noexcept {
    for (const char c : text) add(c);
    return *this;
  }
  /// Appends the content of a JSON string. A path in messages has no control characters.
  Line& quote(std::string_view text) noexcept {
    for (const char c : text) {
      if (c == '"' || c == '\\') add('\\');
      add(c);
    }
    return *this;
  }
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data(), size_}; }

 private:
  void add(char c) noexcept {
    if (size_ < bytes_.size()) bytes_.at(size_++) = c;
  }

  // A path in messages has at most 4096 bytes of a name. Each may be written as four bytes and quoted.
  std::array<char, 40000> bytes_{};
  std::size_t size_ = 0;
};

/// Returns what print_error in main.cc prints for an Error with this path; `path` is empty if it is not known.
void write(std::string_view path) noexcept {
  static constinit Line line;  // not on the stack: the thread that faulted may have little of it left
  const std::string_view advice = words_of(hint);
  if (is_document) {
    line.add(R"({"error":{"code":")").add(id(Code::io_changed)).add(R"(","path":)").add(path.empty() ? "null" : "\"");
    line.quote(path).add(path.empty() ? "" : "\"").add(R"(,"entry":null,"offset":null,"message":")").add(message);
    line.add(R"(","hint":{"id":")").add(id(hint)).add(R"(","value":"","text":")").quote(advice).add("\"}}}\n");
  } else {
    line.add("onnxar: error[").add(id(Code::io_changed)).add("] ").add(path).add(path.empty() ? "" : ": ");
    line.add(message).add("; ").add(advice).add("\n");
  }
  os::write_error(line.text());
}

/// Ends the process. An incomplete output has no name yet, and an edit is cut off, so nothing unfinished is left.
void end(const void* address) {
  static std::atomic_flag ending;
  if (ending.test_and_set()) os::wait_for_the_end();  // several threads may read the file
  write(mapped_file_at(address));
  abandon_edits();
  os::end_at_once(exit_code::io);
}

}  // namespace

void end_where_inputs_are_shortened(bool as_document) noexcept {
  is_document = as_document;
  os::on_mapping_fault(end);
}

Error shortened(Bytes bytes) {
  const std::string path(mapped_file_at(bytes.data()));
  return {Code::io_changed, std::string(message), {}, path_of(path), {hint}};
}

}  // namespace onnxar::tool
