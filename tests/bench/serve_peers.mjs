// SPDX-License-Identifier: MIT
// What an application would otherwise write: a server of one route that runs a
// task against a provider and streams what comes as events. Nothing is saved.
//   node serve_peers.mjs bare PROVIDER_URL
//   node serve_peers.mjs langgraph PROVIDER_URL FOLDER_WITH_NODE_MODULES
// `langgraph`: createReactAgent of @langchain/langgraph behind the same route.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

const [, , kind, provider, modules] = process.argv;

async function* bare(task) {
  const answer = await fetch(provider + "/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "mock",
      stream: true,
      messages: [{ role: "user", content: task }],
    }),
  });
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of answer.body) {
    rest += decoder.decode(bytes, { stream: true });
    for (let at; (at = rest.indexOf("\n\n")) >= 0; rest = rest.slice(at + 2)) {
      const data = rest.slice(6, at);
      if (data === "[DONE]") return;
      const text = JSON.parse(data).choices[0]?.delta?.content;
      if (text) yield text;
    }
  }
}

async function langgraph() {
  const load = (name) =>
    import(createRequire(join(modules, "x.js")).resolve(name));
  const { createReactAgent } = await load("@langchain/langgraph/prebuilt");
  const { ChatOpenAI } = await load("@langchain/openai");
  const llm = new ChatOpenAI({
    model: "mock",
    apiKey: "x",
    streaming: true,
    maxRetries: 0,
    configuration: { baseURL: provider },
  });
  const agent = createReactAgent({ llm, tools: [] });
  return async function* (task) {
    const all = await agent.stream(
      { messages: [{ role: "user", content: task }] },
      { streamMode: "messages" },
    );
    for await (const [m] of all) if (m.content) yield m.content;
  };
}

const follow = kind === "bare" ? bare : await langgraph();

createServer(async (asked, answer) => {
  let body = "";
  for await (const x of asked) body += x;
  answer.writeHead(200, { "content-type": "text/event-stream" });
  let id = 0;
  const say = (type, more) =>
    answer.write(
      `id: ${++id}\nevent: ${type}\ndata: ${JSON.stringify({ event_type: type, ...more })}\n\n`,
    );
  say("run_started", {});
  for await (const content of follow(JSON.parse(body).task))
    say("llm_token", { content });
  say("run_finished", {});
  answer.end();
}).listen(0, "127.0.0.1", function () {
  console.log("port " + this.address().port);
});
