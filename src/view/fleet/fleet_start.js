/* Joins the parts: what the elements of the page do, and the first look at the store. */
function showControls() {
  $('query').value = state.query; $('baseQuery').value = state.baseQuery; $('baseSpan').value = state.baseSpan;
  const spans = [...$('span').options].map(o => o.value);
  $('span').value = state.seconds && spans.includes(String(state.seconds)) ? state.seconds : '';
  $('base').hidden = !state.compares; $('compare').setAttribute('aria-pressed', state.compares);
  $('event').value = state.event;
  for (const [pane, tab] of [['flame', 'tabFlame'], ['functions', 'tabFunctions']]) { $(pane).hidden = state.pane !== pane; $(tab).setAttribute('aria-selected', state.pane === pane); }
}
async function showAll() {
  settleTimes(); toHash(); showControls(); problem('');
  const all = await Promise.allSettled([showProfile(), showLoad(), listNames()]);
  const failed = all.find(result => result.status === 'rejected' && result.reason.name !== 'AbortError');
  if (failed) { $('state').textContent = ''; report(failed.reason); }
}
async function listEvents() {
  const answer = await (await ask('events', '/api/v1/events', {})).json();
  for (const name of answer.events.map(String)) { const o = element('option', shown(name)); o.value = name; $('event').append(o); }
  $('event').value = state.event;
}
function showPane(pane) { state.pane = pane; showControls(); toHash(); }
$('tabFlame').onclick = () => showPane('flame');
$('tabFunctions').onclick = () => showPane('functions');
$('ask').onsubmit = e => { e.preventDefault(); state.query = $('query').value.trim(); showAll(); };
$('base').onsubmit = e => { e.preventDefault(); state.baseQuery = $('baseQuery').value.trim(); showAll(); };
$('span').onchange = () => { if ($('span').value) state.seconds = +$('span').value; showAll(); };
$('event').onchange = () => { state.event = $('event').value; showAll(); };
$('name').onchange = () => listValues().catch(report);
$('compare').onclick = () => { state.compares = !state.compares; if (state.compares) state.baseQuery = state.baseQuery || state.query; showAll(); };
$('baseSpan').onchange = () => { state.baseSpan = $('baseSpan').value; if (state.baseSpan) showAll(); };
$('download').onchange = () => { const format = $('download').value; $('download').value = ''; if (format) download(format).catch(report); };
$('theme').onclick = () => { document.documentElement.dataset.theme = isDark() ? 'light' : 'dark'; drawLoad(); if (profile.page) showFrame(); };
addEventListener('resize', () => requestAnimationFrame(drawLoad));
addEventListener('hashchange', () => { fromHash(); showAll(); });
completeIn($('query'), $('queryChoices'));
completeIn($('baseQuery'), $('baseChoices'));
fromHash();
listEvents().catch(report);
showAll();
