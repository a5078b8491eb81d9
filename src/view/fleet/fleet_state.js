/* What is selected, which is also in the address, and what the server is asked. Times are nanoseconds since 1970, as
 * BigInt: a number of JavaScript has no room for them. */
const NS = 1000000000n, MS = 1000000n;
const now = () => BigInt(Date.now()) * MS;
const state = { query: '', seconds: 3600, from: 0n, until: 0n, event: '', pane: 'flame', compares: false, baseQuery: '', baseSpan: 'before', baseFrom: 0n, baseUntil: 0n };
/* A length of time that ends now moves with it. */
function settleTimes() {
  if (state.seconds) { state.until = now(); state.from = state.until - BigInt(state.seconds) * NS; }
  if (state.baseSpan === 'before') { state.baseUntil = state.from; state.baseFrom = state.from - (state.until - state.from); }
  if (state.baseSpan === 'same') { state.baseFrom = state.from; state.baseUntil = state.until; }
}
function toHash() {
  const p = new URLSearchParams();
  if (state.query) p.set('query', state.query);
  if (state.seconds) p.set('last', state.seconds); else { p.set('from', state.from); p.set('until', state.until); }
  if (state.event) p.set('event', state.event);
  if (state.pane !== 'flame') p.set('view', state.pane);
  if (state.compares) {
    p.set('base', state.baseQuery);
    if (state.baseSpan) p.set('basetime', state.baseSpan); else { p.set('basefrom', state.baseFrom); p.set('baseuntil', state.baseUntil); }
  }
  history.replaceState(null, '', '#' + p);
}
function fromHash() {
  const p = new URLSearchParams(location.hash.slice(1)), time = key => /^\d{1,19}$/.test(p.get(key) || '') ? BigInt(p.get(key)) : 0n;
  state.query = p.get('query') || '';
  state.seconds = /^\d{1,9}$/.test(p.get('last') || '') ? +p.get('last') : time('until') > time('from') ? 0 : 3600;
  if (!state.seconds) { state.from = time('from'); state.until = time('until'); }
  state.event = p.get('event') || '';
  state.pane = p.get('view') === 'functions' ? 'functions' : 'flame';
  state.compares = p.has('base');
  state.baseQuery = p.get('base') || '';
  state.baseSpan = time('baseuntil') > time('basefrom') ? '' : p.get('basetime') === 'same' ? 'same' : 'before';
  if (!state.baseSpan) { state.baseFrom = time('basefrom'); state.baseUntil = time('baseuntil'); }
}
const selection = () => ({ query: state.query, from: state.from, until: state.until, event: state.event });
function withBase(parameters) {
  return state.compares ? { ...parameters, baseline_query: state.baseQuery, baseline_from: state.baseFrom, baseline_until: state.baseUntil } : parameters;
}
function problem(text) { $('problem').textContent = shown(text).slice(0, 600); }

let tokenWanted = null; /* one dialogue for all requests that wait for it */
function askToken() {
  tokenWanted = tokenWanted || new Promise(resolve => {
    $('token').value = '';
    $('ticket').onclose = () => { sessionStorage.setItem('token', $('token').value); tokenWanted = null; resolve(); };
    $('ticket').showModal();
  });
  return tokenWanted;
}
/* The answer to a question, or an error with the server's sentence. An answer that comes after that of a later question
 * of the same topic is an AbortError. */
const running = {};
async function ask(topic, path, parameters) {
  if (running[topic]) running[topic].abort();
  const control = running[topic] = new AbortController(), token = sessionStorage.getItem('token');
  const url = path + '?' + new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  let answer;
  try { answer = await fetch(url, { signal: control.signal, cache: 'no-store', headers: token ? { Authorization: 'Bearer ' + token } : {} }); } catch (error) {
    throw error.name === 'AbortError' ? error : new Error('the server does not answer: ' + error.message);
  }
  if (answer.status === 401 || answer.status === 403) {
    /* A late refusal of a token that was replaced meanwhile says nothing about the new one. */
    if (sessionStorage.getItem('token') === token) await askToken();
    return ask(topic, path, parameters);
  }
  if (answer.ok) return answer;
  let text = answer.status + ' ' + answer.statusText;
  try { text = (await answer.json()).error || text; } catch (error) { /* no sentence: the status has to do */ }
  throw Object.assign(new Error(text), { status: answer.status });
}
function report(error) { if (error.name !== 'AbortError') problem(error.message); }
