/* The filters by labels: completion of names and values while one is typed, and the list of one label's values. */
const quoted = text => '"' + text.replace(/[\\"]/g, '\\$&') + '"';
const unquoted = text => text.replace(/\\(.)/g, '$1');
const WORDS = ['and', 'or', 'not'];
let names = []; /* of labels that the selected time has */

async function labelNames() {
  const answer = await (await ask('names', '/api/v1/labels', { from: state.from, until: state.until })).json();
  return answer.labels.map(String);
}
async function labelValues(topic, name, query) {
  const answer = await (await ask(topic, '/api/v1/labels/' + encodeURIComponent(name), { query, from: state.from, until: state.until })).json();
  return answer.values.map(String);
}
/* What the text before the cursor is the beginning of: a value of a label, or a name or word. */
function unfinished(text) {
  const value = /([A-Za-z_][A-Za-z0-9_]*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)$/.exec(text);
  if (value && text.slice(0, value.index).split(/"(?:[^"\\]|\\.)*"/).every(part => !part.includes('"'))) return { name: value[1], start: text.length - value[3].length, typed: unquoted(value[3]) };
  const word = /[A-Za-z0-9_]*$/.exec(text)[0];
  const before = text.slice(0, text.length - word.length), marks = before.replace(/\\./g, '').split('"').length - 1;
  return marks % 2 ? null : { name: '', start: before.length, typed: word, isTerm: /"\s*\)*\s*$/.test(before) };
}
async function choicesOf(at) {
  if (!at) return [];
  const begins = text => text.toLowerCase().includes(at.typed.toLowerCase()) && text !== at.typed;
  if (at.name) return (await labelValues('complete', at.name, '')).filter(begins).map(value => ({ label: value, text: quoted(value).slice(1) }));
  if (at.isTerm) return WORDS.slice(0, 2).filter(begins).map(word => ({ label: word, text: word + ' ' }));
  return names.filter(begins).map(name => ({ label: name, text: name + '="' })).concat(at.typed ? WORDS.filter(begins).map(word => ({ label: word, text: word + ' ' })) : []);
}
const CHOICES_MOST = 200;
function completeIn(input, list) {
  let choices = [], chosen = -1, at = null, turn = 0;
  const close = () => { list.hidden = true; chosen = -1; input.setAttribute('aria-expanded', false); input.removeAttribute('aria-activedescendant'); };
  const take = choice => {
    const rest = input.value.slice(input.selectionStart).replace(at.name ? /^(?:[^"\\]|\\.)*"?/ : /^[A-Za-z0-9_]*/, '');
    const head = input.value.slice(0, at.start) + choice.text;
    input.value = head + rest; input.setSelectionRange(head.length, head.length);
    close();
    if (!at.name) open();
  };
  const draw = () => {
    list.replaceChildren(...choices.map((choice, k) => {
      const item = element('li', shown(choice.label).slice(0, 200));
      item.id = list.id + k; item.setAttribute('role', 'option'); item.setAttribute('aria-selected', k === chosen);
      item.onmousedown = e => { e.preventDefault(); take(choice); };
      return item;
    }));
    list.hidden = !choices.length; input.setAttribute('aria-expanded', !list.hidden);
    if (chosen >= 0) { input.setAttribute('aria-activedescendant', list.id + chosen); list.children[chosen].scrollIntoView({ block: 'nearest' }); }
  };
  const open = async () => {
    const mine = ++turn, place = unfinished(input.value.slice(0, input.selectionStart));
    let found = [];
    try { found = await choicesOf(place); } catch (error) { return; /* completion is a help: the filter works without it */ }
    if (mine !== turn || document.activeElement !== input) return;
    at = place; choices = found.slice(0, CHOICES_MOST); chosen = -1; draw();
  };
  input.oninput = open; input.onfocus = open; input.onblur = () => { turn++; close(); };
  input.onkeydown = e => {
    if (list.hidden) { if (e.key === 'ArrowDown') { e.preventDefault(); open(); } return; }
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') { e.preventDefault(); chosen = (chosen + (e.key === 'ArrowDown' ? 1 : choices.length + (chosen < 0))) % choices.length; draw(); }
    else if (e.key === 'Escape') { e.preventDefault(); turn++; close(); }
    else if ((e.key === 'Enter' || e.key === 'Tab') && chosen >= 0) { e.preventDefault(); take(choices[chosen]); }
  };
}
/* One more condition on a label, in place of an older one on the same label. */
function conditioned(query, name, operator, value) {
  const text = `${name}${operator}${quoted(value)}`, old = new RegExp(`(^|\\s|\\()${name}\\s*(=~|!~|!=|=)\\s*"(?:[^"\\\\]|\\\\.)*"`);
  if (!query.trim()) return text;
  if (old.test(query)) return query.replace(old, (all, before) => before + text);
  return (/\bor\b/.test(query) ? `(${query})` : query) + ' and ' + text;
}
const VALUES_MOST = 300;
async function listValues() {
  const name = $('name').value, box = $('values');
  if (!name) { box.replaceChildren(element('span', 'no labels in this time', 'dim')); return; }
  const values = await labelValues('values', name, '');
  box.replaceChildren(...values.slice(0, VALUES_MOST).map(value => {
    const b = element('button', shown(value) || '(empty)');
    b.type = 'button'; b.title = `only ${name}=${shown(value)}; with Shift: all but it`;
    b.setAttribute('aria-pressed', state.query.includes(`${name}=${quoted(value)}`));
    b.onclick = e => { $('query').value = conditioned($('query').value.trim(), name, e.shiftKey ? '!=' : '=', value); showAll(); };
    return b;
  }));
  if (values.length > VALUES_MOST) box.append(element('span', `${values.length - VALUES_MOST} more: type in the filter`, 'dim'));
}
async function listNames() {
  names = await labelNames();
  const select = $('name'), before = select.value;
  select.replaceChildren(...names.map(name => { const o = element('option', shown(name)); o.value = name; return o; }));
  select.value = names.includes(before) ? before : names.includes('service') ? 'service' : names[0] || '';
  await listValues();
}
