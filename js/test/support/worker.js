import { calls } from './page.js';

onmessage = async ({ data: [call, argument] }) => postMessage(await calls[call](argument));
