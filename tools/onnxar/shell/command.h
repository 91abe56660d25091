// Options and messages that the verbs share.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "shell/exit_code.h"

namespace onnxar::tool {

/// The type of a value in `--help`. Completions offer files or folders for these.
namespace value_type {
inline constexpr const char* file = "FILE";
inline constexpr const char* folder = "DIR";
}  // namespace value_type

/// Says how much to print on stderr.
struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};

/// Runs a verb, and returns the exit code.
using Action = std::function<int()>;
/// A verb on the command line.
struct Verb {
  CLI::App* app;
  Action run;
};

Verb add_pack(CLI::App& app);
Verb add_unpack(CLI::App& app);
Verb add_ls(CLI::App& app);
Verb add_check(CLI::App& app);
Verb add_cat(CLI::App& app);
Verb add_digest(CLI::App& app);
Verb add_repack(CLI::App& app);
Verb add_replace(CLI::App& app);
Verb add_link(CLI::App& app);
Verb add_recover(CLI::App& app);
Verb add_undo(CLI::App& app);
Verb add_extract(CLI::App& app);
Verb add_get(CLI::App& app);
Verb add_completion(CLI::App& app);
Verb add_help(CLI::App& app);
Verb add_man(CLI::App& app);

// Verbs that need protobuf. A tool without onnxar::model has the refusals of the folder without_model instead.
Verb add_show(CLI::App& app);
Verb add_dump(CLI::App& app);
Verb add_diff(CLI::App& app);
Verb add_freeze(CLI::App& app);

/// Options that several verbs share.
void add_verbosity(CLI::App& verb, Verbosity& verbosity);
/// Adds an option whose value is a path.
CLI::Option* add_path(CLI::App& verb, const std::string& name, std::filesystem::path& path, const std::string& what);
/// Adds a required argument that names a file. Refuses `-`, the standard input.
CLI::Option* add_file(CLI::App& verb, const std::string& name, std::filesystem::path& path, const std::string& what);
/// Adds the argument of verbs that take a model in any form.
void add_model(CLI::App& verb, std::filesystem::path& path);
/// Makes an option that names a file to write refuse `-`, the standard output.
CLI::Option* writes_file(CLI::Option* option);
CLI::Option* add_output(CLI::App& verb, std::filesystem::path& output, const std::string& what);
/// Adds `-o` for verbs that can choose the name of the output themselves.
CLI::Option* add_optional_output(CLI::App& verb, std::filesystem::path& output, const std::string& what);
/// Returns the path of a file, with the ending `from` replaced by `to`. Throws usage.argument if the path does not end
/// so, or is a folder; the user then has to name the output.
std::filesystem::path output_beside(const std::filesystem::path& input, std::string_view from, std::string_view to);
/// Returns the path of an archive beside a folder: NAME.onnxar for NAME, also for a folder named `.` or `NAME/`.
std::filesystem::path output_beside_folder(const std::filesystem::path& folder);
/// Adds an option whose value is one of `words`. `--help` shows the words as its type: `sha1`, `bash|zsh|fish`.
CLI::Option* add_choice(CLI::App& verb, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& what);
void add_save_options(CLI::App& verb, SaveOptions& save);
void add_move_options(CLI::App& verb, std::uint64_t& threshold, bool& attributes, bool& subgraphs, bool& all_sites);
/// Adds the save options that select tensors to move out of the model.
template <typename Options>
void add_move_options(CLI::App& verb, Options& options) {
  add_move_options(verb, options.threshold, options.attributes, options.subgraphs, options.all_sites);
}
/// Adds `-f`, for verbs that may replace an existing output.
CLI::Option* add_overwrite(CLI::App& verb, OutputOptions& output);
/// Adds `-n` and `--no-sync`, and returns them.
std::array<CLI::Option*, 2> add_write_options(CLI::App& verb, OutputOptions& output);
void add_cut_options(CLI::App& verb, OutputOptions& cut);
void add_data_dir(CLI::App& verb, LoadOptions& load);
/// Adds `--model NAME`, which chooses a graph of an archive.
CLI::Option* add_graph(CLI::App& verb, std::string& graph, const std::string& what);
/// Adds `--model NAME`, which chooses graphs of an archive and may be repeated.
void add_graphs(CLI::App& verb, std::vector<std::string>& graphs, const std::string& what);
/// Adds `-j N`; the default 0 means one thread per core.
void add_threads(CLI::App& verb, std::size_t& threads);
/// Adds `--max-expansion N`: the limit for expanded data, in multiples of the input's size.
CLI::Option* add_max_expansion(CLI::App& verb, std::uint64_t& times);
/// Adds an option for a number of bytes, optionally with KiB, MiB, GiB, TiB, KB, MB or GB.
CLI::Option* add_size(CLI::App& verb, const std::string& name, std::uint64_t& value, const std::string& what);

/// Calls `pack` or `unpack`, by the format. An input of `-` is the standard input, whose external data is in the
/// working folder by default.
ConvertReport convert_input(const std::filesystem::path& input, const std::filesystem::path& output,
                            const SaveOptions& save, LoadOptions load);

/// Writes all bytes to the standard output, without a buffer. Throws io.failed; io.changed (the bytes are in a file
/// that was shortened).
void write_to_stdout(Bytes bytes);

int exit_code_of(const Error& error);
/// Prints remarks to stderr: all if verbose, else the first few.
void print_remarks(const std::vector<Finding>& remarks, const Verbosity& verbosity);
/// Prints the state to which an archive was or would be cut back.
void print_cut(const EarlierState& state, bool dry_run, const std::filesystem::path& archive);

}  // namespace onnxar::tool
