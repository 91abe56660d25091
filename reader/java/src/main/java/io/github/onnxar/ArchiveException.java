// The error of the package.
package io.github.onnxar;

import java.io.IOException;
import java.nio.file.Path;
import java.util.*;

/**
 * Says why a call failed. The message has all of it, such as {@code model.onnxar: zip.entry.overlap in "a" at 64: the
 * file breaks rule P3 of the format}; {@code docs/errors.md} explains each code.
 */
public final class ArchiveException extends IOException {
  private static final long serialVersionUID = 1;
  private static final int MOST_SHOWN = 1024; // characters of a text in a message

  private final String code;
  private final String rule;
  private final String entry;
  private final long offset;
  private String path; // null until an archive names the error; empty if the archive has no path

  ArchiveException(String code, String rule, String entry, long offset, String text) {
    super(code + (entry.isEmpty() ? "" : " in " + quoted(entry)) + (offset < 0 ? ": " : " at " + offset + ": ") + text);
    this.code = code;
    this.rule = rule;
    this.entry = entry;
    this.offset = offset;
  }

  /** Returns an error that breaks no rule of the format. */
  static ArchiveException of(String code, String sentence) { return new ArchiveException(code, "", "", -1, sentence); }

  /** Returns the stable id, such as {@code zip.entry.overlap}. */
  public String code() { return code; }

  /** Returns the rule of the specification, such as {@code P3}; empty if none was broken. */
  public String rule() { return rule; }

  /** Returns the name of the entry, which may hold any character; empty if the error is not about an entry. */
  public String entry() { return entry; }

  /** Returns the offset in the archive, if the error has a place. */
  public OptionalLong offset() { return offset < 0 ? OptionalLong.empty() : OptionalLong.of(offset); }

  /** Returns the path of the archive; empty if it was opened from a buffer or a channel. */
  public Optional<Path> path() { return Optional.ofNullable(path).filter(text -> !text.isEmpty()).map(Path::of); }

  @Override public String getMessage() { return path().map(named -> named + ": ").orElse("") + super.getMessage(); }

  /** Runs a step that may throw an error of an archive. */
  interface Work<T, E extends IOException> {
    T run() throws E;
  }

  /**
   * Returns the result of the work. Names the path in its errors, except in those that an inner call has named. Null
   * states that the archive has no path.
   */
  static <T, E extends IOException> T naming(Path path, Work<T, E> work) throws E {
    try {
      return work.run();
    } catch (IOException error) {
      if (error instanceof ArchiveException own && own.path == null) own.path = Objects.toString(path, "");
      throw error;
    }
  }

  static String quoted(String text) {
    return '"' + text.substring(0, Math.min(text.length(), MOST_SHOWN)).replaceAll("[^ -~]", "?") + '"';
  }
}
