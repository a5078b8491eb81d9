function showOverview() {
  const box = $('overview'), t = element('table');
  const line = (name, value) => { if (!value) return; const r = element('tr'); r.append(element('th', name), element('td', shown(String(value)))); t.append(r); };
  line('what', data.command); line('host', [data.host, data.os, data.arch].filter(Boolean).join(', ')); line('CPU', [data.cpu, data.cpus ? data.cpus + ' online' : ''].filter(Boolean).join(', '));
  if (data.wall) line('when', new Date(data.wall * 1000).toISOString());
  if (data.times || counts) line('how long', data.times ? seconds(data.span) : digits(counts.elapsed, 3) + ' s');
  if (onlyCounts) { box.replaceChildren(t, showCounts()); return; }
  line('event', data.events[state.event] ? data.events[state.event][0] : 'none'); line('samples', sum.count.toLocaleString('en-US')); line('sum', amount(sum.weight));
  line('in the kernel', percent(sum.kernel, sum.weight)); line('origin', data.origin); line('health', data.quality);
  const hot = sum.functions.map((f, l) => [f, l]).filter(([f, l]) => f.self > 0 && labels[l][2] !== ALL).sort((a, b) => b[0].self - a[0].self).slice(0, 12);
  const threads = new Map();
  for (let i = 0; i < rows.n; i++) if (rows.event[i] === state.event && inTime(i)) threads.set(rows.track[i], (threads.get(rows.track[i]) || 0) + rows.weight[i]);
  const cols = element('div', undefined, 'cols'), left = element('div'), right = element('div');
  left.append(element('h2', 'Hottest functions'), barTable(hot.map(([f, l]) => [f.self, labels[l][0], objectOf(labels[l]), () => { state.label = l; show('functions'); }])));
  const all = [...threads.values()].reduce((a, b) => a + b, 0);
  right.append(element('h2', 'Threads'), barTable([...threads].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([k, w]) => [w, trackName(k), '', () => { state.track = state.track === k ? -1 : k; choose(); }]), all));
  cols.append(left, right);
  box.replaceChildren(t, ...(counts ? [showCounts()] : []), cols);
}
function barTable(items, of) {
  const t = element('table', undefined, 'bars');
  for (const [w, name, object, act] of items) {
    const r = element('tr', undefined, 'row'), n = element('td', percent(w, of ?? sum.weight), 'n'), d = element('td'), b = element('button', short(name));
    n.style.background = heatColour(Math.min(0.7, w / ((of ?? sum.weight) || 1)));
    b.style.cssText = 'border:0;background:none;padding:0;text-align:left'; b.onclick = act;
    d.append(b); r.append(n, d, element('td', shown(object), 'dim')); t.append(r);
  }
  return t;
}
