// Draws a file's bytes in rows, to scale.
#include "html/file_map.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "html/markup.h"

namespace onnxar::tool::html {
namespace {

constexpr double width = 1000;
constexpr double row_height = 26;
constexpr double row_step = 30;
constexpr std::uint64_t most_rows = 12;
constexpr std::size_t most_blocks = 20000;  // above this, invisibly narrow blocks are merged, so that pages stay small
constexpr double narrow = 1;

/// Returns the family of a data type. Blocks of a family share a colour.
std::string_view family(DataType type) {
  switch (type) {
    case DataType::float32:
    case DataType::complex64: return "float32";
    case DataType::float16:
    case DataType::bfloat16: return "float16";
    case DataType::float64:
    case DataType::complex128: return "float64";
    case DataType::float8e4m3fn:
    case DataType::float8e4m3fnuz:
    case DataType::float8e5m2:
    case DataType::float8e5m2fnuz:
    case DataType::float8e8m0: return "float8";
    case DataType::int16:
    case DataType::int32:
    case DataType::int64:
    case DataType::uint16:
    case DataType::uint32:
    case DataType::uint64: return "integer";
    case DataType::int8:
    case DataType::uint8:
    case DataType::boolean: return "byte";
    case DataType::int4:
    case DataType::uint4:
    case DataType::int2:
    case DataType::uint2:
    case DataType::float4e2m1:
    case DataType::float6e2m3:
    case DataType::float6e3m2: return "small";
    case DataType::undefined:
    case DataType::string: break;
  }
  return "other";
}

std::string_view style_of(const FileBlock& block) {
  return block.kind == BlockKind::data ? family(block.type) : to_string(block.kind);
}

/// Returns the block's name in the legend.
std::string label_of(const FileBlock& block) {
  if (block.kind != BlockKind::data) return std::string(to_string(block.kind));
  return block.type == DataType::undefined ? "other data" : to_string(block.type);
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", value);
  return text.data();
}

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string hover_text(const FileBlock& block) {
  const std::string what = block.kind == BlockKind::data ? concat(", ", label_of(block)) : "";
  return concat(escaped_text(block.name), what, ", ", grouped(block.size), " bytes at ", hex(block.offset));
}

class Picture {
 public:
  explicit Picture(const FileMap& map)
      : rows_(std::clamp<std::uint64_t>(map.size / 64, 1, most_rows)),
        bytes_per_row_(std::max<std::uint64_t>(1, (map.size + rows_ - 1) / rows_)) {}

  /// Adds a rectangle for each row that the block covers.
  void add(const FileBlock& block) {
    const std::string title = hover_text(block);
    // A row is a line of the picture, so a block that reaches over its end goes on at the front of the next.
    for (std::uint64_t at = block.offset; at < block.offset + block.size;) {
      const std::uint64_t row = at / bytes_per_row_;
      const std::uint64_t end = std::min(block.offset + block.size, (row + 1) * bytes_per_row_);
      const double x = place(at - row * bytes_per_row_);
      const double wide = place(end - at);
      rectangles_ += concat("<rect class=\"", style_of(block), wide > 3 ? " wide" : "", "\" x=\"", number(x), "\" y=\"",
                            number(static_cast<double>(row) * row_step), "\" width=\"", number(wide), "\" height=\"",
                            number(row_height), "\"><title>", title, "</title></rect>\n");
      at = end;
    }
  }

  [[nodiscard]] bool is_narrow(std::uint64_t bytes) const { return place(bytes) < narrow; }

  [[nodiscard]] std::string svg() const {
    return concat("<svg viewBox=\"0 0 ", number(width), " ", number(static_cast<double>(rows_) * row_step),
                  "\" role=\"img\" aria-label=\"map of the file\">\n", rectangles_, "</svg>\n");
  }

 private:
  [[nodiscard]] double place(std::uint64_t bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(bytes_per_row_) * width;
  }

  std::uint64_t rows_, bytes_per_row_;
  std::string rectangles_;
};

/// Merges a run of invisibly narrow blocks to one block in the style of the largest.
FileBlock as_one(std::span<const FileBlock> run) {
  FileBlock one = *std::ranges::max_element(run, {}, &FileBlock::size);
  // Covers gaps between the blocks, which are narrower than a pixel as well.
  one.offset = run.front().offset;
  one.size = run.back().offset + run.back().size - one.offset;
  one.name = concat(run.size(), " small blocks (the largest: ", one.name, ")");
  return one;
}

std::vector<FileBlock> gathered(const std::vector<FileBlock>& blocks, const Picture& picture) {
  if (blocks.size() <= most_blocks) return blocks;
  std::vector<FileBlock> few;
  for (auto begin = blocks.begin(); begin != blocks.end();) {
    auto end = begin;
    while (end != blocks.end() && picture.is_narrow(end->offset + end->size - begin->offset)) ++end;
    // The loop stops at a block that is wide alone: that one is kept as it is.
    few.push_back(end - begin <= 1 ? *begin : as_one({begin, end}));
    begin = std::max(end, std::next(begin));
  }
  return few;
}

std::string legend(const FileMap& map) {
  struct Row {
    std::string_view style;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
  };
  std::map<std::string, Row> rows;
  // Sums all blocks, not the merged ones: merging must not change the numbers.
  for (const FileBlock& block : map.blocks) {
    Row& row = rows[label_of(block)];
    row.style = style_of(block);
    row.bytes += block.size;
    ++row.blocks;
  }
  std::string text = "<ul class=\"legend\">\n";
  for (const auto& [label, row] : rows) {
    text += concat("<li><i class=\"", row.style, "\"></i>", escaped_text(label), ": ", grouped(row.bytes), " bytes in ",
                   grouped(row.blocks), row.blocks == 1 ? " block" : " blocks", "</li>\n");
  }
  return text + "</ul>\n";
}

}  // namespace

std::string file_map(const FileMap& map) {
  if (map.missing) return "<p>This data file is missing.</p>\n";
  if (map.size == 0) return "<p>This file is empty.</p>\n";
  Picture picture(map);
  for (const FileBlock& block : gathered(map.blocks, picture)) picture.add(block);
  return picture.svg() + legend(map);
}

}  // namespace onnxar::tool::html
