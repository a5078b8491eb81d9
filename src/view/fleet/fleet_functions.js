/* The selected profile: the flame graph in its frame, and the functions summed from the flame graph's data. */
const FUNCTIONS_MOST = 500;
const profile = { rows: [], total: 0, base: 0, isDiff: false, unit: '', event: '', sort: 'self' };
async function sumFunctions(data) {
  const labels = data.labels, isDiff = data.base !== undefined, states = data.states || [];
  const number = numbersOf(await unpacked(data.nodes)), nodes = [], open = [-1];
  let depth = 0;
  for (let i = 0; i < data.count; i++) {
    depth -= number();
    const node = { label: number(), self: number(), was: 0, parent: open[depth] };
    if (isDiff) node.was = number();
    if (states.length) { node.self = 0; for (let left = number(); left > 0; left--) { number(); node.self += number(); } }
    open[++depth] = i; nodes.push(node);
  }
  const total = nodes.map(node => [node.self, node.was]), rows = labels.map((l, k) => ({ name: l[0], object: objectOf(l), label: k, kind: l[2], self: 0, total: 0, wasSelf: 0, wasTotal: 0 }));
  for (let i = nodes.length - 1; i >= 0; i--) if (nodes[i].parent >= 0) { total[nodes[i].parent][0] += total[i][0]; total[nodes[i].parent][1] += total[i][1]; }
  /* In a stack that has a function more than once, the outermost call has the function's total. */
  const path = [], calls = new Int32Array(labels.length);
  nodes.forEach((node, i) => {
    while (path.length && path[path.length - 1] !== node.parent) calls[nodes[path.pop()].label]--;
    const row = rows[node.label];
    row.self += node.self; row.wasSelf += node.was;
    if (!calls[node.label]++) { row.total += total[i][0]; row.wasTotal += total[i][1]; }
    path.push(i);
  });
  const roots = nodes.map((node, i) => node.parent < 0 ? total[i] : [0, 0]).reduce((a, b) => [a[0] + b[0], a[1] + b[1]], [0, 0]);
  Object.assign(profile, { rows: rows.filter(r => KINDS[r.kind] !== 'thread' && (r.total || r.wasTotal)), total: roots[0], base: roots[1], isDiff, unit: data.unit, event: data.event, quality: String(data.quality || '') });
}
function amount(value) {
  if (profile.unit === 'samples') return value.toLocaleString('en-US') + ' samples';
  return (value / 1e9).toLocaleString('en-US', { maximumFractionDigits: 3 }) + ' s';
}
const share = (value, of) => of ? value / of : 0;
const changeOf = row => share(row.self, profile.total) - share(row.wasSelf, profile.base);
const ORDERS = { self: (a, b) => b.self - a.self, total: (a, b) => b.total - a.total, was: (a, b) => b.wasSelf - a.wasSelf, change: (a, b) => Math.abs(changeOf(b)) - Math.abs(changeOf(a)), name: (a, b) => a.name < b.name ? -1 : 1, object: (a, b) => a.object < b.object ? -1 : 1 };
function showFunctions() {
  const columns = [['self', 'Self', 'n'], ['total', 'Total', 'n'], ...(profile.isDiff ? [['was', 'Self before', 'n'], ['change', 'Change', 'n']] : []), ['name', 'Function', ''], ['object', 'Object', 'object']];
  const items = [...profile.rows].sort((a, b) => ORDERS[profile.sort](a, b) || a.label - b.label), t = element('table'), head = element('tr');
  for (const [key, text, cls] of columns) {
    const h = element('th', undefined, cls), b = element('button', text + (profile.sort === key ? ' ▾' : ''));
    h.setAttribute('aria-sort', profile.sort !== key ? 'none' : cls === 'n' ? 'descending' : 'ascending');
    b.type = 'button'; b.onclick = () => { profile.sort = key; showFunctions(); };
    h.append(b); head.append(h);
  }
  t.append(head);
  for (const row of items.slice(0, FUNCTIONS_MOST)) {
    const r = element('tr'), change = changeOf(row), self = element('td', percent(row.self, profile.total), 'n');
    self.title = amount(row.self);
    r.append(self, element('td', percent(row.total, profile.total), 'n'));
    if (profile.isDiff) r.append(element('td', percent(row.wasSelf, profile.base), 'n'), element('td', (change < 0 ? '−' : '+') + (100 * Math.abs(change)).toFixed(2) + ' points', 'n'));
    r.append(element('td', shown(row.name).slice(0, 300)), element('td', shown(row.object), 'dim'));
    t.append(r);
  }
  $('functions').replaceChildren(t);
  if (items.length > FUNCTIONS_MOST) $('functions').append(element('p', `${items.length - FUNCTIONS_MOST} more functions have less.`, 'dim'));
}
/* A frame of its own for each page: a second page in one frame would be a step of the browser's history. */
function showFrame() {
  const before = $('frame'), frame = element('iframe');
  frame.id = 'frame'; frame.title = 'flame graph'; frame.setAttribute('sandbox', 'allow-scripts');
  frame.srcdoc = profile.page.replace('<html lang="en">', `<html lang="en" data-theme="${isDark() ? 'dark' : 'light'}">`);
  before.replaceWith(frame);
}
function showNothing(text) {
  Object.assign(profile, { rows: [], total: 0, base: 0, page: '' });
  $('frame').replaceWith(Object.assign(element('div'), { id: 'frame' }));
  showFunctions();
  $('sum').textContent = text; $('state').textContent = '';
}
async function showProfile() {
  $('state').textContent = 'loading …';
  let page;
  try {
    page = await (await ask('profile', '/api/v1/profile', withBase({ ...selection(), format: 'flamegraph' }))).text();
  } catch (error) {
    if (error.status !== 404) throw error;
    showNothing(error.message);
    return;
  }
  const found = new DOMParser().parseFromString(page, 'text/html').getElementById('data');
  if (!found) throw new Error('the answer of the server is no flame graph');
  await sumFunctions(JSON.parse(found.textContent));
  profile.page = page;
  showFrame();
  showFunctions();
  $('sum').textContent = amount(profile.total) + (profile.isDiff ? ', compared with ' + amount(profile.base) : '') + ` of ${shown(profile.event) || 'all events'}` + (profile.quality ? '; ' + shown(profile.quality) : '');
  $('state').textContent = '';
}
async function download(format) {
  const answer = await ask('download', '/api/v1/profile', { ...selection(), format }), link = element('a');
  link.href = URL.createObjectURL(await answer.blob());
  link.download = { perfdata: 'perf.data', pprof: 'profile.pb.gz', folded: 'stacks.folded', json: 'profile.json' }[format];
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
