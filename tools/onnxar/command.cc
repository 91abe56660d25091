#include "command.h"

#include <array>
#include <cstdio>
#include <iostream>

namespace onnxar::tool {

void add_verbosity(CLI::App& verb, Verbosity& verbosity) {
  auto* quiet = verb.add_flag("-q,--quiet", verbosity.quiet, "Say nothing but errors");
  verb.add_flag("-v,--verbose", verbosity.verbose, "Say all remarks")->excludes(quiet);
}

void add_output(CLI::App& verb, std::filesystem::path& output, const std::string& what) {
  verb.add_option("-o,--output", output, what)->required()->type_name("FILE");
}

CLI::Option* add_size(CLI::App& verb, const std::string& name, std::uint64_t& value, const std::string& what) {
  return verb.add_option(name, value, what)->transform(CLI::AsSizeValue(true))->type_name("BYTES");
}

void add_save_options(CLI::App& verb, SaveOptions& save) {
  add_size(verb, "--align", save.alignment, "Begin weights at multiples of this, a power of two")
      ->capture_default_str();
  add_size(verb, "--threshold", save.raw_data_threshold, "Move tensors of at least this many bytes out of the model")
      ->capture_default_str();
  verb.add_flag("!--no-attributes", save.attributes, "Leave tensors in node attributes where they are");
  verb.add_flag(
      "--all-sites", save.all_sites,
      "Move sparse values, function attribute defaults and training info out, too (current onnx does not load "
      "those)");
  verb.add_flag("-f,--force", save.replace, "Replace an output that exists");
  verb.add_flag("-n,--dry-run", save.dry_run, "Plan and report, write nothing");
  verb.add_flag("!--no-sync", save.sync, "Do not wait until the disk has it");
}

void add_data_dir(CLI::App& verb, LoadOptions& load) {
  verb.add_option("--data-dir", load.external_data_dir, "Look for external data here, not in the model's folder")
      ->type_name("DIR");
}

int exit_code_of(const Error& error) {
  switch (kind(error.code())) {
    case Kind::usage: return exit_code::usage;
    case Kind::io: return exit_code::io;
    case Kind::format:
    case Kind::remark: return exit_code::format;
  }
  return exit_code::format;
}

std::string short_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units = {"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units.at(unit));
  return text.data();
}

void print_remarks(const std::vector<Finding>& remarks, const Verbosity& verbosity) {
  constexpr std::size_t few = 10;
  if (verbosity.quiet) return;
  const std::size_t shown = verbosity.verbose ? remarks.size() : std::min(remarks.size(), few);
  for (std::size_t i = 0; i < shown; ++i) std::cerr << "onnxar: " << to_string(remarks[i]) << '\n';
  if (shown < remarks.size()) std::cerr << "onnxar: ... and " << remarks.size() - shown << " more (-v shows them)\n";
}

}  // namespace onnxar::tool
