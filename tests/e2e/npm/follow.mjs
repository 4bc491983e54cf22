// SPDX-License-Identifier: MIT
// Follows a stream of events through a proxy that cuts it, with a client that
// nobody here wrote. usage: node follow.mjs CLIENT PORT TOKEN PATH CUTS
// Prints a line "ID TYPE" for each event; ends when the client stops for good,
// or at run_finished.
import net from 'node:net';
import { createEventSource } from 'eventsource-client';
import { EventSource } from 'eventsource';

const [, , client, port, token, path, cuts] = process.argv;
let left = +cuts;

// Each connection is cut in the middle of something, as long as cuts are left.
const proxy = net.createServer((near) => {
  const far = net.connect(+port, '127.0.0.1');
  let room = left > 0 ? 900 + ((left * 7919) % 1500) : Infinity;
  far.on('data', (bytes) => {
    if (bytes.length < room) {
      room -= bytes.length;
      near.write(bytes);
      return;
    }
    left -= 1;
    near.write(bytes.subarray(0, room), () => near.destroy());
    far.destroy();
  });
  near.on('data', (bytes) => far.write(bytes));
  for (const [a, b] of [[near, far], [far, near]]) {
    a.on('error', () => b.destroy());
    a.on('close', () => b.destroy());
  }
});
await new Promise((done) => proxy.listen(0, '127.0.0.1', done));

const url = `http://127.0.0.1:${proxy.address().port}${path}`;
const authorization = { Authorization: `Bearer ${token}` };
const end = (why) => {
  console.log(`end ${why} cuts left ${left}`);
  process.exit();
};
let seen = 0;
const tell = (id, type) => {
  console.log(`${id} ${type}`);
  seen += 1;
};

const types = ['run_started', 'step_start', 'step_restarted', 'llm_token',
  'llm_reasoning', 'tool_call', 'tool_progress', 'tool_result', 'plan_updated',
  'approval_required', 'approval_resolved', 'proposal', 'usage', 'retry',
  'status', 'user_message', 'run_error', 'final_answer', 'run_finished'];

if (client === 'eventsource') {
  const from = new EventSource(url, {
    fetch: (input, init) => fetch(input, {
      ...init, headers: { ...init.headers, ...authorization },
    }),
  });
  for (const type of types)
    from.addEventListener(type, (e) => tell(e.lastEventId, type));
  // A 204 stops it for good.
  from.onerror = () => {
    if (from.readyState === EventSource.CLOSED) end('stopped');
  };
} else {
  const from = createEventSource({
    url,
    headers: authorization,
    onMessage: ({ id, event }) => {
      tell(id, event);
      if (event !== 'run_finished') return;
      from.close();
      end('finished');
    },
  });
}
setTimeout(() => end('too late'), 90000).unref();
