// The package against the types of the runtimes, as users call it. Compiled only.
import { env, pipeline, type TextClassificationPipeline } from '@huggingface/transformers';
import * as node from 'onnxruntime-node';
import * as web from 'onnxruntime-web';
import { parseOnnxMetadata, type OnnxMetadata } from 'onnxar/metadata';
import { createSession } from 'onnxar/onnxruntime';
import { Store } from 'onnxar/store';
import { withArchive } from 'onnxar/transformers';

export const metadata: Promise<OnnxMetadata> = parseOnnxMetadata('model.onnx');
const kept = await new Store({ most: 4e9 }).get('model.onnxar', { refresh: true, onProgress: console.log });

export const sessions: Promise<web.InferenceSession | node.InferenceSession>[] = [
  createSession(web, 'model.onnxar', { session: { executionProviders: ['wasm'] } }),
  createSession(node, new URL('file:///model.onnxar'), { graph: 'decoder.onnx' }),
  createSession(web, kept, { blobs: true }),
];
export const classifier: Promise<TextClassificationPipeline> = withArchive(env, 'model.onnxar', (name, options) =>
  pipeline('text-classification', name, options),
);
