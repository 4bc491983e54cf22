// SPDX-License-Identifier: MIT
// The tasks of volley.py in one node script with the AI SDK: `workers` loops
// that take the next task each.
//   node volley.mjs PROVIDER_URL TASKS WORKERS FOLDER_WITH_NODE_MODULES
// The folder has `ai` and `@ai-sdk/openai-compatible`.
import { createRequire } from "node:module";
import { join } from "node:path";

const [, , provider, tasks, workers, modules] = process.argv;
const load = (name) =>
  import(createRequire(join(modules, "x.js")).resolve(name));
const { streamText } = await load("ai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const model = createOpenAICompatible({
  name: "mock",
  baseURL: provider,
  apiKey: "x",
})("m");

let next = 0;
const answers = [];
async function work() {
  for (let i = next++; i < Number(tasks); i = next++) {
    const run = streamText({ model, prompt: `task ${i}`, maxRetries: 0 });
    let text = "";
    for await (const part of run.fullStream) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") text += part.text;
    }
    answers[i] = text;
  }
}
await Promise.all(Array.from({ length: Number(workers) }, work));
console.log(JSON.stringify(answers));
