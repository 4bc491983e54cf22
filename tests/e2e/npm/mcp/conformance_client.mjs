// SPDX-License-Identifier: MIT
// What the conformance suite runs: does with `riffle mcp` what its scenario
// wants. The server's URL is the last argument, $RIFFLE the program.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

/// What a person writes into the server's table when no person logs in.
function auth() {
  const file = (name, text) => {
    writeFileSync(`${folder}/${name}`, text, { mode: 0o600 });
    return `${folder}/${name}`;
  };
  if (scenario === "auth/client-credentials-jwt")
    return { "auth.grant": "client_credentials", client_id: context.client_id,
             "auth.private_key_file": file("key.pem",
                                           context.private_key_pem) };
  if (scenario === "auth/client-credentials-basic")
    return { "auth.grant": "client_credentials", client_id: context.client_id,
             client_secret_env: "SECRET" };
  if (scenario === "auth/wif-jwt-bearer")
    return { "auth.grant": "workload_identity", client_id: context.client_id,
             "auth.token_file": file("token", context.valid_jwt) };
  if (context.idp_id_token)
    return { "auth.grant": "enterprise", client_id: context.client_id,
             client_secret_env: "SECRET", "auth.idp": context.idp_issuer,
             "auth.idp_client_id": context.idp_client_id,
             "auth.token_file": file("token", context.idp_id_token) };
  return {};
}
for (const [key, value] of Object.entries(auth()))
  settings.push("--set", `mcp.t.${key}=${value}`);

function riffle(...words) {
  const end = spawnSync(process.env.RIFFLE, ["mcp", ...words, ...settings], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, SECRET: context.client_secret ?? "" },
  });
  process.stderr.write(end.stderr);
  said = end.stderr + end.stdout;
  return end.stdout;
}
let said = "";

/// A person's login: agrees at the page that is shown.
async function login(...more) {
  const words = ["mcp", "login", "t", "--no-browser", "--timeout", "10s"];
  if (context.client_id) words.push("--client-id", context.client_id);
  if (context.client_secret) words.push("--client-secret-env", "SECRET");
  if (scenario === "auth/basic-cimd")
    words.push("--client-id",
               "https://conformance-test.local/client-metadata.json");
  const run = spawn(process.env.RIFFLE, [...words, ...more, ...settings], {
    cwd: folder,
    env: { ...process.env, SECRET: context.client_secret ?? "" },
  });
  let err = "";
  let asked = false;
  run.stderr.on("data", (x) => {
    process.stderr.write(x);
    err += x;
    const page = /^https?:\S+$/m.exec(err);
    if (asked || !page || !err.includes("Waiting")) return;
    asked = true;
    fetch(page[0]).catch(() => {});
  });
  return new Promise((done) => run.on("close", (code) => done(code === 0)));
}

/// As a person does it who reads what the program says; not for ever.
async function riffleOnceIn(...words) {
  for (let i = 0; ; ++i) {
    const out = riffle(...words);
    const giver = /the server names (\S+) as who gives/.exec(said);
    if (giver && i < 2) {
      settings.push("--set", `mcp.t.auth.issuer=${giver[1]}`);
      continue;
    }
    const hint = /riffle mcp login t(?: --scope \\?"([^"\\]*)\\?")?/.exec(said);
    if (!hint || i === 2) return out;
    if (!(await login(...(hint[1] ? ["--scope", hint[1]] : [])))) return out;
  }
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

const tools = (await riffleOnceIn("tools", "t", "--output", "jsonl"))
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
    await riffleOnceIn("call", "t", name,
                       JSON.stringify(valuesFor(tool.parameters, text)));
  if (texts.length > 1)
    riffle("call", "t", name,
           JSON.stringify(valuesFor(tool.parameters, "x", false)));
}
rmSync(folder, { recursive: true, force: true });
