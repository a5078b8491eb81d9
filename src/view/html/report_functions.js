const LIST_MOST = 500;
function showFunctions() {
  const items = sum.functions.map((f, l) => ({ ...f, l })).filter(f => f.total > 0 && labels[f.l][2] !== ALL && (!state.query || state.query.hits[f.l]));
  const by = { self: (a, b) => b.self - a.self, total: (a, b) => b.total - a.total, name: (a, b) => labels[a.l][0] < labels[b.l][0] ? -1 : 1, object: (a, b) => labels[a.l][1] < labels[b.l][1] ? -1 : 1 };
  items.sort((a, b) => by[state.sort](a, b) || a.l - b.l);
  const t = element('table'), head = element('tr');
  for (const [key, text, cls] of [['self', 'Self', 'n'], ['total', 'Total', 'n'], ['name', 'Function', ''], ['object', 'Object', '']]) {
    const h = element('th', undefined, cls), b = element('button', text + (state.sort === key ? ' ▾' : ''));
    h.setAttribute('aria-sort', state.sort === key ? (key === 'self' || key === 'total' ? 'descending' : 'ascending') : 'none');
    b.onclick = () => { state.sort = key; showFunctions(); }; h.append(b); head.append(h);
  }
  t.append(head);
  const inlined = labels.some(l => l[2] === INLINED);
  for (const f of items.slice(0, LIST_MOST)) {
    const r = element('tr', undefined, 'row'), b = element('button', short(labels[f.l][0])), d = element('td');
    r.setAttribute('aria-selected', f.l === state.label);
    const self = element('td', percent(f.self, sum.weight), 'n');
    self.style.background = heatColour(Math.min(0.7, f.self / (sum.weight || 1)));
    b.style.cssText = 'border:0;background:none;padding:0;text-align:left'; b.onclick = () => { state.label = f.l; showFunctions(); toHash(); };
    d.append(b); r.append(self, element('td', percent(f.total, sum.weight), 'n'), d, element('td', shown(objectOf(labels[f.l])), 'dim')); t.append(r);
  }
  $('list').replaceChildren(...(inlined ? [element('p', 'Functions that were inlined have their own time here; report --no-children counts it with the symbol that holds their code.', 'dim')] : []), t);
  if (items.length > LIST_MOST) $('list').append(element('p', `${items.length - LIST_MOST} more have less; the search finds them.`, 'dim'));
  showRelations();
}
/* Who calls the function, and whom it calls: of calls that recur in a stack the outermost counts, so that a sample is in each
 * pair of functions once. */
function relationsOf(l) {
  const callers = new Map(), callees = new Map(), path = [];
  for (let i = 1; i < tree.count; i++) {
    while (path.length && path[path.length - 1].end <= i) path.pop().open.count--;
    if (!tree.total[i]) continue;
    const above = tree.label[tree.parent[i]], here = tree.label[i];
    if (above === here || (here !== l && (above !== l || tree.parent[i] === 0))) continue;
    const map = here === l ? callers : callees, key = here === l ? above : here, open = map.get(key) || { weight: 0, count: 0 };
    if (!open.count++) open.weight += tree.total[i];
    map.set(key, open); path.push({ end: tree.next[i], open });
  }
  const weights = map => new Map([...map].map(([key, open]) => [key, open.weight]));
  return [weights(callers), weights(callees)];
}
function showRelations() {
  const box = $('relations'), l = state.label;
  box.replaceChildren();
  if (l < 0) { box.append(element('p', 'A click on a function shows who called it and what it called.', 'dim')); return; }
  const [callers, callees] = relationsOf(l);
  const f = sum.functions[l], part = (title, map) => { box.append(element('h2', title)); box.append(barTable([...map].sort((a, b) => b[1] - a[1]).slice(0, 40).map(([k, w]) => [w, labels[k][0], objectOf(labels[k]), () => { if (labels[k][2] !== ALL) { state.label = k; showFunctions(); toHash(); } }]))); };
  box.append(element('h2', short(labels[l][0])), element('p', `${shown(objectOf(labels[l]))} · ${KINDS[labels[l][2]] || ''} · self ${percent(f.self, sum.weight)}, total ${percent(f.total, sum.weight)}`, 'dim'));
  if (codeOf(l) >= 0) { const b = element('button', 'code'); b.onclick = () => { state.code = codeOf(l); show('code'); }; box.append(b); }
  part('Callers', callers); part('Callees', callees);
}
