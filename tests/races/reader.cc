// Reads one archive again and again while others edit it, and prints a line of JSON for each try.
//
// Usage: onnxar_race_reader ARCHIVE SECONDS mapped|copied
//
// The states of the archive are those that races_test.py writes. Each has a serial number, which its model, its newest
// weight and its side files repeat. A line has one of these forms; times are nanoseconds of the steady clock:
//   {"began":B,"ended":E,"serial":7,"weights":["w0","w7"]}   all parts were of state 7
//   {"began":B,"ended":E,"code":"archive.busy"}              the library refused
//   {"began":B,"ended":E,"wrong":"..."}                      the parts were not of one state
//   {"began":B,"ended":E,"signal":7}                         the reader died of a signal
//
// Each try is a process of its own, because `undo` shortens the file, and a mapping of it may then raise SIGBUS.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/tensors.h"

namespace {

using onnxar::Archive;

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect(bool holds, const std::string& otherwise) {
  if (!holds) throw Wrong(otherwise);
}

// --- The states, as races_test.py writes them ------------------------------------------------------------------------

std::string text_of(std::uint64_t serial) { return "serial " + std::to_string(serial) + ";"; }

/// The bytes of the weight that state `serial` added.
std::string weight_of(std::uint64_t serial) {
  constexpr std::array<std::size_t, 3> counts = {130, 1000, 26000};
  std::string bytes;
  for (std::size_t i = 0; i < counts[serial % counts.size()]; ++i) {
    for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(serial >> shift & 0xFFU);
  }
  return bytes;
}

bool repeats(std::string_view bytes, std::string_view text) {
  if (bytes.empty() || bytes.size() % text.size() != 0) return false;
  for (std::size_t at = 0; at < bytes.size(); at += text.size()) {
    if (bytes.substr(at, text.size()) != text) return false;
  }
  return true;
}

/// The serial number that the model repeats.
std::uint64_t serial_in(std::string_view model) {
  constexpr std::string_view begin = "serial ";
  const std::size_t first = model.find(begin);
  expect(first != std::string_view::npos, "the model has no serial number");
  const std::uint64_t serial = std::strtoull(model.data() + first + begin.size(), nullptr, 10);
  const std::string text = text_of(serial);
  std::size_t found = 0;
  for (std::size_t at = first; at != std::string_view::npos; at = model.find(begin, at + 1), ++found) {
    expect(model.substr(at, text.size()) == text, "the model has several serial numbers, first " + text);
  }
  expect(found > 1, "the model has its serial number once");
  return serial;
}

// --- One try ---------------------------------------------------------------------------------------------------------

/// A copy of the entry, whose CRC-32 was compared.
std::string copy_of(const Archive& archive, std::string_view name) {
  const auto entry = archive.find(name);
  expect(entry.has_value(), "there is no entry " + std::string(name));
  std::string copy(entry->size, '\0');
  onnxar::read_entry(archive, *entry, std::as_writable_bytes(std::span(copy)));
  return copy;
}

void expect_side_file(const Archive& archive, std::string_view name, std::uint64_t serial) {
  expect(repeats(copy_of(archive, name), text_of(serial)), std::string(name) + " is not of " + text_of(serial));
}

/// Looks at every part of the state. Only copies are compared: the bytes of a mapping may change.
std::uint64_t serial_of(const Archive& archive, const std::vector<std::string>& weights) {
  const std::uint64_t serial = serial_in(copy_of(archive, onnxar::model_entry_name));
  const std::string own = "w" + std::to_string(serial);
  expect(!weights.empty() && weights.back() == own, "the newest weight is not " + own);
  expect(copy_of(archive, own) == weight_of(serial), "other bytes in " + own);
  const std::string base = copy_of(archive, "base");
  expect(base.size() == 20000 && repeats(base, "base"), "other bytes in the base weight");
  expect_side_file(archive, "state.txt", serial);
  const bool has_extra = archive.find("extra.txt").has_value();
  expect(has_extra == (serial % 2 == 0), has_extra ? "extra.txt is of another state" : "extra.txt is missing");
  if (has_extra) expect_side_file(archive, "extra.txt", serial);
  return serial;
}

/// An archive that was copied into memory is used as a runtime does.
void expect_tensor(const Archive& archive, std::uint64_t serial) {
  const std::string expected = weight_of(serial);
  const onnxar::TensorIndex tensors(archive);
  const auto* tensor = tensors.find("w" + std::to_string(serial));
  expect(tensor != nullptr, "the model does not have its own tensor");
  const onnxar::ByteSpan data = onnxar::tensor_data(archive, *tensor);
  expect(std::ranges::equal(data.bytes(), onnxar::as_bytes(expected)), "the tensor has other bytes");
}

std::string read_once(const std::string& path, bool copied) {
  try {
    const Archive archive = Archive::open(path, {.copy_in = copied, .threads = 1});
    std::vector<std::string> weights;
    for (const onnxar::ArchiveEntry& entry : archive.entries()) {
      if (entry.name.front() == 'w') weights.emplace_back(entry.name);
    }
    const std::uint64_t serial = serial_of(archive, weights);
    if (copied) expect_tensor(archive, serial);
    std::string list;
    for (const std::string& name : weights) list += (list.empty() ? "\"" : ",\"") + name + '"';
    return "\"serial\":" + std::to_string(serial) + ",\"weights\":[" + list + ']';
  } catch (const onnxar::Error& error) {
    return "\"code\":\"" + std::string(id(error.code())) + '"';
  } catch (const Wrong& wrong) {
    return "\"wrong\":\"" + std::string(wrong.what()) + '"';
  }
}

// --- All tries -------------------------------------------------------------------------------------------------------

using Clock = std::chrono::steady_clock;

std::string now() { return std::to_string(Clock::now().time_since_epoch() / std::chrono::nanoseconds(1)); }

void print(const std::string& began, const std::string& result) {
  std::cout << "{\"began\":" << began << ",\"ended\":" << now() << ',' << result << "}\n" << std::flush;
}

void try_once(const std::string& path, bool copied) {
  const std::string began = now();
  const pid_t child = fork();
  expect(child >= 0, "cannot fork");
  if (child == 0) {
    print(began, read_once(path, copied));
    std::_Exit(0);
  }
  int status = 0;
  expect(waitpid(child, &status, 0) == child, "cannot wait");
  if (WIFSIGNALED(status)) print(began, "\"signal\":" + std::to_string(WTERMSIG(status)));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) print(began, "\"wrong\":\"the reader ended with an error\"");
}

}  // namespace

int main(int count, char** arguments) try {
  expect(count == 4, "usage: onnxar_race_reader ARCHIVE SECONDS mapped|copied");
  const rlimit no_cores{};
  setrlimit(RLIMIT_CORE, &no_cores);
  std::signal(SIGBUS, SIG_DFL);  // AddressSanitizer handles it otherwise
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(arguments[2]));
  while (Clock::now() < end) try_once(arguments[1], std::string_view(arguments[3]) == "copied");
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
