/* The load over time: how many threads ran and waited on average, and the choice of a time by dragging. */
const LOAD_STEPS = 240, LOAD_PARTS = ['running', 'waiting'];
const load = { points: [], from: 0n, until: 0n, step: 1n, drag: null };
/* The time that is drawn is wider than what is chosen, so that what is around it can be chosen too. */
function loadTimes() {
  const length = state.until - state.from, room = state.seconds ? 0n : length;
  let from = state.from - room, until = state.until + room;
  if (state.compares && state.baseFrom < from) from = state.baseFrom;
  if (state.compares && state.baseUntil > until) until = state.baseUntil;
  return [from, until];
}
async function showLoad() {
  const [from, until] = loadTimes();
  const seconds = (until - from) / BigInt(LOAD_STEPS) / NS + 1n, step = seconds * NS;
  const answer = await (await ask('load', '/api/v1/load', { query: state.query, from, until, event: state.event, step: seconds + 's' })).json();
  Object.assign(load, { from, until, step, points: answer.points });
  drawLoad();
}
const loadX = ns => Number(ns - load.from) / Number(load.until - load.from) * $('load').clientWidth;
const loadTime = x => load.from + BigInt(Math.round(Math.max(0, Math.min(1, x / $('load').clientWidth)) * Number(load.until - load.from)));
const valueOf = (point, part) => Number(part === 'running' ? point.running_ns : point.waiting_ns) / Number(load.step);
function loadColour(part) { return stateColour(part === 'running' ? 'running' : 'sleep', 0); }
function drawLoad() {
  const canvas = $('load'), ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight, p = canvas.getContext('2d');
  canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
  p.setTransform(ratio, 0, 0, ratio, 0, 0); p.clearRect(0, 0, w, h); p.font = '11px system-ui, sans-serif';
  if (!load.points.length) return;
  const inTime = load.points.some(point => point.running_ns || point.waiting_ns), parts = inTime ? LOAD_PARTS : ['samples'];
  const of = (point, part) => part === 'samples' ? Number(point.samples) : valueOf(point, part);
  const most = Math.max(...load.points.map(point => parts.reduce((sum, part) => sum + of(point, part), 0)), Number.MIN_VALUE), bottom = h - 16, top = 14;
  const wide = Math.max(w * Number(load.step) / Number(load.until - load.from), 1);
  for (const point of load.points) {
    let y = bottom;
    const x = loadX(BigInt(point.begin_ns));
    for (const part of parts) {
      const high = of(point, part) / most * (bottom - top);
      p.fillStyle = part === 'samples' ? loadColour('running') : loadColour(part);
      p.fillRect(x, y - high, Math.max(wide - 0.5, 0.5), high); y -= high;
    }
    if (Number(point.lost_samples)) { p.fillStyle = style('--mark'); p.fillRect(x, top - 4, Math.max(wide - 0.5, 1), 3); }
  }
  p.fillStyle = style('--dim'); p.fillText(most.toLocaleString('en-US', { maximumFractionDigits: 2 }) + (inTime ? ' threads' : ' samples'), 2, 10);
  for (let k = 0; k <= 4; k++) { const x = w * k / 4; p.textAlign = k === 0 ? 'left' : k === 4 ? 'right' : 'center'; p.fillText(timeText(loadTime(x)), x, h - 4); }
  p.textAlign = 'left';
  const mark = (from, until, colour) => { p.fillStyle = colour; p.globalAlpha = 0.16; p.fillRect(loadX(from), 0, Math.max(loadX(until) - loadX(from), 1), bottom); p.globalAlpha = 1; p.strokeStyle = colour; p.lineWidth = 1.5; p.strokeRect(loadX(from), 1, Math.max(loadX(until) - loadX(from), 1), bottom - 1); };
  if (state.compares) mark(state.baseFrom, state.baseUntil, '#0072b2');
  if (!state.seconds) mark(state.from, state.until, style('--mark'));
  if (load.drag) mark(...sorted(load.drag.from, load.drag.to), load.drag.isBase ? '#0072b2' : style('--mark'));
  const words = inTime ? [['running', loadColour('running'), 'running threads'], ['waiting', loadColour('waiting'), 'waiting threads']] : [['running', loadColour('running'), 'samples']];
  if (load.points.some(point => Number(point.lost_samples))) words.push(['lost', style('--mark'), 'samples were lost']);
  $('legend').replaceChildren(...words.flatMap(([, colour, text]) => { const i = element('i', undefined, 'swatch'); i.style.background = colour; return [i, ' ' + text + '  ']; }));
  $('range').textContent = rangeText(state.from, state.until) + (state.compares ? ', compared with ' + rangeText(state.baseFrom, state.baseUntil) : '');
  canvas.setAttribute('aria-label', `load from ${timeText(load.from)} to ${timeText(load.until)}, at most ${most.toFixed(2)}; drag, or arrow keys, to choose a time`);
}
const sorted = (a, b) => a < b ? [a, b] : [b, a];
const dateOf = ns => new Date(Number(ns / MS));
function timeText(ns) {
  const long = load.until - load.from > 2n * 86400n * NS;
  return dateOf(ns).toLocaleString([], long ? { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } : { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}
const rangeText = (from, until) => dateOf(from).toLocaleString() + ' to ' + dateOf(until).toLocaleString();
function choose(from, until, isBase) {
  if (until - from < NS) until = from + NS;
  if (isBase) Object.assign(state, { compares: true, baseSpan: '', baseFrom: from, baseUntil: until });
  else Object.assign(state, { seconds: 0, from, until });
  showAll();
}
$('load').onpointerdown = e => { if (e.button) return; $('load').setPointerCapture(e.pointerId); const t = loadTime(e.offsetX); load.drag = { from: t, to: t, x: e.offsetX, isBase: e.shiftKey }; };
$('load').onpointermove = e => { if (load.drag) { load.drag.to = loadTime(e.offsetX); drawLoad(); } };
$('load').onpointerup = e => {
  const drag = load.drag;
  load.drag = null;
  if (drag && Math.abs(e.offsetX - drag.x) >= 3) choose(...sorted(drag.from, loadTime(e.offsetX)), drag.isBase); else drawLoad();
};
$('load').onpointercancel = () => { load.drag = null; drawLoad(); };
/* Arrow keys move the chosen time by half of it; plus and minus make it shorter and longer. */
$('load').onkeydown = e => {
  const length = state.until - state.from, half = length / 2n, quarter = length / 4n;
  const moves = { ArrowLeft: [-half, -half], ArrowRight: [half, half], '+': [quarter, -quarter], '-': [-half, half] }, move = moves[e.key];
  if (!move) return;
  e.preventDefault();
  choose(state.from + move[0] < 0n ? 0n : state.from + move[0], state.until + move[1], false);
};
