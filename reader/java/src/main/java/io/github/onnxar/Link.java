// Links: models whose external data is the archive's file.
package io.github.onnxar;

import java.io.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** Makes a link (spec/links.md). */
final class Link {
  /** Smaller data is copied into the link (K2). */
  private static final int SMALLEST_LINKED = 128;
  /** Fields of a tensor that a link leaves out: typed data except strings, raw_data and external_data. */
  private static final Set<Integer> DATA_FIELDS = Set.of(4, 5, 7, 9, 10, 11, 13);

  private final Container container;
  private final String file;
  private final long begin;
  private final TensorWalk walk;
  private final Wire wire;
  private final List<Edit> edits = new ArrayList<>();
  private int edited; // how many edits were spliced in
  private long size; // of the link, at most

  /** A TensorProto of the model and its new bytes. */
  private record Edit(int begin, int end, byte[] bytes) {}

  /** Begins a link to the archive at {@code begin} of the file of this name. */
  Link(Container container, Entry graph, String file, long begin) throws ArchiveException {
    this.container = container;
    this.file = file;
    this.begin = begin;
    checkName();
    walk = new TensorWalk(container, graph, this::add);
    wire = walk.wire;
    size = wire.bytes.capacity();
  }

  private void checkName() throws ArchiveException {
    if (file.isEmpty() || file.startsWith("#") || file.matches("(?s).*([/\\\\\0]|\\.\\.).*")) {
      throw refused("usage.argument", "cannot be the location of external data; rename the archive");
    }
    if (container.entries.stream().anyMatch(entry -> entry.name().equalsIgnoreCase(file))) { // K8
      throw refused("usage.own_name", "is also the name of an entry; rename the archive");
    }
    if (begin < 0 || begin % 64 != 0) throw ArchiveException.of("usage.argument", "the offset is not a multiple of 64");
  }

  private ArchiveException refused(String code, String why) {
    return ArchiveException.of(code, "the file name " + ArchiveException.quoted(file) + " " + why);
  }

  /** Returns the serialised ModelProto. */
  byte[] make() throws IOException {
    walk.run();
    Out out = new Out();
    int place = splice(wire.fields(), true, out);
    Out marker = new Out();
    marker.pair(TensorWalk.METADATA_PROPS, "onnxar.link.archive", file);
    if (begin != 0) marker.pair(TensorWalk.METADATA_PROPS, "onnxar.link.offset", Long.toString(begin));
    marker.pair(TensorWalk.METADATA_PROPS, "onnxar.link.size", Long.toString(container.bytes.size));
    String model = Integer.toUnsignedString(container.model().crc32());
    marker.pair(TensorWalk.METADATA_PROPS, "onnxar.link.model_crc32", model);
    int headers = container.bytes.crc32(container.records.directory(), container.records.directorySize());
    marker.pair(TensorWalk.METADATA_PROPS, "onnxar.link.directory_crc32", Integer.toUnsignedString(headers));
    return out.with(place, marker);
  }

  private void add(Tensor tensor) throws ArchiveException {
    if (tensor.kind() != Tensor.Kind.LINKED) return;
    Edit edit = edit(tensor, Integer.MAX_VALUE - size);
    size = Math.min(size + edit.bytes.length, Integer.MAX_VALUE);
    edits.add(edit);
  }

  /** Returns the TensorProto of a link: with the place of its data in the file, or with the data itself (K1, K2). */
  private Edit edit(Tensor tensor, long room) throws ArchiveException {
    int begin = walk.begin;
    int end = begin + tensor.message().capacity();
    boolean isInline = tensor.size() < SMALLEST_LINKED || (isAttribute(tensor.site()) && tensor.output().isEmpty());
    Out added = new Out();
    if (isInline) {
      if (tensor.size() + end - begin > room) {
        String why = "the link would be larger than 2 GiB: too many nodes share the data of an entry";
        throw ArchiveException.of("onnx.model.too_large", why);
      }
      added.bytes(9, Bytes.copy(tensor.data()));
    } else {
      added.pair(13, "location", file);
      added.pair(13, "offset", Long.toString(this.begin + tensor.offset()));
      added.pair(13, "length", Long.toString(tensor.size()));
      added.varint(14 << 3);
      added.varint(1);
    }
    Out out = new Out();
    int place = 0;
    // Fields stay in ascending order, and the last data_location counts.
    for (Wire.Fields part = wire.new Fields(begin, end); part.next(); ) {
      boolean isLocation = part.is(14, Wire.VARINT) && (int) wire.value >>> 1 == 0;
      boolean isExternal = isLocation && (int) wire.value == 1;
      boolean isData = part.type == Wire.BLOCK && DATA_FIELDS.contains((int) part.number);
      if (isExternal || isData) continue;
      out.copy(wire.bytes, part.at, part.to);
      if (part.number < (isInline ? 9 : 13) || (isLocation && !isInline)) place = out.size();
    }
    return new Edit(begin, end, out.with(place, added));
  }

  /** True if the tensor is in an attribute of a node. Runtimes look for external data in those of Constant only. */
  private static boolean isAttribute(String site) {
    int at = site.lastIndexOf(".attribute[");
    return at >= 0 && !site.substring(at).contains("initializer[");
  }

  /** Copies a message with its edits, and returns the place after the last field up to metadata_props. */
  private int splice(Wire.Fields part, boolean isModel, Out out) throws ArchiveException {
    int place = 0;
    while (part.next()) {
      Edit next = edited < edits.size() ? edits.get(edited) : null;
      if (next != null && part.type == Wire.BLOCK && next.begin >= part.from && next.end <= part.to) {
        out.bytes((int) part.number, inner(part, next));
      } else if (!isModel || !part.is(TensorWalk.METADATA_PROPS, Wire.BLOCK) || !isDropped(part)) {
        out.copy(wire.bytes, part.at, part.to);
      }
      if (part.number <= TensorWalk.METADATA_PROPS) place = out.size();
    }
    return place;
  }

  private byte[] inner(Wire.Fields part, Edit next) throws ArchiveException {
    if (next.begin == part.from && next.end == part.to) {
      ++edited;
      return next.bytes;
    }
    Out body = new Out();
    splice(wire.new Fields(part.from, part.to), false, body);
    return body.toByteArray();
  }

  /** True if a pair of the model's metadata is about the archive, or about an older link. */
  private boolean isDropped(Wire.Fields part) {
    String key = wire.pairOrEmpty(part).key();
    return key.startsWith("onnxar.link.") || key.equals("onnxar.model.name");
  }

  /** A serialised message that is written. */
  private static final class Out extends ByteArrayOutputStream {
    void varint(long value) {
      for (; value > 127; value >>>= 7) write((int) value & 127 | 128);
      write((int) value);
    }

    void bytes(int number, byte[] data) {
      varint((long) number << 3 | Wire.BLOCK);
      varint(data.length);
      writeBytes(data);
    }

    void pair(int number, String key, String value) {
      Out pair = new Out();
      pair.bytes(1, key.getBytes(StandardCharsets.UTF_8));
      pair.bytes(2, value.getBytes(StandardCharsets.UTF_8));
      bytes(number, pair.toByteArray());
    }

    void copy(ByteBuffer from, int begin, int end) {
      writeBytes(Bytes.copy(Bytes.slice(from, begin, end - begin)));
    }

    /** Returns the bytes with others inserted. */
    byte[] with(int place, Out inserted) {
      Out all = new Out();
      all.write(buf, 0, place);
      all.write(inserted.buf, 0, inserted.count);
      all.write(buf, place, count - place);
      return all.toByteArray();
    }
  }
}
