// SPDX-License-Identifier: MIT
// What the conformance suite runs: does with `riffle mcp` what its scenario
// wants. The server's URL is the last argument, $RIFFLE the program.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const folder = mkdtempSync(join(tmpdir(), "riffle-conformance-"));
const settings = [
  `runtime.data_dir=${folder}/data`,
  `mcp.t.url=${process.argv.at(-1)}`,
  "mcp.t.elicitation=defaults",
  "tools.timeout=20s",
].flatMap((x) => ["--set", x]);

function riffle(...words) {
  const end = spawnSync(process.env.RIFFLE, ["mcp", ...words, ...settings], {
    cwd: folder,
    encoding: "utf8",
  });
  process.stderr.write(end.stderr);
  return end.stdout;
}

/// Some value for each argument; `text` for those that are texts.
function valuesFor(schema, text, all = true) {
  const out = {};
  for (const [name, x] of Object.entries(schema.properties ?? {})) {
    if (scenario.includes("custom-headers") && name === "verbose") continue;
    if (!all && !(schema.required ?? []).includes(name)) continue;
    if (x.type === "number" || x.type === "integer") out[name] = 5;
    else if (x.type === "boolean") out[name] = true;
    else if (x.type === "object") out[name] = {};
    else if (x.type === "array") out[name] = [];
    else out[name] = text;
  }
  return out;
}

const tools = riffle("tools", "t", "--output", "jsonl")
  .split("\n")
  .filter(Boolean)
  .map((x) => JSON.parse(x));
for (const tool of scenario === "initialize" ? [] : tools) {
  const name = tool.name.replace(/^t__/, "");
  if (name === "json_schema_echo") {
    const focal = tools.find((x) => x.name.includes("json_schema_2020_12"));
    riffle("call", "t", name, JSON.stringify({ schema: focal.parameters }));
    continue;
  }
  const texts = scenario.includes("custom-headers")
    ? ["plain", " blank ", "Größe", "line\nend", "=?base64?eA==?="]
    : ["x"];
  for (const text of texts)
    riffle("call", "t", name, JSON.stringify(valuesFor(tool.parameters, text)));
  if (texts.length > 1)
    riffle("call", "t", name,
           JSON.stringify(valuesFor(tool.parameters, "x", false)));
}
rmSync(folder, { recursive: true, force: true });
