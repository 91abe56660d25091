// An archive that is open for reading.
package io.github.onnxar;

import static io.github.onnxar.ArchiveException.naming;

import ai.onnxruntime.*;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.*;

/**
 * An ONNX archive: one file with a model and its weights, each aligned, so that a program maps the file and uses the
 * weights in place.
 *
 * <pre>{@code
 * OnnxArchive archive = OnnxArchive.open(Path.of("model.onnxar"));
 * for (Tensor tensor : archive.tensors()) {
 *   System.out.println(tensor.name() + ": " + tensor.size() + " bytes");
 * }
 * }</pre>
 *
 * <p>Opening runs stage open of the specification, and {@link #check} all stages, for archives that are not trusted. An
 * archive needs no closing: its maps last until the last buffer of them is collected, so a buffer never outlives its
 * memory. While maps last, no process may write to the file or shorten it: replace archives by renaming. Threads may
 * share an archive.
 */
public final class OnnxArchive {
  private final Container container;
  private final Path path; // which errors name; null for a buffer or a channel

  private OnnxArchive(Container container, Path path) {
    this.container = container;
    this.path = path;
  }

  /** Maps a file and opens the archive in it. */
  public static OnnxArchive open(Path path) throws IOException { return open(path, Limits.DEFAULT); }

  /** Maps a file and opens the archive in it, with limits. */
  public static OnnxArchive open(Path path, Limits limits) throws IOException {
    return naming(path, () -> new OnnxArchive(map(path, limits), path));
  }

  private static Container map(Path path, Limits limits) throws IOException {
    // Opening a pipe would wait for its writer.
    if (Files.exists(path) && !Files.isRegularFile(path)) {
      throw ArchiveException.of("io.not_a_file", "the path names a folder or a device");
    }
    try (FileChannel file = FileChannel.open(path)) {
      return new Container(new Bytes(file, 0, file.size()), limits);
    } catch (NoSuchFileException error) {
      throw ArchiveException.of("io.not_found", "there is no such file");
    } catch (AccessDeniedException error) {
      throw ArchiveException.of("io.permission", "the file may not be read");
    }
  }

  /**
   * Maps the archive in a part of a file: an uncompressed asset of Android, say, with the channel, {@code
   * getStartOffset()} and {@code getLength()} of an AssetFileDescriptor. The channel may be closed afterwards.
   */
  public static OnnxArchive open(FileChannel file, long offset, long length, Limits limits) throws IOException {
    if (offset < 0 || length < 0 || length > file.size() - offset) {
      throw ArchiveException.of("usage.argument", "the archive's range does not lie in the file");
    }
    return new OnnxArchive(new Container(new Bytes(file, offset, length), limits), null);
  }

  /** Opens the archive that the remaining bytes of a buffer are, in place. */
  public static OnnxArchive of(ByteBuffer bytes, Limits limits) throws ArchiveException {
    return new OnnxArchive(new Container(new Bytes(bytes), limits), null);
  }

  /**
   * Makes a session of ONNX Runtime, which maps the weights of the archive. Needs {@code
   * com.microsoft.onnxruntime:onnxruntime} 1.22 or later.
   *
   * @throws ArchiveException with {@code onnx.link.stale} if the file is replaced during the call
   */
  public static OrtSession session(OrtEnvironment environment, Path path) throws IOException, OrtException {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      return session(environment, path, "", options);
    }
  }

  /** Makes a session of a graph, such as {@code decoder}, or of the model if the name is empty. Changes the options. */
  public static OrtSession session(OrtEnvironment environment, Path path, String graph,
      OrtSession.SessionOptions options) throws IOException, OrtException {
    return Sessions.make(environment, path, name -> open(path).link(graph, name, 0), options);
  }

  /**
   * Makes a session of the archive in a part of a file: an asset of Android in {@code getPackageCodePath()}, say. The
   * offset is a multiple of 64.
   *
   * @throws ArchiveException with {@code usage.argument} if the range is not in the file, and with {@code
   *     onnx.link.stale} if the file is replaced during the call
   */
  public static OrtSession session(OrtEnvironment environment, Path path, long offset, long length, String graph,
      OrtSession.SessionOptions options) throws IOException, OrtException {
    return Sessions.make(environment, path, name -> {
      try (FileChannel file = FileChannel.open(path)) {
        return naming(path, () -> open(file, offset, length, Limits.DEFAULT).link(graph, name, offset));
      }
    }, options);
  }

  /** Returns the size of the archive in bytes. */
  public long size() { return container.bytes.size; }

  /** Returns all entries in the order of the file. The last one is the model. */
  public List<Entry> entries() { return Collections.unmodifiableList(container.entries); }

  /** Returns the entry with exactly this name: a weight, a side file, or a graph such as {@code decoder.onnx}. */
  public Optional<Entry> entry(String name) { return Optional.ofNullable(container.find(name)); }

  /** Returns the names of the further models over the same weights, such as {@code decoder}. */
  public List<String> graphs() {
    return container.entries.stream().filter(Entry::isGraph).map(
        entry -> entry.name().substring(0, entry.name().length() - Entry.GRAPH_ENDING.length())).toList();
  }

  /**
   * Returns the bytes of an entry in place, little-endian. Checks its local header first.
   *
   * @throws ArchiveException with {@code io.address_space} if one buffer cannot have them, which may happen above 1.75
   *     GiB
   */
  public ByteBuffer data(Entry entry) throws ArchiveException { return naming(path, () -> container.data(own(entry))); }

  /** Returns the offset of an entry's data in the archive. Checks its local header first. */
  public long offset(Entry entry) throws ArchiveException { return naming(path, () -> container.place(own(entry))); }

  /** Returns a range of the archive in place, little-endian. Up to 1.75 GiB any range succeeds: read more in parts. */
  public ByteBuffer bytes(long offset, int length) throws ArchiveException {
    if (offset < 0 || length < 0 || length > size() - offset) {
      throw new IndexOutOfBoundsException(length + " bytes from " + offset + " on are not in the archive");
    }
    return naming(path, () -> container.bytes.slice(offset, length));
  }

  /** Returns the serialised ModelProto. */
  public ByteBuffer model() throws ArchiveException { return data(container.model()); }

  /** Returns the tensors of the model in the order of its bytes. The rules of each are checked. */
  public List<Tensor> tensors() throws IOException {
    List<Tensor> tensors = new ArrayList<>();
    visitTensors("", tensors::add);
    return tensors;
  }

  /** Visits the tensors of a graph, such as {@code decoder}, or of the model if the name is empty. Keeps none. */
  public void visitTensors(String graph, TensorVisitor visitor) throws IOException {
    naming(path, () -> {
      // An error that the visitor throws is not of this archive.
      new TensorWalk(container, graph(graph), tensor -> naming(null, () -> {
        visitor.visit(tensor);
        return null;
      })).run();
      return null;
    });
  }

  /**
   * Checks all rules of the format except checksums of tensors (M22), and throws the first breach.
   *
   * @param data also compares the CRC-32 of each entry, which reads all bytes
   */
  public void check(boolean data) throws IOException {
    naming(path, () -> {
      container.placeAll();
      container.checkTails();
      new TensorWalk(container, container.model(), tensor -> {}).check();
      for (Entry entry : container.entries) {
        if (entry.isGraph()) new TensorWalk(container, entry, tensor -> {}).check();
      }
      if (data) container.checkData();
      return null;
    });
  }

  /**
   * Returns a serialised ModelProto whose external data is the archive's file, for runtimes that do not know archives.
   * The runtime has to find the archive under this name in the folder of the model, or in the folder that the option
   * {@code session.model_external_initializers_file_folder_path} of ONNX Runtime names.
   *
   * @param graph a graph, such as {@code decoder}; empty for the model
   * @param fileName the name of the archive's file, without a folder
   * @param offset the offset of the archive in that file, a multiple of 64
   */
  public byte[] link(String graph, String fileName, long offset) throws IOException {
    return naming(path, () -> new Link(container, graph(graph), fileName, offset).make());
  }

  /** Returns the link of the model, for an archive that is a file of this name. */
  public byte[] link(String fileName) throws IOException { return link("", fileName, 0); }

  private Entry graph(String name) throws ArchiveException {
    if (name.isEmpty()) return container.model();
    Entry entry = container.find(name + Entry.GRAPH_ENDING);
    if (entry != null) return entry;
    throw ArchiveException.of("usage.no_such_entry", "the archive has no graph named " + ArchiveException.quoted(name));
  }

  private Entry own(Entry entry) {
    if (container.find(entry.name()) == entry) return entry;
    throw new IllegalArgumentException("the entry is of another archive: " + entry.name());
  }
}
