/* A tree that grows by its paths: below(above, label) is the node there, made when first asked for. Node 0 is all. */
function growTree(rootLabel) {
  const t = { count: 1, label: new Uint32Array(1024), parent: new Int32Array(1024), below };
  let slots = new Int32Array(4096); /* node by hash; 0: free */
  t.label[0] = rootLabel; t.parent[0] = -1;
  function find(above, name) {
    let h = Math.imul(above + 1, 0x9e3779b1) + Math.imul(name + 1, 0x85ebca6b);
    h = (h ^ h >>> 15) & slots.length - 1;
    while (slots[h] && (t.parent[slots[h]] !== above || t.label[slots[h]] !== name)) h = h + 1 & slots.length - 1;
    return h;
  }
  function enlarge() {
    const { label, parent } = t;
    t.label = new Uint32Array(2 * label.length); t.label.set(label);
    t.parent = new Int32Array(2 * parent.length); t.parent.set(parent);
    slots = new Int32Array(2 * slots.length);
    for (let i = 1; i < t.count; i++) slots[find(t.parent[i], t.label[i])] = i;
  }
  function below(above, name) {
    const at = find(above, name);
    if (slots[at]) return slots[at];
    const node = t.count++;
    t.label[node] = name; t.parent[node] = above; slots[at] = node;
    if (t.count === t.label.length) enlarge();
    return node;
  }
  return t;
}
/* A tree in the order of drawing: node 0 is all; next[i] is the first node that is not below i. */
function makeTree(count) {
  return { count, label: new Uint32Array(count), depth: new Uint32Array(count), parent: new Int32Array(count), next: new Uint32Array(count),
    self: new Float64Array(count), total: new Float64Array(count), start: new Float64Array(count), deepest: 0 };
}
function linkTree(t) {
  for (let i = 0; i < t.count; i++) { t.next[i] = i + 1; if (t.depth[i] > t.deepest) t.deepest = t.depth[i]; }
  for (let i = t.count - 1; i > 0; i--) if (t.next[i] > t.next[t.parent[i]]) t.next[t.parent[i]] = t.next[i];
  return t;
}
function sumTree(t, self, total) {
  total.set(self);
  for (let i = t.count - 1; i > 0; i--) total[t.parent[i]] += total[i];
}
/* Where each node begins, children side by side. */
function placeTree(t) {
  const used = new Float64Array(t.count);
  t.start[0] = 0;
  for (let i = 1; i < t.count; i++) { const p = t.parent[i]; t.start[i] = t.start[p] + used[p]; used[p] += t.total[i]; }
  return t;
}
/* The nodes that grew, siblings by name, and what each became. */
function orderTree(grown, names) {
  const { count, label, parent } = grown, first = new Int32Array(count).fill(-1), beside = new Int32Array(count).fill(-1);
  const order = names.map((l, i) => i).sort((a, b) => names[a][0] < names[b][0] ? -1 : names[a][0] > names[b][0] ? 1 : a - b);
  const head = new Int32Array(names.length).fill(-1), after = new Int32Array(count).fill(-1);
  for (let i = 1; i < count; i++) { after[i] = head[label[i]]; head[label[i]] = i; }
  for (let k = order.length - 1; k >= 0; k--) for (let i = head[order[k]]; i >= 0; i = after[i]) { beside[i] = first[parent[i]]; first[parent[i]] = i; }
  const t = makeTree(count), place = new Uint32Array(count);
  for (let node = 0, at = 0, depth = 0; at < count; at++) {
    place[node] = at; t.label[at] = label[node]; t.depth[at] = depth; t.parent[at] = node ? place[parent[node]] : -1;
    if (first[node] >= 0) { node = first[node]; depth++; continue; }
    while (node && beside[node] < 0) { node = parent[node]; depth--; }
    node = beside[node];
  }
  return [linkTree(t), place];
}
