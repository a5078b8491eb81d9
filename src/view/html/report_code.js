/* Listings of hot functions: instructions as [how far from the start, text, where its jump leads, lines of source]. */
const listings = data.code.map(([name, object, instructions]) => ({ name, object, instructions }));
const places = (() => {
  const next = reader(data.places), p = { listing: new Uint32Array(data.placeCount), at: new Float64Array(data.placeCount) };
  for (let i = 0; i < data.placeCount; i++) { p.listing[i] = next(); p.at[i] = next(); }
  return p;
})();
const codeOf = l => labels[l][5] ?? -1;
const listingName = i => { const l = labels.find(label => label[5] === i); return short(listings[i].name) + (l && l[4] ? ' ' + l[4] : ''); };
/* The last instruction that begins there or before. */
function instructionAt(listing, at) {
  const list = listings[listing].instructions;
  let low = 0, high = list.length - 1;
  while (low < high) { const middle = low + high + 1 >> 1; if (list[middle][0] <= at) low = middle; else high = middle - 1; }
  return low;
}
/* By listing: the weight of the chosen samples, their number, and the weight by instruction. */
function sumCode() {
  const sums = listings.map(f => ({ weight: 0, count: 0, heat: new Float64Array(f.instructions.length) }));
  if (isTrace(state.event)) return sums;
  for (let i = 0; i < rows.n; i++) {
    const place = rows.detail[i];
    if (place < 0 || !wants(i) || !inTime(i)) continue;
    const s = sums[places.listing[place]];
    s.weight += rows.weight[i]; s.count++;
    s.heat[instructionAt(places.listing[place], places.at[place])] += rows.weight[i];
  }
  return sums;
}
function instructionRow(f, k, share, jump) {
  const [at, text, target = -1] = f.instructions[k], r = element('tr'), d = element('td', short(text)), n = element('td', share ? share.toFixed(2) : '', 'n');
  n.style.background = share ? heatColour(Math.min(0.75, 0.06 + share / 60)) : '';
  if (target >= 0) {
    const b = element('button', '→', 'jump');
    b.title = 'go to +' + target.toString(16); b.setAttribute('aria-label', b.title); b.onclick = () => jump(target);
    d.append(b);
  }
  r.append(n, element('td', '+' + at.toString(16), 'dim'), d);
  return r;
}
function codeTable(f, s) {
  const t = element('table', undefined, 'code'), at = new Map();
  const jump = target => { const to = at.get(target); if (to) { to.scrollIntoView({ block: 'center' }); to.setAttribute('aria-selected', true); } };
  f.instructions.forEach((item, k) => {
    for (const [line, text] of item[3] || []) {
      const r = element('tr', undefined, 'src'), d = element('td', (line ? line + '  ' : '') + short(text));
      d.colSpan = 3; r.append(d); t.append(r);
    }
    const r = instructionRow(f, k, s.weight ? 100 * s.heat[k] / s.weight : 0, jump);
    at.set(item[0], r); t.append(r);
  });
  return t;
}
function showCode() {
  const box = $('code'), pick = element('select');
  sum.code ||= sumCode();
  const mine = sum.code.map((s, i) => i).filter(i => sum.code[i].weight > 0).sort((a, b) => sum.code[b].weight - sum.code[a].weight);
  box.replaceChildren();
  if (!mine.length) {
    box.append(element('p', listings.length ? 'None of the chosen samples lies in a function whose code is in this file.' : 'There is no code of hot functions in this file: it was made where the programs are not.', 'dim'));
    return;
  }
  if (!mine.includes(state.code)) state.code = mine[0];
  for (const i of mine) { const o = element('option', `${listingName(i)} (${percent(sum.code[i].weight, sum.weight)})`); o.value = i; o.selected = i === state.code; pick.append(o); }
  pick.setAttribute('aria-label', 'function'); pick.onchange = () => { state.code = +pick.value; showCode(); toHash(); };
  const f = listings[state.code], s = sum.code[state.code];
  box.append(pick, element('p', `${shown(f.object)} · shares of the ${s.count.toLocaleString('en-US')} chosen samples in the function`, 'dim'), codeTable(f, s));
}
