// The way through a model to its tensors (rules M1, M6, M7, M9, G2 to G4, G6).
package io.github.onnxar;

import static io.github.onnxar.TensorWalk.Message.*;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** Finds the tensors of a model in the order of its bytes. */
final class TensorWalk {
  private static final int DEEPEST = 100;
  static final int METADATA_PROPS = 14;

  enum Message { MODEL, TRAINING, FUNCTION, GRAPH, NODE, ATTRIBUTE, SPARSE, TENSOR }

  /** A field that leads to tensors. */
  private record Step(Message parent, int number, Message child, boolean isRepeated, String label) {}

  private static final List<Step> STEPS = List.of(
      new Step(MODEL, 7, GRAPH, false, "graph"), new Step(MODEL, 20, TRAINING, true, "training_info"),
      new Step(MODEL, 25, FUNCTION, true, "functions"), new Step(TRAINING, 1, GRAPH, false, "initialization"),
      new Step(TRAINING, 2, GRAPH, false, "algorithm"), new Step(FUNCTION, 7, NODE, true, "node"),
      new Step(FUNCTION, 11, ATTRIBUTE, true, "attribute_proto"), new Step(GRAPH, 1, NODE, true, "node"),
      new Step(GRAPH, 5, TENSOR, true, "initializer"), new Step(GRAPH, 15, SPARSE, true, "sparse_initializer"),
      new Step(NODE, 5, ATTRIBUTE, true, "attribute"), new Step(ATTRIBUTE, 5, TENSOR, false, "t"),
      new Step(ATTRIBUTE, 6, GRAPH, false, "g"), new Step(ATTRIBUTE, 10, TENSOR, true, "tensors"),
      new Step(ATTRIBUTE, 11, GRAPH, true, "graphs"), new Step(ATTRIBUTE, 22, SPARSE, false, "sparse_tensor"),
      new Step(ATTRIBUTE, 23, SPARSE, true, "sparse_tensors"), new Step(SPARSE, 1, TENSOR, false, "values"),
      new Step(SPARSE, 2, TENSOR, false, "indices"));

  private final Container container;
  private final Entry entry;
  private final TensorVisitor visitor;
  private int graphs; // so far, without the main graph
  int begin; // of the last tensor in the model
  final Wire wire;

  TensorWalk(Container container, Entry entry, TensorVisitor visitor) throws ArchiveException {
    this.container = container;
    this.entry = entry;
    this.visitor = visitor;
    Rule.G2.require(entry.size() <= Integer.MAX_VALUE, entry.header(), entry.name());
    wire = new Wire(container.data(entry), container.place(entry), entry.name());
  }

  /** Calls the visitor for each tensor. */
  void run() throws IOException { walk(MODEL, wire.fields(), null, "", 0, 0); }

  /** Goes through a message of a graph. {@code node} has the fields of the node that an attribute is in. */
  private void walk(Message message, Wire.Fields part, Wire.Fields node, String site, int graph, int depth)
      throws IOException {
    int[] counts = new int[26]; // by number of the field, at most 25
    while (part.next()) {
      Step step = stepOf(message, part);
      if (step == null) continue;
      int count = counts[step.number]++;
      wire.require(Rule.M7, step.isRepeated || count == 0, part.at);
      wire.require(Rule.M6, depth < DEEPEST, part.at);
      String label = (site.isEmpty() ? "" : site + ".") + step.label + (step.isRepeated ? "[" + count + "]" : "");
      if (step.child == TENSOR) {
        TensorFields fields = new TensorFields(wire, part.from, part.to, depth + 1 == DEEPEST);
        Optional<String> output = step.label.equals("t") ? outputOfConstant(node) : Optional.empty();
        begin = part.from;
        visitor.visit(tensor(fields, output, label, graph));
      } else {
        int inner = step.child == FUNCTION || (step.child == GRAPH && depth > 0) ? ++graphs : graph;
        Wire.Fields fields = wire.new Fields(part.from, part.to);
        walk(step.child, fields, message == NODE ? part : null, label, inner, depth + 1);
      }
    }
    wire.require(Rule.M1, message != MODEL || counts[7] > 0, 0);
  }

  private static Step stepOf(Message message, Wire.Fields part) {
    for (Step step : STEPS) if (step.parent == message && part.is(step.number, Wire.BLOCK)) return step;
    return null;
  }

  private Tensor tensor(TensorFields fields, Optional<String> output, String site, int graph) throws ArchiveException {
    Entry linked = null;
    long offset = fields.rawBegin < 0 ? -1 : wire.base + fields.rawBegin;
    Tensor.Kind kind = offset >= 0 ? Tensor.Kind.INLINE : Tensor.Kind.NONE;
    if (fields.typedField() != 0) kind = Tensor.Kind.TYPED;
    if (fields.isLinked) {
      linked = linkedEntry(fields);
      offset = container.place(linked) + fields.linkedOffset;
      kind = Tensor.Kind.LINKED;
    } else {
      fields.checkInline();
    }
    long size = fields.isLinked ? fields.linkedLength : fields.rawSize;
    boolean isWhole = offset >= 0 && container.bytes.canSlice(offset, size);
    ByteBuffer data = isWhole ? container.bytes.slice(offset, size) : offset < 0 ? Bytes.EMPTY : null;
    ByteBuffer message = Bytes.slice(wire.bytes, fields.begin, fields.end - fields.begin);
    return new Tensor(utf8(fields.name), output, site, graph, fields.dims(), fields.dataType, kind,
        Optional.ofNullable(linked), offset, size, message, data);
  }

  private Entry linkedEntry(TensorFields fields) throws ArchiveException {
    fields.checkLink();
    Entry linked = container.find(fields.location());
    wire.require(Rule.M9, linked != null, fields.begin);
    container.place(linked);
    fields.checkRange(linked.size());
    String folder = entry.name().substring(0, entry.name().lastIndexOf('/') + 1);
    wire.require(Rule.G6, folder.isEmpty() || container.find(folder + fields.location()) == null, fields.begin);
    return linked;
  }

  /** Returns the output of a node if it is a Constant. */
  private Optional<String> outputOfConstant(Wire.Fields node) throws ArchiveException {
    if (node == null) return Optional.empty();
    String output = null;
    String operator = "";
    String domain = "";
    for (Wire.Fields part = wire.new Fields(node.begin, node.end); part.next(); ) {
      if (part.is(2, Wire.BLOCK) && output == null) output = utf8(part.text());
      if (part.is(4, Wire.BLOCK)) operator = part.text();
      if (part.is(7, Wire.BLOCK)) domain = part.text();
    }
    boolean isConstant = operator.equals("Constant") && (domain.isEmpty() || domain.equals("ai.onnx"));
    return isConstant ? Optional.ofNullable(output) : Optional.empty();
  }

  private static String utf8(String bytes) {
    return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }

  /** Checks the tensors, then G3 of a graph or G4 of the model. */
  void check() throws IOException {
    run();
    boolean isModel = entry == container.model();
    String name = null;
    int named = 0;
    for (Wire.Fields part = wire.fields(); part.next(); ) {
      if (!part.is(METADATA_PROPS, Wire.BLOCK)) continue;
      Wire.Pair pair = wire.pairOrEmpty(part);
      wire.require(Rule.G3, isModel || !pair.key().startsWith("onnxar.link."), part.at);
      if (!isModel || !pair.key().equals("onnxar.model.name")) continue;
      wire.require(Rule.G4, name == null, part.at);
      named = part.at;
      name = pair.value() + Entry.GRAPH_ENDING;
    }
    wire.require(Rule.G4, name == null || (Entry.isGraph(name) && Names.isFree(name, container.entries)), named);
  }
}
