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

const task: components['schemas']['RunRequest'] = { task: 'look', max_steps: 3 };
const started = await api.POST('/v1/runs', { body: task });
if (!started.data || typeof started.data === 'string')
  throw new Error(started.error?.detail);
const id: string = started.data.run_id;

let run: components['schemas']['Run'] | undefined;
do {
  await new Promise((done) => setTimeout(done, 50));
  const { data } = await api.GET('/v1/runs/{id}', { params: { path: { id } } });
  run = data;
} while (run?.status === 'active');

const none = await api.GET('/v1/runs/{id}', {
  params: { path: { id: 'none' } },
});
const list = await api.GET('/v1/runs', { params: { query: { limit: 1 } } });
console.log(JSON.stringify({
  status: run?.status,
  answer: run?.answer,
  listed: list.data?.runs[0]?.run_id === id,
  problem: none.error?.code,
}));
