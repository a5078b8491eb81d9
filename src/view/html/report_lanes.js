/* Rows over time: CPUs and threads with where they ran, counters as heights, tracepoints as marks. */
const LANES_MOST = 60, LANE = 16;
const lanes = { list: [], event: -1, left: 0, bins: 0 };
function laneList() {
  const cpus = new Set(), events = new Set(), weights = new Float64Array(data.tracks.length);
  for (let i = 0; i < rows.n; i++) {
    events.add(rows.event[i]);
    if (rows.event[i] !== state.event) continue;
    if (rows.cpu[i] >= 0) cpus.add(rows.cpu[i]);
    weights[rows.track[i]] += rows.weight[i];
  }
  const threads = Array.from(weights, (w, k) => k).filter(k => weights[k] > 0), numbers = set => [...set].sort((a, b) => a - b);
  const hot = threads.sort((a, b) => weights[b] - weights[a] || a - b).slice(0, LANES_MOST);
  lanes.hidden = threads.length - hot.length;
  return [...numbers(cpus).map(id => ({ kind: 'cpu', id, name: 'CPU ' + id })), ...hot.map(id => ({ kind: 'track', id, name: trackName(id) })),
    ...numbers(events).map(id => ({ kind: isTrace(id) ? 'trace' : 'counter', id, name: shown(data.events[id][0]) }))];
}
/* Samples by column: of CPUs and threads how many, kernel apart; of counters what they stand for. */
function fillLanes() {
  const find = kinds => { const of = []; for (const l of lanes.list) if (kinds.includes(l.kind)) of[l.id] = l; return of; };
  const ofCpu = find(['cpu']), ofTrack = find(['track']), ofEvent = find(['counter', 'trace']), n = lanes.bins, perBin = span / n;
  const isKernel = Uint8Array.from(tree.label, l => labels[l][2] === KERNEL);
  for (const l of lanes.list) { l.user = new Float64Array(n); l.kernel = new Float64Array(n); }
  for (let i = 0; i < rows.n; i++) {
    const bin = Math.min(Math.floor(rows.time[i] / perBin), n - 1), own = ofEvent[rows.event[i]], cpu = ofCpu[rows.cpu[i]], track = ofTrack[rows.track[i]];
    const isOnTrack = state.track < 0 || rows.track[i] === state.track, isOnCpu = state.cpu < 0 || rows.cpu[i] === state.cpu;
    if (isOnTrack && isOnCpu) own.user[bin] += own.kind === 'counter' ? rows.weight[i] : 1;
    if (rows.event[i] !== state.event) continue;
    if (cpu && isOnTrack) (isKernel[rows.node[i]] ? cpu.kernel : cpu.user)[bin]++;
    if (track && isOnCpu) (isKernel[rows.node[i]] ? track.kernel : track.user)[bin]++;
  }
  for (const l of lanes.list) { l.most = 0; for (let b = 0; b < n; b++) l.most = Math.max(l.most, l.user[b] + l.kernel[b]); }
}
/* How much of each column lies between two places. */
function addShares(columns, from, to) {
  const first = Math.max(0, Math.floor(from)), last = Math.min(columns.length - 1, Math.floor(to));
  for (let b = first; b <= last; b++) columns[b] += Math.min(to, b + 1) - Math.max(from, b);
}
/* Runs, often narrower than a column: each is as strong as it is covered. */
function drawRuns(p) {
  const trackOfTid = new Map(data.tracks.map((t, k) => [t[1], k])), at = new Map(lanes.list.map((l, i) => [l.kind + l.id, i]));
  const held = new Map();
  for (const [cpu, tid, from, to] of onCpu) for (const key of ['cpu' + cpu, 'track' + trackOfTid.get(tid)]) {
    const l = at.get(key);
    if (l === undefined) continue;
    if (!held.has(l)) held.set(l, new Float64Array(lanes.bins));
    addShares(held.get(l), from / span * lanes.bins, to / span * lanes.bins);
  }
  p.fillStyle = isDark() ? '#2d6b2d' : '#9fd894';
  for (const [l, shares] of held) shares.forEach((share, b) => {
    if (!share) return;
    p.globalAlpha = Math.min(1, 0.15 + 0.85 * share); /* however short, it is seen */
    p.fillRect(lanes.left + b, l * LANE + 1, 1, LANE - 2);
  });
  p.globalAlpha = 1;
}
/* Samples of several waits have no time of their own. */
const hasSpan = i => rows.state[i] < STATES.length && !(rows.waker[i] & 1);
/* By track, the rows that say what its thread did, by their ends. */
const statesOfTrack = new Map();
function statesOf(track) {
  if (!statesOfTrack.has(track)) statesOfTrack.set(track, []);
  return statesOfTrack.get(track);
}
if (WALL) for (let i = 0; i < rows.n; i++) if (hasSpan(i)) statesOf(rows.track[i]).push(i);
/* What the thread did then; -1: nobody knows. */
function stateAt(track, time) {
  const list = statesOf(track);
  let low = 0, high = list.length;
  while (low < high) { const middle = low + high >> 1; if (rows.time[list[middle]] < time) low = middle + 1; else high = middle; }
  for (const i of list.slice(low, low + 4)) if (rows.time[i] - rows.weight[i] <= time) return i;
  return -1;
}
/* A column of a thread has as much of each state's colour as the thread was in the state. */
function drawStates(p) {
  lanes.list.forEach((lane, l) => {
    if (lane.kind !== 'track') return;
    const shares = STATES.map(name => name ? new Float64Array(lanes.bins) : null), perNs = lanes.bins / span;
    for (const i of statesOf(lane.id)) addShares(shares[rows.state[i]], (rows.time[i] - rows.weight[i]) * perNs, rows.time[i] * perNs);
    const low = new Float64Array(lanes.bins);
    shares.forEach((share, s) => {
      if (!share) return;
      p.fillStyle = stateColour(STATES[s], 0);
      share.forEach((part, b) => {
        const height = (LANE - 3) * Math.min(part, 1 - low[b]);
        if (height <= 0) return;
        p.fillRect(lanes.left + b, l * LANE + LANE - 1 - (LANE - 3) * low[b] - height, 1, height);
        low[b] += height / (LANE - 3);
      });
    });
  });
}
function describeState(i) {
  const end = rows.time[i], waker = rows.waker[i] >> 1, leaf = labels[tree.label[rows.node[i]]][0];
  return [`${STATES[rows.state[i]]} for ${amount(rows.weight[i])}, until ${seconds(end)}`, `in ${short(leaf)}`, ...(waker ? [`woken by ${data.wakers[waker - 1]}`] : [])];
}
function laneColours() { return isDark() ? { user: '#e0952a', kernel: '#4da3e0', counter: '#2fb58c', trace: '#e391bd' } : { user: '#d97b00', kernel: '#1b6fb3', counter: '#00795a', trace: '#a3396f' }; }
function drawLane(p, lane, y, colours) {
  const chosen = lane.kind === 'track' ? lane.id === state.track : lane.kind === 'cpu' ? lane.id === state.cpu : lane.id === state.event;
  for (let b = 0; b < (WALL && lane.kind === 'track' ? 0 : lanes.bins); b++) {
    const low = lane.kind === 'trace' ? (lane.user[b] ? LANE - 4 : 0) : (LANE - 3) * lane.user[b] / (lane.most || 1), high = (LANE - 3) * lane.kernel[b] / (lane.most || 1);
    if (low) { p.fillStyle = colours[lane.kind] || colours.user; p.fillRect(lanes.left + b, y + LANE - 1 - low, 1, low); }
    if (high) { p.fillStyle = colours.kernel; p.fillRect(lanes.left + b, y + LANE - 1 - low - high, 1, high); }
  }
  p.fillStyle = chosen ? style('--mark') : style('--text');
  p.fillText(fitted(p, lane.name, lanes.left - 8), 2, y + LANE / 2);
}
function drawLanes() {
  if (lanes.event !== state.event) { lanes.list = laneList(); lanes.event = state.event; }
  const w = Math.max($('time').clientWidth - 24, 100), h = lanes.list.length * LANE, p = prepare($('lanes'), w, h + 18), colours = laneColours();
  lanes.left = Math.floor(Math.min(180, w / 3));
  lanes.bins = Math.max(Math.floor(w - lanes.left), 10);
  fillLanes(); drawRuns(p);
  if (WALL) drawStates(p);
  lanes.list.forEach((lane, i) => drawLane(p, lane, i * LANE, colours));
  drawChoice(p, lanes.left + lanes.bins, h, lanes.left); drawScale(p, lanes.left + lanes.bins, h + 9, lanes.left);
  const has = kind => lanes.list.some(l => l.kind === kind), keys = [['user', 'user'], ['kernel', 'kernel']];
  if (has('counter')) keys.push(['counter', 'events: height is how many at a time']);
  if (has('trace')) keys.push(['trace', 'tracepoints']);
  const states = STATES.filter(Boolean).map(name => {
    const key = element('span', undefined, 'key'), box = element('i');
    box.style.background = stateColour(name, 0); key.append(box, name);
    return key;
  });
  $('lanesNote').replaceChildren(...states, ...keys.map(([kind, text]) => {
    const key = element('span', undefined, 'key'), box = element('i');
    box.style.background = colours[kind]; key.append(box, text);
    return key;
  }), element('span', (WALL ? 'Threads have the colours of what they did; waits that were summed up have no time of their own. ' : onCpu.length ? 'Green: on a CPU; what is empty was off it. ' : 'When threads were off their CPUs was not recorded (record --switch-events). ') + (lanes.hidden ? `${lanes.hidden} more threads have fewer samples.` : '') + (data.textsLeftOut ? ` ${data.textsLeftOut} samples of tracepoints have no text here, since there are too many.` : '')));
}
const laneAt = e => lanes.list[Math.floor((e.clientY - $('lanes').getBoundingClientRect().top) / LANE)];
const timeInLanes = e => { const b = $('lanes').getBoundingClientRect(); return Math.min(Math.max((e.clientX - b.left - lanes.left) / lanes.bins * span, 0), span); };
/* Rows of each event by time, made when first asked for. */
const rowsOfEvent = new Map();
function rowsOf(event) {
  if (!rowsOfEvent.has(event)) rowsOfEvent.set(event, Uint32Array.from(Array.from({ length: rows.n }, (v, i) => i).filter(i => rows.event[i] === event)));
  return rowsOfEvent.get(event);
}
/* What happened within two columns of the place. */
function tracesAt(event, time) {
  const list = rowsOf(event), reach = 2 * span / lanes.bins, found = [];
  let low = 0, high = list.length;
  while (low < high) { const middle = low + high >> 1; if (rows.time[list[middle]] < time - reach) low = middle + 1; else high = middle; }
  for (; low < list.length && rows.time[list[low]] <= time + reach; low++) found.push(list[low]);
  return found.sort((a, b) => Math.abs(rows.time[a] - time) - Math.abs(rows.time[b] - time));
}
function describeLane(lane, time) {
  const bin = Math.min(Math.floor(time / span * lanes.bins), lanes.bins - 1), head = `${lane.name} at ${seconds(time)}`;
  if (lane.kind === 'trace') {
    const found = tracesAt(lane.id, time), lines = found.slice(0, 4).map(i => `${seconds(rows.time[i])} ${trackName(rows.track[i])}${rows.cpu[i] >= 0 ? ' CPU ' + rows.cpu[i] : ''}: ${rows.detail[i] >= 0 ? short(data.texts[rows.detail[i]]) : ''}`);
    return [head, ...lines, ...(found.length > 4 ? [`${found.length - 4} more close by`] : [])].join('\n');
  }
  if (lane.kind === 'counter') return `${head}\n${amount(lane.user[bin], lane.id)}${data.times ? `, ${amount(lane.user[bin] / (span / lanes.bins) * 1e9, lane.id)} a second` : ''}`;
  const known = WALL && lane.kind === 'track' ? stateAt(lane.id, time) : -1;
  if (known >= 0) return [head, ...describeState(known)].join('\n');
  const runs = onCpu.filter(r => r[2] <= time && time < r[3] && (lane.kind === 'cpu' ? r[0] === lane.id : r[1] === data.tracks[lane.id][1]));
  const ran = runs.map(r => lane.kind === 'cpu' ? 'runs ' + (data.tracks.some(t => t[1] === r[1]) ? trackName(data.tracks.findIndex(t => t[1] === r[1])) : r[1]) : r[0] >= 0 ? 'runs on CPU ' + r[0] : 'runs');
  return [head, `${lane.user[bin]} samples in user code, ${lane.kernel[bin]} in the kernel`, ...(onCpu.length && !ran.length ? [lane.kind === 'cpu' ? 'idle' : 'off its CPU'] : ran.slice(0, 3))].join('\n');
}
/* A name that was clicked chooses its samples, or its event; again: all. */
function clickLane(lane) {
  if (!lane) return;
  if (lane.kind === 'track') state.track = state.track === lane.id ? -1 : lane.id;
  else if (lane.kind === 'cpu') state.cpu = state.cpu === lane.id ? -1 : lane.id;
  else { state.event = lane.id; $('event').value = lane.id; state.zoom = state.focus = 0; }
  choose();
}
/* Dragging chooses a time, on both pictures. */
function brush(canvas, { timeAt, click, describe }) {
  let from = null, moved = false;
  canvas.onpointerdown = e => { from = timeAt(e); moved = false; canvas.setPointerCapture(e.pointerId); tip(''); };
  canvas.onpointermove = e => {
    if (from === null) { tip(describe(e), e); return; }
    const to = timeAt(e);
    if (from[0] === to[0] && !moved) return;
    moved = true; state.from = Math.min(from[0], to[0]); state.to = Math.max(from[1], to[1]);
    redrawTime();
  };
  canvas.onpointerup = e => { const was = from; from = null; if (was === null) return; if (moved) choose(); else click(e, was); };
  canvas.onpointercancel = () => { from = null; if (moved) choose(); };
  canvas.onpointerleave = () => tip('');
  canvas.onkeydown = e => {
    const step = span / 60, by = e.key === 'ArrowLeft' ? -step : e.key === 'ArrowRight' ? step : 0;
    if (e.key === 'Escape') { state.from = 0; state.to = Infinity; choose(); return; }
    if (!by) return;
    e.preventDefault();
    if (state.to === Infinity) { state.from = 0; state.to = step * 6; } else if (e.shiftKey) state.to = Math.max(state.to + by, state.from + step); else { state.from = Math.max(0, state.from + by); state.to += by; }
    choose();
  };
}
let timeFrame = 0;
function redrawTime() { if (!timeFrame) timeFrame = requestAnimationFrame(() => { timeFrame = 0; drawHeat(); drawLanes(); }); }
/* The column and the line in it; lines are counted from below, where a column begins. */
function heatCell(e) {
  const b = $('heat').getBoundingClientRect(), most = (n, value) => Math.min(Math.max(Math.floor(value), 0), n - 1);
  return [most(heat.columns, (e.clientX - b.left) / heat.width), heat.lines - 1 - most(heat.lines, (e.clientY - b.top) / 4)];
}
brush($('heat'), {
  timeAt: e => { const [c, l] = heatCell(e), at = c * heat.each + l / heat.lines * heat.each; return [at, at + heat.each / heat.lines]; },
  click: (e, at) => { state.from = Math.floor(at[0] / heat.each + 1e-9) * heat.each; state.to = state.from + heat.each; choose(); },
  describe: e => { const [c, l] = heatCell(e), at = c * heat.each + l / heat.lines * heat.each; return `${seconds(at)} to ${seconds(at + heat.each / heat.lines)}\n${amount(heat.cells[c * heat.lines + l] || 0)}`; },
});
brush($('lanes'), {
  timeAt: e => { const t = timeInLanes(e); return [t, t]; },
  click: e => clickLane(laneAt(e)),
  describe: e => { const lane = laneAt(e); return !lane ? '' : e.clientX < $('lanes').getBoundingClientRect().left + lanes.left ? lane.name : describeLane(lane, timeInLanes(e)); },
});
