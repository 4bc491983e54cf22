// SPDX-License-Identifier: MIT
// The official client beside ours: the same calls of the same server.
//   node mcp.mjs FOLDER_OF_SDK COMMAND ARGUMENTS…
import { join } from "node:path";
const [, , sdk, command, ...args] = process.argv;
const at = (x) => import(join(sdk, "dist", "esm", "client", x));
const { Client } = await at("index.js");
const { StdioClientTransport } = await at("stdio.js");
const client = new Client({ name: "bench", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
const one = async () => {
  const began = process.hrtime.bigint();
  await client.callTool({ name: "echo", arguments: { text: "x", message: "x" } });
  return Number(process.hrtime.bigint() - began) / 1000;
};
function report(what, us, cpu) {
  us.sort((a, b) => a - b);
  const used = process.cpuUsage(cpu);
  console.log(
    `${what}: p50 ${us[us.length >> 1].toFixed(0)} us, p99 ${us[Math.floor(us.length * 0.99)].toFixed(0)} us, ` +
      `${((used.user + used.system) / us.length).toFixed(1)} us of CPU a call`);
}
await one();
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
await client.close();
