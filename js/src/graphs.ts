// Which entries of an archive are models, and which nodes of a model hold a weight.

export const MODEL = '__MODEL_PROTO';

/** True for the names of further models over the same weights. */
export const isGraph = (name: string): boolean => /[^/]\.onnx$/.test(name);

/** True if the operator of a node is Constant. */
export const isConstant = (type: string, domain: string): boolean =>
  type === 'Constant' && (domain === '' || domain === 'ai.onnx');
