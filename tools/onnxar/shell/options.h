// Adds the options that several verbs share.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"
#include "shell/report.h"

namespace onnxar::tool {

/// The type of a value in `--help`. Completions offer files or folders for these.
namespace value_type {
inline constexpr const char* file = "FILE";
inline constexpr const char* folder = "DIR";
}  // namespace value_type

/// Adds `-q` and `-v`.
void add_verbosity(CLI::App& verb, Verbosity& verbosity);
/// Adds an option whose value is a path.
CLI::Option* add_path(CLI::App& verb, const std::string& name, std::filesystem::path& path, const std::string& what);
/// Adds a required argument that names a file. Refuses `-`, the standard input.
CLI::Option* add_file(CLI::App& verb, const std::string& name, std::filesystem::path& path, const std::string& what);
/// Adds an argument that names a model in any form.
void add_model(CLI::App& verb, std::filesystem::path& path, const std::string& name = "MODEL");
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

}  // namespace onnxar::tool
