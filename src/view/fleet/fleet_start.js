/* Joins the parts: what the elements of the page do, and the first look at the store. */
function showFilters() { $('query').value = state.query; $('baseQuery').value = state.baseQuery; }
/* What was typed applies from the next question on, whichever control asks it. */
function takeFilters() { state.query = $('query').value.trim(); state.baseQuery = $('baseQuery').value.trim(); }
function showControls() {
  $('baseSpan').value = state.baseSpan;
  const spans = [...$('span').options].map(o => o.value);
  $('span').value = state.seconds && spans.includes(String(state.seconds)) ? state.seconds : '';
  $('base').hidden = !state.compares; $('compare').setAttribute('aria-pressed', state.compares);
  $('event').value = state.event;
  for (const [pane, tab] of [['flame', 'tabFlame'], ['functions', 'tabFunctions']]) { $(pane).hidden = state.pane !== pane; $(tab).setAttribute('aria-selected', state.pane === pane); }
}
async function showAll() {
  takeFilters(); settleTimes(); toHash(); showControls(); problem('');
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
$('ask').onsubmit = e => { e.preventDefault(); showAll(); };
$('base').onsubmit = e => { e.preventDefault(); showAll(); };
$('span').onchange = () => { if ($('span').value) state.seconds = +$('span').value; showAll(); };
$('event').onchange = () => { state.event = $('event').value; showAll(); };
$('name').onchange = () => listValues().catch(report);
$('compare').onclick = () => { state.compares = !state.compares; if (state.compares) $('baseQuery').value = $('baseQuery').value || $('query').value; showAll(); };
$('baseSpan').onchange = () => { state.baseSpan = $('baseSpan').value; if (state.baseSpan) showAll(); };
$('download').onchange = () => { const format = $('download').value; $('download').value = ''; if (format) download(format).catch(report); };
$('theme').onclick = () => { document.documentElement.dataset.theme = isDark() ? 'light' : 'dark'; drawLoad(); if (profile.page) showFrame(); };
addEventListener('resize', () => requestAnimationFrame(drawLoad));
addEventListener('hashchange', () => { fromHash(); showFilters(); showAll(); });
completeIn($('query'), $('queryChoices'));
completeIn($('baseQuery'), $('baseChoices'));
fromHash();
showFilters();
listEvents().catch(report);
showAll();
