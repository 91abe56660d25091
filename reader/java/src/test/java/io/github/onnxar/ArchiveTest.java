// What an open archive returns.
package io.github.onnxar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class ArchiveTest {
  @TempDir Path folder;

  private static Path vector(String name) {
    return VectorsTest.VECTORS.resolve(name + ".onnxar");
  }

  private static List<String> sites(OnnxArchive archive, String graph) throws IOException {
    List<String> sites = new ArrayList<>();
    archive.visitTensors(graph, tensor -> sites.add(tensor.site()));
    return sites;
  }

  @Test
  void tensorsAreInPlaceAndLittleEndian() throws IOException {
    OnnxArchive archive = OnnxArchive.open(vector("valid/typical"));
    Tensor tensor = archive.tensors().get(0);
    assertEquals(List.of("a", 1, Tensor.Kind.LINKED, 64L, 1024L),
        List.of(tensor.name(), tensor.dataType(), tensor.kind(), tensor.offset(), tensor.size()));
    assertEquals(1024, tensor.dims().length == 0 ? 0 : tensor.data().remaining());
    assertTrue(tensor.data().isReadOnly() && tensor.data().order() == ByteOrder.LITTLE_ENDIAN);
    assertEquals(tensor.entry().orElseThrow(), archive.entry("a").orElseThrow());
    tensor.data().position(8);
    assertEquals(0, tensor.data().position());
  }

  @Test
  void sitesNameThePlacesOfTensors() throws IOException {
    List<String> sites = new ArrayList<>();
    for (Tensor tensor : OnnxArchive.open(vector("valid/sites")).tensors()) sites.add(tensor.graph() + " " + tensor.site());
    assertEquals(List.of("0 graph.node[0].attribute[0].t", "0 graph.node[0].attribute[1].tensors[0]",
        "0 graph.node[0].attribute[1].tensors[1]", "1 graph.node[0].attribute[2].g.initializer[0]",
        "3 graph.node[0].attribute[3].graphs[1].initializer[0]", "0 graph.node[0].attribute[4].sparse_tensor.values",
        "0 graph.node[0].attribute[5].sparse_tensors[0].values", "0 graph.node[0].attribute[5].sparse_tensors[1].values",
        "0 graph.sparse_initializer[0].values", "0 graph.sparse_initializer[0].indices",
        "4 training_info[0].initialization.initializer[0]", "5 training_info[0].algorithm.initializer[0]",
        "6 functions[0].node[0].attribute[0].t", "6 functions[0].attribute_proto[0].t"), sites);
  }

  @Test
  void graphsShareTheWeights() throws IOException {
    OnnxArchive archive = OnnxArchive.open(vector("valid/graph_two"));
    assertEquals(2, archive.graphs().size());
    for (String graph : archive.graphs()) assertEquals("graph.initializer[0]", sites(archive, graph).get(0));
    ArchiveException error = assertThrows(ArchiveException.class, () -> sites(archive, "none"));
    assertEquals("usage.no_such_entry", error.code());
  }

  @Test
  void errorsSayWhatIsWrong() throws IOException {
    Path missing = folder.resolve("none");
    ArchiveException error = assertThrows(ArchiveException.class, () -> OnnxArchive.open(missing));
    assertEquals(missing + ": io.not_found: there is no such file", error.getMessage());
    error = assertThrows(ArchiveException.class, () -> OnnxArchive.open(folder));
    assertEquals("io.not_a_file", error.code());
    ByteBuffer bytes = ByteBuffer.wrap("no archive".getBytes(StandardCharsets.US_ASCII));
    error = assertThrows(ArchiveException.class, () -> OnnxArchive.of(bytes, Limits.DEFAULT));
    assertEquals("zip.end.missing at 10: the file breaks rule E1 of the format", error.getMessage());
    Path empty = Files.createFile(folder.resolve("empty"));
    error = assertThrows(ArchiveException.class, () -> OnnxArchive.open(empty));
    assertEquals(0, error.offset().orElse(-1));
  }

  @Test
  void errorsNameTheFileOfTheArchive() throws IOException {
    Path path = vector("valid/graph_two");
    OnnxArchive archive = OnnxArchive.open(path);
    Path damaged = vector("invalid/data_crc");
    assertNames(path, () -> sites(archive, "none"));
    assertNames(path, () -> archive.link("a/b"));
    assertNames(damaged, () -> OnnxArchive.open(damaged).check(true));
    assertNames(folder, () -> OnnxArchive.open(folder));
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path));
    assertNames(null, () -> OnnxArchive.of(bytes, Limits.DEFAULT).link("a/b"));
  }

  /** Checks that the error of a call names this file, or none if the path is null. */
  private static ArchiveException assertNames(Path path, Executable call) {
    ArchiveException error = assertThrows(ArchiveException.class, call);
    assertEquals(Optional.ofNullable(path), error.path());
    assertTrue(error.getMessage().startsWith((path == null ? "" : path + ": ") + error.code()));
    return error;
  }

  @Test
  void errorInVisitorNamesItsOwnArchive() throws IOException {
    OnnxArchive visited = OnnxArchive.open(vector("valid/typical"));
    Path path = vector("valid/graph_two");
    OnnxArchive other = OnnxArchive.open(path);
    assertNames(path, () -> visited.visitTensors("", tensor -> other.link("a/b")));
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path));
    OnnxArchive unnamed = OnnxArchive.of(bytes, Limits.DEFAULT);
    assertNames(null, () -> visited.visitTensors("", tensor -> unnamed.link("a/b")));
    ByteBuffer none = ByteBuffer.allocate(0);
    assertNames(null, () -> visited.visitTensors("", tensor -> OnnxArchive.of(none, Limits.DEFAULT)));
  }

  @Test
  void errorNamesItsFileAfterSerialization() throws Exception {
    ArchiveException error = assertNames(folder, () -> OnnxArchive.open(folder));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new ObjectOutputStream(bytes).writeObject(error);
    Object read = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
    ArchiveException same = assertNames(folder, () -> { throw (ArchiveException) read; });
    assertEquals(error.getMessage(), same.getMessage());
  }

  @Test
  void entriesOfOtherArchivesAreRefused() throws IOException {
    Entry entry = OnnxArchive.open(vector("valid/typical")).entry("a").orElseThrow();
    OnnxArchive other = OnnxArchive.open(vector("valid/smallest"));
    assertThrows(IllegalArgumentException.class, () -> other.data(entry));
    assertThrows(IndexOutOfBoundsException.class, () -> other.bytes(0, Integer.MAX_VALUE));
    try (FileChannel file = FileChannel.open(vector("valid/smallest"))) {
      ArchiveException error =
          assertThrows(ArchiveException.class, () -> OnnxArchive.open(file, 64, file.size(), Limits.DEFAULT));
      assertEquals("usage.argument", error.code());
    }
  }

  /** Writes an archive with entries of zeros of these sizes, in a sparse file. Needs zip64 records above 4 GiB. */
  private static void writeLarge(Path path, List<Long> sizes) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      ByteBuffer directory = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
      long at = 0;
      for (int i = 0; i <= sizes.size(); ++i) {
        boolean isModel = i == sizes.size();
        byte[] name = (isModel ? Names.MODEL : "w" + i).getBytes(StandardCharsets.US_ASCII);
        byte[] model = {0x3A, 0};
        long size = isModel ? model.length : sizes.get(i);
        CRC32 crc = new CRC32();
        if (isModel) crc.update(model);
        long alignment = size >= 1 << 20 ? 4096 : 64;
        long data = (at + 30 + name.length + 20 + 6 + alignment - 1) / alignment * alignment;
        ByteBuffer local = ByteBuffer.allocate((int) (data - at)).order(ByteOrder.LITTLE_ENDIAN);
        int extra = (int) (data - at) - 30 - name.length;
        local.putInt(0x04034B50).putShort((short) 45).putLong(0x21L << 48).putInt((int) crc.getValue());
        local.putInt(-1).putInt(-1).putShort((short) name.length).putShort((short) extra).put(name);
        local.putShort((short) 1).putShort((short) 16).putLong(size).putLong(size);
        local.putShort((short) 0xD935).putShort((short) (extra - 24)).putShort((short) alignment);
        file.write(local.clear(), at);
        if (isModel) file.write(ByteBuffer.wrap(model), data);
        directory.putInt(0x02014B50).putShort((short) 45).putShort((short) 45).putLong(0x21L << 48);
        directory.putInt((int) crc.getValue()).putInt(-1).putInt(-1).putShort((short) name.length).putShort((short) 28);
        directory.putShort((short) 0).putInt(0).putInt(0).putInt(-1).put(name);
        directory.putShort((short) 1).putShort((short) 24).putLong(size).putLong(size).putLong(at);
        at = data + size;
      }
      long size = directory.position();
      directory.putInt(0x06064B50).putLong(44).putShort((short) 45).putShort((short) 45).putLong(0);
      directory.putLong(sizes.size() + 1).putLong(sizes.size() + 1).putLong(size).putLong(at);
      directory.putInt(0x07064B50).putInt(0).putLong(at + size).putInt(1);
      directory.putInt(0x06054B50).putInt(0).putInt(-1).putInt(-1).putInt(-1).putShort((short) 0);
      file.write(directory.flip(), at);
    }
  }

  @Test
  void filesAboveTwoGibAreMapped() throws IOException {
    Path path = folder.resolve("large.onnxar");
    long gib = 1L << 30;
    writeLarge(path, List.of(gib - 5000, gib + 3 * gib / 4, gib / 2, 3 * gib, 100L));
    OnnxArchive archive = OnnxArchive.open(path);
    assertTrue(archive.size() > 6 * gib);
    for (String name : List.of("w0", "w1", "w2", "w4")) {
      Entry entry = archive.entry(name).orElseThrow();
      assertEquals(entry.size(), archive.data(entry).remaining(), name);
      assertEquals(0, archive.data(entry).get((int) entry.size() - 1));
    }
    Entry larger = archive.entry("w3").orElseThrow();
    ArchiveException error = assertThrows(ArchiveException.class, () -> archive.data(larger));
    assertEquals("io.address_space", error.code());
    assertEquals(path, error.path().orElseThrow());
    for (long at = 0; at < larger.size(); at += gib / 2) {
      assertEquals(1 << 30, archive.bytes(archive.offset(larger) + Math.min(at, 2 * gib), 1 << 30).remaining());
    }
    assertEquals(0x3A, archive.model().get(0));
  }
}
