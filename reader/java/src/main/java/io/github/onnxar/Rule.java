// The rules of the format, and the code that a breach of each has.
package io.github.onnxar;

/** A rule of the specification. */
enum Rule {
  E1("zip.end.missing"), E2("zip.end.not_last"), E3("zip.end.comment"), E4("zip.end.multi_disk"),
  E5("zip.zip64.locator"), E6("zip.zip64.record"), E7("zip.zip64.disagree"), E8("zip.end.directory_bounds"),
  E9("zip.directory.empty"), E10("zip.directory.count"), E11("zip.limit.entries"), E12("zip.limit.directory"),
  D1("zip.directory.header"), D2("zip.entry.encrypted"), D3("zip.entry.descriptor"), D4("zip.entry.flags"),
  D5("zip.entry.method"), D6("zip.entry.version"), D7("zip.entry.disk"), D8("zip.entry.comment"),
  D9("zip.entry.attributes"), D10("zip.extra.malformed"), D11("zip.extra.unknown"), D12("zip.extra.duplicate"),
  D13("zip.zip64.extra"), D14("zip.entry.sizes"), D15("zip.entry.empty_crc"), D16("zip.extra.alignment"),
  N1("zip.name.empty"), N2("zip.name.too_long"), N6("zip.name.absolute"), N8("zip.name.directory"),
  N9("zip.name.part"), N10("zip.name.duplicate"), N11("zip.name.folded"), N12("zip.name.prefix"),
  N13("archive.name.reserved"), N14("zip.name.character"), N15("zip.name.part_too_long"), N16("zip.name.part_end"),
  N17("zip.name.device"),
  P1("zip.entry.first_offset"), P2("zip.entry.order"), P3("zip.entry.overlap"), P4("zip.entry.bounds"),
  P5("zip.entry.gap"), P6("archive.model.missing"), P7("archive.model.not_last"), P8("archive.model.too_large"),
  L1("zip.local.header"), L2("zip.local.name"), L3("zip.local.field"), L4("zip.extra.malformed"),
  L5("zip.extra.unknown"), L6("zip.extra.duplicate"), L7("zip.zip64.extra"), L8("zip.local.size"),
  L10("zip.padding.record"), L11("zip.padding.alignment"), L12("zip.padding.alignment"), L13("zip.entry.version"),
  L14("zip.extra.alignment"), L15("zip.local.header"),
  T1("zip.data.crc"),
  M1("onnx.model.invalid"), M2("wire.truncated"), M3("wire.varint"), M4("wire.tag"), M5("wire.type"),
  M6("wire.depth"), M7("wire.repeated_message"), M8("onnx.external_data.no_location"),
  M9("onnx.external_data.missing"), M10("onnx.external_data.duplicate_key"), M11("onnx.external_data.bad_offset"),
  M12("onnx.external_data.bad_length"), M13("onnx.external_data.out_of_range"), M14("onnx.external_data.marker"),
  M15("onnx.external.string"), M16("onnx.external.data_beside"), M17("onnx.tensor.dims"), M18("onnx.tensor.length"),
  M19("onnx.tensor.no_type"), M20("onnx.tensor.data_beside"), M21("onnx.tensor.wrong_field"),
  G2("archive.model.too_large"), G3("archive.graph.link_marker"), G4("archive.graph.name"),
  G6("archive.graph.shadow"),
  T2("archive.tail.prefix");

  private final String code;

  Rule(String code) { this.code = code; }

  /** Returns the error for a breach at an offset of the file. {@code entry} is empty if no entry is to be named. */
  ArchiveException broken(long offset, String entry) {
    return new ArchiveException(code, name(), entry, offset, "the file breaks rule " + name() + " of the format");
  }

  /** Throws the error unless the rule is obeyed. */
  void require(boolean isObeyed, long offset, String entry) throws ArchiveException {
    if (!isObeyed) throw broken(offset, entry);
  }
}
