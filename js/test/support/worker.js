// Runs the calls of page.js in a worker.
import { calls } from './page.js';

onmessage = async ({ data: [call, argument] }) => postMessage(await calls[call](argument));
