// Adds options to the parser, and checks their values.
#include "shell/options.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "shell/paths.h"

namespace onnxar::tool {

namespace {

CLI::Option* add_no_sync(CLI::App& verb, OutputOptions& output) {
  return verb.add_flag("!--no-sync", output.sync, "Do not wait for the disk");
}

/// Replaces `4KiB`, in any case, by `4096`. Returns an error text if the text is not a size. CLI11's own validator
/// would wrap negative numbers.
std::string size_in_bytes(std::string& text) {
  using Unit = std::pair<std::string_view, std::uint64_t>;
  constexpr std::array<Unit, 9> units = {{{"", 1},
                                          {"b", 1},
                                          {"kb", 1000},
                                          {"mb", 1000000},
                                          {"gb", 1000000000},
                                          {"kib", 1ULL << 10U},
                                          {"mib", 1ULL << 20U},
                                          {"gib", 1ULL << 30U},
                                          {"tib", 1ULL << 40U}}};
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, number);
  const std::string name = CLI::detail::to_lower({end, last});
  const auto* unit = std::ranges::find(units, name, &Unit::first);
  if (failed != std::errc() || unit == units.end() ||
      number > std::numeric_limits<std::uint64_t>::max() / unit->second) {
    return "`" + escaped(text) + "` is not a number of bytes, such as 4096, 64KiB, 1MiB or 1MB";
  }
  text = std::to_string(number * unit->second);
  return {};
}

}  // namespace

void add_verbosity(CLI::App& verb, Verbosity& verbosity) {
  auto* quiet = verb.add_flag("-q,--quiet", verbosity.quiet, "Print only errors");
  verb.add_flag("-v,--verbose", verbosity.verbose, "Print all remarks")->excludes(quiet);
}

// CLI11 would make the path of the bytes, which are not the encoding of paths on Windows.
CLI::Option* add_path(CLI::App& verb, const std::string& name, std::filesystem::path& path, const std::string& what) {
  return verb.add_option_function<std::string>(name, [&path](const std::string& text) { path = path_of(text); }, what);
}

CLI::Option* add_file(CLI::App& verb, const std::string& name, std::filesystem::path& path, const std::string& what) {
  const auto refuse_stdin = [](const std::string& text) {
    return text != "-" ? std::string()
                       : "only `pack` and `unpack` read the standard input: write it to a file first; ./- is a file "
                         "named -";
  };
  return add_path(verb, name, path, what)
      ->required()
      ->type_name(value_type::file)
      ->check(CLI::Validator(refuse_stdin, ""));
}

void add_model(CLI::App& verb, std::filesystem::path& path, const std::string& name) {
  add_file(verb, name, path, "An archive, a .onnx file, or a model as text");
}

CLI::Option* writes_file(CLI::Option* option) {
  const auto refuse_stdout = [](const std::string& name) {
    return name != "-"
               ? std::string()
               : "the output must be a file, because it appears complete or not at all; `onnxar dump --with-data` "
                 "prints a model as text, `onnxar cat` prints one entry; write ./- for a file named -";
  };
  // The empty description keeps the validator out of `--help`.
  return option->type_name(value_type::file)->check(CLI::Validator(refuse_stdout, ""));
}

CLI::Option* add_output(CLI::App& verb, std::filesystem::path& output, const std::string& what) {
  return add_optional_output(verb, output, what)->required();
}

CLI::Option* add_optional_output(CLI::App& verb, std::filesystem::path& output, const std::string& what) {
  return writes_file(add_path(verb, "-o,--output", output, what));
}

std::filesystem::path output_beside(const std::filesystem::path& input, std::string_view from, std::string_view to) {
  const std::string name = utf8_of(input);
  const bool is_address = name.find("://") != std::string::npos;
  if (CLI::detail::to_lower(utf8_of(input.extension())) != from || is_address || is_directory(input)) {
    throw Error(Code::usage_argument, "--output FILE is needed: only for a single file NAME" + std::string(from) +
                                          " it defaults to NAME" + std::string(to) + " beside it");
  }
  return std::filesystem::path(input).replace_extension(to);
}

std::filesystem::path output_beside_folder(const std::filesystem::path& folder) {
  std::filesystem::path path = folder.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path.empty() || path.filename() == "." || path.filename() == "..") path = canonical(folder);
  if (!path.has_filename()) throw Error(Code::usage_argument, "--output FILE is needed, as the folder has no name");
  return path += ".onnxar";
}

CLI::Option* add_choice(CLI::App& verb, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& what) {
  return verb.add_option(name, value, what)
      ->check(CLI::Validator(CLI::IsMember(words)).description(""))
      ->type_name(CLI::detail::join(words, "|"));
}

CLI::Option* add_size(CLI::App& verb, const std::string& name, std::uint64_t& value, const std::string& what) {
  return verb.add_option(name, value, what)->transform(CLI::Validator(size_in_bytes, "", "size"))->type_name("BYTES");
}

void add_save_options(CLI::App& verb, SaveOptions& save) {
  add_size(verb, "--align", save.alignment, "Begin weights at multiples of this, a power of two")
      ->capture_default_str();
  add_move_options(verb, save);
  add_overwrite(verb, save.output);
  add_write_options(verb, save.output);
}

CLI::Option* add_graph(CLI::App& verb, std::string& graph, const std::string& what) {
  return verb.add_option("--model", graph, what)->type_name("NAME");
}

void add_graphs(CLI::App& verb, std::vector<std::string>& graphs, const std::string& what) {
  verb.add_option("--model", graphs, what)->type_name("NAME")->allow_extra_args(false);
}

CLI::Option* add_overwrite(CLI::App& verb, OutputOptions& output) {
  return verb.add_flag("-f,--force", output.overwrite, "Replace an existing output");
}

std::array<CLI::Option*, 2> add_write_options(CLI::App& verb, OutputOptions& output) {
  return {verb.add_flag("-n,--dry-run", output.dry_run, "Plan and report, write nothing"), add_no_sync(verb, output)};
}

void add_move_options(CLI::App& verb, std::uint64_t& threshold, bool& attributes, bool& subgraphs, bool& all_sites) {
  add_size(verb, "--threshold", threshold, "Move tensors of at least this many bytes out of the model")
      ->capture_default_str();
  verb.add_flag("!--no-attributes", attributes, "Leave tensors in node attributes where they are");
  verb.add_flag("!--no-subgraphs", subgraphs,
                "Leave tensors in branches and loop bodies (If, Loop, Scan) where they are");
  verb.add_flag(
      "--all-sites", all_sites,
      "Also move sparse values, function attribute defaults and training info out (current onnx does not load them)");
}

void add_cut_options(CLI::App& verb, OutputOptions& cut) {
  verb.add_flag("-n,--dry-run", cut.dry_run, "Report what would be cut off, write nothing");
  add_no_sync(verb, cut);
}

void add_data_dir(CLI::App& verb, LoadOptions& load) {
  add_path(verb, "--data-dir", load.external_data_dir, "Search for external data here, not in the model's folder")
      ->type_name(value_type::folder);
}

void add_threads(CLI::App& verb, std::size_t& threads) {
  constexpr int most = 1024;
  verb.add_option("-j,--threads", threads, "Use at most N threads; default: one per core")
      ->check(CLI::Validator(CLI::Range(1, most)).description(""))
      ->type_name("N");
}

CLI::Option* add_max_expansion(CLI::App& verb, std::uint64_t& times) {
  constexpr std::uint64_t most = 1ULL << 32U;
  return verb
      .add_option("--max-expansion", times, "Expand shared or compressed data to at most N times the size of the input")
      ->check(CLI::Validator(CLI::Range(std::uint64_t{1}, most)).description(""))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace onnxar::tool
