const shades = shadesOf(labels), colour = label => kindColour(labels[label][2], shades[label]);
let boxes = [];
function drawFlames() {
  const canvas = $('flames'), w = $('flame').clientWidth, h = Math.max((tree.deepest + 1) * ROW, 20), p = prepare(canvas, w, Math.min(h, 16000));
  const z = state.zoom, least = tree.total[z] / w * 0.4;
  boxes = [];
  const one = (i, x, width) => {
    const y = tree.depth[i] * ROW, l = tree.label[i], hit = state.query && state.query.hits[l];
    boxes.push([i, x, width, y]);
    p.globalAlpha = i !== z && i < z && z < tree.next[i] ? 0.55 : 1;
    p.fillStyle = hit ? (isDark() ? '#a43fc4' : '#d06cf0') : colour(l);
    p.fillRect(x, y + 0.5, Math.max(width - (width > 3 ? 0.8 : 0), 0.3), ROW - 1.5);
    p.globalAlpha = 1;
    if (i && tree.parent[i] === 0 && !labels[l][3] && width > 3) edge(p, x, y + 0.75, width);
    if (i === state.focus) { p.strokeStyle = style('--text'); p.lineWidth = 2; p.strokeRect(x + 1, y + 1, Math.max(width - 2.5, 1), ROW - 3); }
    if (width > 24) { p.fillStyle = isDark() ? '#fff' : '#111'; const text = fitted(p, shown(labels[l][0]), width - 7); if (text) p.fillText(text, x + 3, y + ROW / 2); }
  };
  for (let i = tree.parent[z]; i >= 0; i = tree.parent[i]) one(i, 0, w);
  if (!tree.total[z]) return;
  const scale = w / tree.total[z];
  for (let i = z, end = tree.next[z]; i < end;) {
    if (tree.total[i] <= least) { i = tree.next[i]; continue; }
    one(i, (tree.start[i] - tree.start[z]) * scale, tree.total[i] * scale); i++;
  }
}
const boxAt = e => { const b = $('flames').getBoundingClientRect(), x = e.clientX - b.left, y = e.clientY - b.top; const found = boxes.find(([, left, w, top]) => y >= top && y < top + ROW && x >= left && x < left + Math.max(w, 1)); return found ? found[0] : -1; };
function describe(i) { const [name, , kind] = labels[tree.label[i]], object = objectOf(labels[tree.label[i]]); return `${short(name)}\n${shown(object)}${KINDS[kind] ? ' · ' + KINDS[kind] : ''}\n${amount(tree.total[i])}, ${percent(tree.total[i], sum.weight)} of what is chosen; own ${percent(tree.self[i], sum.weight)}`; }
function tip(text, e) {
  const t = $('tip');
  t.style.display = text ? 'block' : 'none';
  if (!text) return;
  t.textContent = text;
  const b = t.getBoundingClientRect();
  t.style.left = Math.max(4, Math.min(e.clientX + 12, innerWidth - b.width - 6)) + 'px';
  t.style.top = (e.clientY + 18 + b.height > innerHeight ? Math.max(4, e.clientY - b.height - 10) : e.clientY + 18) + 'px';
}
function zoom(i) { state.zoom = i; state.focus = i; drawFlames(); toHash(); }
$('flames').onclick = e => { const i = boxAt(e); if (i >= 0) zoom(i); };
$('flames').onpointermove = e => { const i = boxAt(e); tip(i >= 0 ? describe(i) : '', e); };
$('flames').onpointerleave = () => tip('');
$('flames').onkeydown = e => {
  const f = state.focus, t = tree;
  const live = (i, end) => { for (; i < end; i = t.next[i]) if (t.total[i] > 0) return i; return -1; };
  let to = -1;
  if (e.key === 'Enter') zoom(f); else if (e.key === 'Escape' || e.key === 'Backspace') zoom(Math.max(t.parent[state.zoom], 0));
  else if (e.key === 'ArrowUp') to = t.parent[f]; else if (e.key === 'ArrowDown') to = live(f + 1, t.next[f]);
  else if (e.key === 'ArrowRight' && f) to = live(t.next[f], t.next[t.parent[f]]);
  else if (e.key === 'ArrowLeft' && f) { for (let i = t.parent[f] + 1; i < f; i = t.next[i]) if (t.total[i] > 0) to = i; } else return;
  e.preventDefault();
  if (to >= 0) { state.focus = to; drawFlames(); const y = t.depth[to] * ROW; if (y < $('flame').scrollTop || y > $('flame').scrollTop + $('flame').clientHeight - ROW) $('flame').scrollTop = y - 100; }
};
