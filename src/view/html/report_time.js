function prepare(canvas, w, h) {
  const ratio = devicePixelRatio || 1, p = canvas.getContext('2d');
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
  canvas.style.width = w + 'px'; canvas.style.height = h + 'px';
  p.setTransform(ratio, 0, 0, ratio, 0, 0); p.clearRect(0, 0, w, h); p.font = '12px system-ui, sans-serif'; p.textBaseline = 'middle';
  return p;
}
const heat = { columns: 60, lines: 50, width: 0, each: 1, cells: [] };
function drawHeat() {
  const canvas = $('heat'), w = Math.max($('time').clientWidth - 24, 100), h = heat.lines * 4 + 18, p = prepare(canvas, w, h);
  heat.columns = data.times && span > 20e9 ? Math.min(Math.ceil(span / 1e9), 600) : 60;
  heat.each = data.times && span > 20e9 && span <= 600e9 ? 1e9 : span / heat.columns;
  const cells = new Float64Array(heat.columns * heat.lines);
  let most = 0;
  for (let i = 0; i < rows.n; i++) {
    if (!wants(i)) continue;
    const c = Math.min(Math.floor(rows.time[i] / heat.each), heat.columns - 1), l = Math.min(Math.floor((rows.time[i] - c * heat.each) / heat.each * heat.lines), heat.lines - 1);
    most = Math.max(most, cells[c * heat.lines + l] += rows.weight[i]);
  }
  heat.cells = cells;
  const cw = heat.width = w / heat.columns;
  p.fillStyle = style('--field'); p.fillRect(0, 0, w, heat.lines * 4);
  for (let c = 0; c < heat.columns; c++) for (let l = 0; l < heat.lines; l++) {
    const v = cells[c * heat.lines + l];
    if (!v) continue;
    p.fillStyle = heatColour(0.12 + 0.88 * v / most); p.fillRect(c * cw, (heat.lines - 1 - l) * 4, Math.max(cw - 0.5, 0.5), 3.7);
  }
  drawChoice(p, w, heat.lines * 4); drawScale(p, w, heat.lines * 4 + 9);
}
function drawChoice(p, w, h, left = 0) {
  if (!(state.from > 0 || state.to < Infinity)) return;
  const x0 = left + Math.max(state.from, 0) / span * (w - left), x1 = left + Math.min(state.to, span) / span * (w - left);
  p.fillStyle = isDark() ? '#0009' : '#fff9'; p.fillRect(left, 0, x0 - left, h); p.fillRect(x1, 0, w - x1, h);
  p.strokeStyle = style('--mark'); p.lineWidth = 2; p.strokeRect(x0, 1, Math.max(x1 - x0, 1), h - 2);
}
function drawScale(p, w, y, left = 0) {
  p.fillStyle = style('--dim');
  const steps = Math.max(1, Math.min(4, Math.floor((w - left) / 110)));
  for (let k = 0; k <= steps; k++) { p.textAlign = k === 0 ? 'left' : k === steps ? 'right' : 'center'; p.fillText(seconds(span * k / steps), left + (w - left) * k / steps, y); }
  p.textAlign = 'left';
}
