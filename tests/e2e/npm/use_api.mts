// SPDX-License-Identifier: MIT
// A program that knows the server by its OpenAPI document alone: api.d.ts is
// generated from it. usage: node use_api.mts PORT TOKEN
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

declare const process: { argv: string[] };
const [, , port, token] = process.argv;
const api = createClient<paths>({
  baseUrl: `http://127.0.0.1:${port}`,
  headers: { Authorization: `Bearer ${token}` },
});

type Schemas = components['schemas'];

/** Asks again until `found` gives something. */
async function until<T>(found: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const x = await found();
    if (x !== undefined) return x;
    await new Promise((done) => setTimeout(done, 50));
  }
}

async function ended(id: string): Promise<Schemas['Run']> {
  return until(async () => {
    const path = { id };
    const { data } = await api.GET('/v1/runs/{id}', { params: { path } });
    return data?.status === 'active' ? undefined : data;
  });
}

// A run whose answer has a form, and that asks before it writes.
const task: Schemas['RunRequest'] = {
  task: 'look',
  max_steps: 3,
  response_schema: {
    type: 'object',
    properties: { done: { type: 'boolean' } },
    required: ['done'],
  },
};
const started = await api.POST('/v1/runs', { body: task });
if (!started.data || typeof started.data === 'string')
  throw new Error(started.error?.detail);
const id: string = started.data.run_id;
const session: string = started.data.session_id;

const asked = await until(async () => {
  const { data } = await api.GET('/v1/proposals');
  return data?.proposals.find((x) => x.run_id === id);
});
const path: unknown = asked.arguments?.path;
const decision = await api.POST('/v1/proposals/{id}', {
  params: { path: { id: asked.proposal_id } },
  body: {
    decision: 'approve',
    arguments: { path, content: 'as the person wants it' },
    digest: asked.digest,
  },
});
const by: string | undefined = decision.data?.decided?.by;
const run = await ended(id);

const talk = await api.GET('/v1/sessions/{id}', {
  params: { path: { id: session } },
});
const said: string[] = (talk.data?.messages ?? []).map(
  (x) => `${x.role} ${x.step}: ${x.text}`);
const calls: string[] = (talk.data?.messages ?? []).flatMap(
  (x) => (x.calls ?? []).map((y) => `${y.tool} ${y.state}`));
const steps: number | undefined = talk.data?.runs[0]?.steps;

const events = await api.GET('/v1/runs/{id}/events', {
  params: { path: { id } },
  headers: { Accept: 'application/json' },
});
const all: Schemas['Event'][] =
  events.data && typeof events.data !== 'string' ? events.data : [];
const last = all[all.length - 1];
const type: 'run_finished' | undefined =
  last?.event_type === 'run_finished' ? last.event_type : undefined;

// A plan as an object, and what became of it.
const plan = await api.POST('/v1/plans', {
  body: {
    plan: { steps: [{ id: 'say', tool: 'glob', arguments: { pattern: '*' } }] },
  },
});
if (!plan.data || typeof plan.data === 'string')
  throw new Error(plan.error?.detail);
const plan_id = plan.data.plan_id;
const planned = await until(async () => {
  const { data } = await api.GET('/v1/plans/{id}', {
    params: { path: { id: plan_id } },
  });
  return data?.status === 'active' ? undefined : data;
});

const none = await api.GET('/v1/runs/{id}', {
  params: { path: { id: 'none' } },
});
const list = await api.GET('/v1/sessions', { params: { query: {} } });
const tools = await api.GET('/v1/tools');
console.log(JSON.stringify({
  status: run.status,
  answer: run.answer,
  by,
  said,
  calls,
  steps,
  type,
  planned: planned.steps.map((x) => `${x.id} ${x.status}`),
  listed: list.data?.sessions.some((x) => x.last_run?.run_id === id),
  schema: typeof tools.data?.tools[0]?.parameters['type'],
  problem: none.error?.code,
}));
