// What the verbs have in common: options, messages, exit codes.
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

#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/edit.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar::tool {

namespace exit_code {
inline constexpr int done = 0;
inline constexpr int found = 1;
inline constexpr int usage = 2;
inline constexpr int io = 3;
inline constexpr int format = 4;
/// By number, as `--help` and the manual page word them.
inline constexpr std::array<std::string_view, 5> meanings = {
    "done: clean, aligned, the same",
    "`check` found errors, `repack -c` entries that are not aligned, `diff` a difference",
    "wrong arguments, or the output exists", "a file is missing or busy, permission denied, the disk is full",
    "corrupt or unsupported input"};
}  // namespace exit_code

/// The type of a value in `--help`. Completions offer files or folders for these.
namespace value_type {
inline constexpr const char* file = "FILE";
inline constexpr const char* folder = "DIR";
}  // namespace value_type

/// How much to say on stderr.
struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};

/// A verb: adds itself to the command line and returns its exit code when called.
using Action = std::function<int()>;
struct Verb {
  CLI::App* app;
  Action run;
};

Verb add_pack(CLI::App& app);
Verb add_unpack(CLI::App& app);
Verb add_ls(CLI::App& app);
Verb add_check(CLI::App& app);
Verb add_cat(CLI::App& app);
Verb add_repack(CLI::App& app);
Verb add_replace(CLI::App& app);
Verb add_link(CLI::App& app);
Verb add_recover(CLI::App& app);
Verb add_undo(CLI::App& app);
Verb add_extract(CLI::App& app);
Verb add_completion(CLI::App& app);
Verb add_man(CLI::App& app);

// What needs protobuf: in a tool without onnxar::model (folder without_model) these say so.
Verb add_show(CLI::App& app);
Verb add_dump(CLI::App& app);
Verb add_diff(CLI::App& app);
Verb add_freeze(CLI::App& app);
/// LoadOptions that can read text as well.
LoadOptions load_options();
ConvertReport write_text(const std::filesystem::path& input, const std::filesystem::path& output,
                         const SaveOptions& save, const LoadOptions& load);

/// Options that several verbs share.
void add_verbosity(CLI::App& verb, Verbosity& verbosity);
/// A required argument: a file.
CLI::Option* add_file(CLI::App& verb, const std::string& name, std::filesystem::path& path, const std::string& what);
/// The argument of the verbs that take a model in any form.
void add_model(CLI::App& verb, std::filesystem::path& path);
/// For options that name a file to write: `-`, the standard output, is refused.
void writes_file(CLI::Option* option);
void add_output(CLI::App& verb, std::filesystem::path& output, const std::string& what);
/// An option whose value is one of `words`; `--help` shows them as its type: `sha1`, `bash|zsh|fish`.
CLI::Option* add_choice(CLI::App& verb, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& what);
void add_save_options(CLI::App& verb, SaveOptions& save);
/// The save options that select the tensors to move out of the model, and those that say how to write.
void add_move_options(CLI::App& verb, std::uint64_t& threshold, bool& attributes, bool& all_sites);
void add_write_options(CLI::App& verb, OutputOptions& output);
void add_cut_options(CLI::App& verb, CutOptions& cut);
void add_data_dir(CLI::App& verb, LoadOptions& load);
/// `-j N`; the default 0 means one thread per core.
void add_threads(CLI::App& verb, std::size_t& threads);
/// `--max-expansion N`: the limit of what is made of the input, in multiples of its size.
CLI::Option* add_max_expansion(CLI::App& verb, std::uint64_t& times);
/// A number of bytes, optionally with KiB, MiB, GiB, KB, MB or GB.
CLI::Option* add_size(CLI::App& verb, const std::string& name, std::uint64_t& value, const std::string& what);

/// `convert`; an input of `-` is the standard input, with external data in the working folder if nothing else is said.
ConvertReport convert_input(const std::filesystem::path& input, const std::filesystem::path& output,
                            const SaveOptions& save, LoadOptions load);

/// Writes all bytes to the standard output, without a buffer. Errors: io.failed.
void write_to_stdout(Bytes bytes);

int exit_code_of(const Error& error);
/// `500.1 MB`: for people; exact numbers are in `ls --json`.
std::string short_size(std::uint64_t bytes);
/// `2 side files`
std::string side_files_text(std::uint64_t count);
/// `2 graphs`, for further graphs.
std::string graphs_text(std::uint64_t count);
/// Prints remarks to stderr; only the first few, unless verbose.
void print_remarks(const std::vector<Finding>& remarks, const Verbosity& verbosity);
/// Prints the state to which an archive is, or would be, cut back.
void print_cut(const EarlierState& state, bool dry_run, const std::filesystem::path& archive);

}  // namespace onnxar::tool
