// SPDX-License-Identifier: MIT
// The official client and the AI SDK's beside ours: the same calls of the same
// server.
//   node mcp.mjs official FOLDER_OF_SDK COMMAND ARGUMENTS…
//   node mcp.mjs ai-sdk FOLDER_OF_PACKAGE COMMAND ARGUMENTS…    (node 22)
import { join } from "node:path";
const [, , who, folder, command, ...args] = process.argv;
const said = { text: "x", message: "x" };

/// How it calls `echo`, and ends.
async function official() {
  const at = (x) => import(join(folder, "dist", "esm", "client", x));
  const { Client } = await at("index.js");
  const { StdioClientTransport } = await at("stdio.js");
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command, args }));
  return {
    call: () => client.callTool({ name: "echo", arguments: said }),
    close: () => client.close(),
  };
}
async function aiSdk() {
  const { createMCPClient } = await import(join(folder, "dist", "index.js"));
  const { Experimental_StdioMCPTransport } = await import(
    join(folder, "dist", "mcp-stdio", "index.js"));
  const client = await createMCPClient({
    transport: new Experimental_StdioMCPTransport({ command, args }),
  });
  const { echo } = await client.tools();
  let n = 0;
  return {
    call: () => echo.execute(said, { toolCallId: String(++n), messages: [] }),
    close: () => client.close(),
  };
}

const { call, close } = await (who === "ai-sdk" ? aiSdk() : official());
const one = async () => {
  const began = process.hrtime.bigint();
  await call();
  return Number(process.hrtime.bigint() - began) / 1000;
};
function report(what, us, cpu) {
  us.sort((a, b) => a - b);
  const used = process.cpuUsage(cpu);
  console.log(
    `${what}: p50 ${us[us.length >> 1].toFixed(0)} us, p99 ${us[Math.floor(us.length * 0.99)].toFixed(0)} us, ` +
      `${((used.user + used.system) / us.length).toFixed(1)} us of CPU a call`);
}
for (let i = 0; i < 200; ++i) await one(); // until it is compiled
let us = [];
let cpu = process.cpuUsage();
for (let i = 0; i < 5000; ++i) us.push(await one());
report("one after the other", us, cpu);
us = [];
cpu = process.cpuUsage();
await Promise.all(Array.from({ length: 100 }, async () => {
  for (let n = 0; n < 50; ++n) us.push(await one());
}));
report("100 at once", us, cpu);
console.log(`peak memory: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`);
await close();
