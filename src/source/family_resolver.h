// Resolves the links of several models that go into one archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "source/resolver.h"
#include "tensors/graph_entries.h"

namespace onnxar {

// Checks rules G of the specification: what graphs of an archive must hold beyond the rules for a model.

/// A breach in `metadata_props`. `offset` is the field's, from the graph's first byte.
struct MetadataFault {
  Code code;
  std::string message;
  std::uint64_t offset = 0;
};

/// Checks G3: a graph is not a link. Errors: wire.*.
std::optional<MetadataFault> link_marker_fault(Bytes graph);

/// Says why no graph can have this name (G1, N1 to N17); nothing if one can.
std::optional<std::string> graph_name_fault(const std::string& name);

/// The names of the entries of an archive, by index.
struct EntryNames {
  std::size_t count = 0;
  std::function<std::string_view(std::size_t)> name_of;
};

/// Checks G4: the model has at most one name, and its name clashes with none of `names`. Errors: wire.*. Cost: O(fields
/// of ModelProto itself), and O(entries) if the model has a name.
std::optional<MetadataFault> model_name_fault(Bytes model, const EntryNames& names);

/// Refuses a model whose name breaks G4 in an archive with entries of these names. `names` need not hold the keys of
/// tensors, as a key never ends in `.onnx`. Errors: archive.graph.name, with `advice`; wire.*.
void expect_free_model_name(Bytes model, std::span<const std::string_view> names, const std::filesystem::path& archive,
                            const Advice& advice = {});

/// All names that the model gives itself, in the order of the file. Errors: wire.*.
std::vector<std::string> model_names_of(Bytes model);

/// The first name of the model, if a file can have it. Errors: wire.*.
std::optional<std::string> model_name_of(Bytes model);

/// One of several models: its name among the graphs, without `.onnx`, and its source.
struct FamilyMember {
  std::string name;
  std::unique_ptr<Resolver> source;
};

/// The first member is the model. The others are graphs, and so are the graphs of members that are archives. Each link
/// leads where the member of the selected graph finds it.
class FamilyResolver final : public Resolver {
 public:
  /// Selects the model. REQUIRES: there is a member. Errors: usage.argument (two graphs have one name apart from ASCII
  /// case, or a name that no graph can have).
  FamilyResolver(std::vector<FamilyMember> members, const LoadOptions& options);

  /// The name of the first member.
  [[nodiscard]] const std::string& model_name() const noexcept { return members_.front().name; }
  /// Names the graph, as remarks about models have no path.
  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const override;
  [[nodiscard]] Error with_place(const Error& error) const override { return selected().with_place(error); }
  [[nodiscard]] std::uint64_t input_size() const override;
  [[nodiscard]] std::vector<std::string> graphs() const override;
  void select_graph(const std::string& name) override;
  void select_model() override;
  [[nodiscard]] std::vector<Finding> remarks() const override;
  /// The data files that links of all members led to so far, by name in the folder of the member.
  [[nodiscard]] base::KeyedSet<std::string> data_files() const;
  /// Errors: usage.argument (two members have different side files of one name); those of reading such files.
  [[nodiscard]] SourceCompanions companions() override;

 private:
  /// A graph: the member it belongs to, and its name there; empty for the model of the member.
  struct Graph {
    std::string name;  ///< `decoder.onnx`
    std::size_t member = 0;
    std::string name_in_member;
  };

  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  void note_kept(const onnx::TensorSite& site) const override { selected().note_kept(site); }
  void add(Graph graph);
  void select(std::size_t index);
  [[nodiscard]] const Graph& graph() const noexcept { return graphs_[selected_]; }
  [[nodiscard]] Resolver& selected() const noexcept { return *members_[graph().member].source; }

  std::vector<FamilyMember> members_;
  std::vector<Graph> graphs_;                         // the model first
  base::KeyedMap<std::string, std::size_t> by_name_;  // in small letters
  std::size_t selected_ = 0;                          // of `graphs_`
};

}  // namespace onnxar
