/* The tree of all stacks: nodes that look alike below the same caller are one; in the order of drawing, node 0 is all. */
const labels = data.labels;
labels.push(['all', '', ALL]);
function readTree() {
  const next = reader(data.nodes), count = data.nodeCount, merged = new Uint32Array(count);
  const label = [labels.length - 1], parent = [-1], ids = new Map();
  for (let i = 0; i < count; i++) {
    const back = next(), name = next(), above = back ? merged[i - back] : 0, key = above * labels.length + name;
    let id = ids.get(key);
    if (id === undefined) { id = label.push(name) - 1; parent.push(above); ids.set(key, id); }
    merged[i] = id;
  }
  const order = labels.map((l, i) => i).sort((a, b) => labels[a][0] < labels[b][0] ? -1 : labels[a][0] > labels[b][0] ? 1 : a - b), rank = new Uint32Array(labels.length);
  order.forEach((l, i) => { rank[l] = i; });
  const below = Array.from(label, () => null);
  for (let i = 1; i < label.length; i++) (below[parent[i]] ||= []).push(i);
  const n = label.length, t = { count: n, label: new Uint32Array(n), parent: new Int32Array(n), depth: new Uint32Array(n), next: new Uint32Array(n), self: new Float64Array(n), total: new Float64Array(n), start: new Float64Array(n), deepest: 0 };
  const place = new Uint32Array(n), stack = [[0, -1, 0]];
  let at = 0;
  while (stack.length) {
    const [id, above, depth] = stack.pop(), i = at++;
    place[id] = i; t.label[i] = label[id]; t.parent[i] = above; t.depth[i] = depth; t.deepest = Math.max(t.deepest, depth);
    if (below[id]) below[id].sort((a, b) => rank[label[b]] - rank[label[a]]).forEach(c => stack.push([c, i, depth + 1]));
  }
  for (let i = 0; i < n; i++) t.next[i] = i + 1;
  for (let i = n - 1; i > 0; i--) t.next[t.parent[i]] = Math.max(t.next[t.parent[i]], t.next[i]);
  for (let i = 0; i < count; i++) merged[i] = place[merged[i]];
  return [t, merged];
}
const [tree, nodeOf] = readTree();

const rows = (() => {
  const n = data.rowCount, next = reader(data.rows), last = data.events.map(() => 0);
  const r = { n, time: new Float64Array(n), node: new Uint32Array(n), track: new Uint32Array(n), cpu: new Int32Array(n), event: new Uint16Array(n), weight: new Float64Array(n), detail: new Int32Array(n) };
  let time = 0;
  for (let i = 0; i < n; i++) {
    r.time[i] = time += next(); r.node[i] = nodeOf[next()]; r.track[i] = next(); r.cpu[i] = next() - 1; r.event[i] = next();
    const w = next();
    if (w) last[r.event[i]] = w - 1;
    r.weight[i] = last[r.event[i]]; r.detail[i] = next() - 1;
  }
  return r;
})();
const isTrace = event => data.events[event] !== undefined && data.events[event][3] === 1;
/* When which thread was on which CPU, where context switches were recorded. */
const onCpu = (() => {
  const next = reader(data.switches), now = new Map(), spans = [];
  let time = 0;
  for (let i = 0; i < data.switchCount; i++) {
    time += next();
    const cpu = next(), leaves = next(), comes = next(), began = now.get(cpu);
    if (leaves) spans.push([cpu, leaves, began && began[1] === leaves ? began[0] : time, time]);
    now.set(cpu, [time, comes]);
  }
  for (const [cpu, [began, tid]] of now) if (tid) spans.push([cpu, tid, began, data.span]);
  return spans;
})();

const span = Math.max(data.span, 1);
const state = { event: 0, from: 0, to: Infinity, track: -1, cpu: -1, code: -1, pane: 'overview', query: null, zoom: 0, focus: 0, label: -1, sort: 'self' };
let sum = { count: 0, weight: 0, kernel: 0 };
/* The unit that a reader knows: times for clocks, else the event's. */
function amount(value, event = state.event) {
  if (data.events[event] && data.events[event][1] === 'nanoseconds') return value >= 1e9 ? (value / 1e9).toFixed(3) + ' s' : (value / 1e6).toFixed(3) + ' ms';
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}
const seconds = ns => data.times ? (ns / 1e9).toFixed(ns < 1e8 ? 6 : 3) + ' s' : '#' + ns;
const wants = i => rows.event[i] === state.event && (state.track < 0 || rows.track[i] === state.track) && (state.cpu < 0 || rows.cpu[i] === state.cpu);
const inTime = i => rows.time[i] >= state.from && rows.time[i] < state.to;
const trackName = k => { const t = data.tracks[k]; return short(t[2] || '?') + (t[1] >= 0 ? ' ' + (t[0] === t[1] ? t[1] : t[0] + '/' + t[1]) : ''); };

/* All views are of the samples that are chosen by event, time, thread and CPU. */
function choose() {
  const t = tree;
  t.self.fill(0);
  sum = { count: 0, weight: 0, kernel: 0 };
  for (let i = 0; i < rows.n; i++) {
    if (!wants(i) || !inTime(i)) continue;
    t.self[rows.node[i]] += rows.weight[i];
    sum.count++; sum.weight += rows.weight[i];
    if (labels[t.label[rows.node[i]]][2] === KERNEL) sum.kernel += rows.weight[i];
  }
  t.total.set(t.self);
  for (let i = t.count - 1; i > 0; i--) t.total[t.parent[i]] += t.total[i];
  const used = new Float64Array(t.count);
  t.start[0] = 0;
  for (let i = 1; i < t.count; i++) { const p = t.parent[i]; t.start[i] = t.start[p] + used[p]; used[p] += t.total[i]; }
  sum.functions = sumFunctions();
  sum.code = null;
  if (!t.total[state.zoom]) state.zoom = 0;
  showChosen(); showAll(); toHash();
}
/* A function that calls itself counts once in a stack. */
function sumFunctions() {
  const f = labels.map(() => ({ self: 0, total: 0 })), open = new Uint32Array(labels.length), path = [];
  for (let i = 0; i < tree.count; i++) {
    while (path.length && tree.next[path[path.length - 1]] <= i) open[tree.label[path.pop()]]--;
    const l = tree.label[i];
    f[l].self += tree.self[i];
    if (!open[l]++) f[l].total += tree.total[i];
    path.push(i);
  }
  return f;
}
function showChosen() {
  const box = $('chosen'), parts = [];
  if (state.from > 0 || state.to < Infinity) parts.push([`time ${seconds(Math.max(state.from, 0))} to ${seconds(Math.min(state.to, span))}`, () => { state.from = 0; state.to = Infinity; }]);
  if (state.track >= 0) parts.push([`thread ${trackName(state.track)}`, () => { state.track = -1; }]);
  if (state.cpu >= 0) parts.push([`CPU ${state.cpu}`, () => { state.cpu = -1; }]);
  box.replaceChildren();
  for (const [text, undo] of parts) {
    const b = element('button', text + ' ✕'); b.title = 'show all again';
    b.onclick = () => { undo(); choose(); };
    box.append(b);
  }
  if (parts.length) box.append(element('span', `${sum.count.toLocaleString('en-US')} samples chosen`));
}
