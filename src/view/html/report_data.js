/* The tree of all stacks: nodes that look alike below the same caller are one; in the order of drawing, node 0 is all. */
const labels = data.labels;
labels.push(['all', '', ALL]);
function readTree() {
  const next = reader(data.nodes), merged = new Uint32Array(data.nodeCount), grown = growTree(labels.length - 1);
  for (let i = 0; i < merged.length; i++) { const back = next(); merged[i] = grown.below(back ? merged[i - back] : 0, next()); }
  const [t, place] = orderTree(grown, labels);
  for (let i = 0; i < merged.length; i++) merged[i] = place[merged[i]];
  return [t, merged];
}
const [tree, nodeOf] = readTree();

/* What threads did, by number; empty of what nobody did. */
const STATES = data.states || [], WALL = STATES.length > 0;
const rows = (() => {
  const n = data.rowCount, next = reader(data.rows), last = data.events.map(() => 0);
  const r = { n, time: new Float64Array(n), node: new Uint32Array(n), track: new Uint32Array(n), cpu: new Int32Array(n), event: new Uint16Array(n), weight: new Float64Array(n), detail: new Int32Array(n), state: new Uint8Array(WALL ? n : 0), waker: new Uint32Array(WALL ? n : 0) };
  let time = 0;
  for (let i = 0; i < n; i++) {
    r.time[i] = time += next(); r.node[i] = nodeOf[next()]; r.track[i] = next(); r.cpu[i] = next() - 1; r.event[i] = next();
    const w = next();
    if (w) last[r.event[i]] = w - 1;
    r.weight[i] = last[r.event[i]]; r.detail[i] = next() - 1;
    if (WALL) { r.state[i] = next(); r.waker[i] = next(); }
  }
  return r;
})();
const isTrace = event => data.events[event] !== undefined && data.events[event][3] === 1;
/* [CPU (-1: not known), thread, from, to]: when which thread ran, where context switches were recorded. */
const onCpu = (() => {
  const next = reader(data.switches), now = new Map(), spans = [];
  let time = 0;
  for (let i = 0; i < data.switchCount; i++) {
    time += next();
    const cpu = next() - 1, leaves = next(), comes = next(), at = cpu >= 0 ? cpu : 'thread ' + (leaves || comes), began = now.get(at);
    if (leaves) spans.push([cpu, leaves, began && began[1] === leaves ? began[0] : time, time]);
    now.set(at, [time, comes, cpu]);
  }
  for (const [began, tid, cpu] of now.values()) if (tid) spans.push([cpu, tid, began, data.span]);
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
  sumTree(t, t.self, t.total); placeTree(t);
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
