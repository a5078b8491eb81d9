/* What stat record counted: the totals, and of its intervals a line for each event; each place (e[3]) by itself. See
   page_counts.h. */
const counts = data.counts && (() => {
  const [events, rounds, leftOut] = data.counts, intervals = rounds.filter(r => r[0] >= 0), total = rounds.find(r => r[0] < 0);
  const sumOf = i => intervals.reduce((sum, r) => r[2][i] === null ? sum : (sum ?? 0) + r[2][i], null);
  return { events, intervals, leftOut, values: events.map((e, i) => total ? total[2][i] : sumOf(i)), elapsed: total ? total[1] : intervals.reduce((sum, r) => sum + r[1], 0) };
})();
const onlyCounts = counts && rows.n === 0;
const digits = (value, most) => value.toLocaleString('en-US', { maximumFractionDigits: most });
const counted = (value, unit) => value === null ? 'not counted' : digits(value, unit ? 3 : 0) + (unit ? ' ' + shown(unit) : '');
const nameOf = e => shown(e[0]) + (e[3] ? ' ' + shown(e[3]) : '');
/* Clocks tell how many CPUs ran, all else how many a second. */
function rate(value, event, elapsed) {
  if (value === null || !elapsed) return '';
  if (/^(cpu|task)-clock/.test(event[0])) return digits(value / 1000 / elapsed, 3) + ' CPUs';
  return event[1] === 'msec' ? '' : digits(value / elapsed, value / elapsed < 100 ? 2 : 0) + (event[1] ? ' ' + shown(event[1]) : '') + ' a second';
}
const spanOf = r => `${digits(r[0] - r[1], 3)} to ${digits(r[0], 3)} s`;
function drawing(name, attributes) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
}
/* A step for each interval, as high as what happened a second; where nothing was counted there is a gap. */
function lineOf(i) {
  const list = counts.intervals, most = Math.max(...list.map(r => r[2][i] / (r[1] || 1)), 0), end = list[list.length - 1][0] || 1;
  const known = list.filter(r => r[2][i] !== null), y = r => (58 - 56 * (most ? r[2][i] / (r[1] || 1) / most : 0)).toFixed(1), x = t => (t / end * 1000).toFixed(1);
  const svg = drawing('svg', { viewBox: '0 0 1000 60', preserveAspectRatio: 'none', role: 'img', class: 'line', 'aria-label': `${nameOf(counts.events[i])} over ${digits(end, 3)} s, at most ${known.length ? rate(most, counts.events[i], 1) || digits(most, 3) : 'nothing'}` });
  svg.append(drawing('path', { class: 'area', d: known.map(r => `M${x(r[0] - r[1])} 60V${y(r)}H${x(r[0])}V60`).join('') }),
    drawing('path', { class: 'edge', 'vector-effect': 'non-scaling-stroke', d: list.map((r, k) => r[2][i] === null ? '' : `${k && list[k - 1][2][i] !== null ? 'L' : 'M'}${x(r[0] - r[1])} ${y(r)}H${x(r[0])}`).join('') }));
  svg.onpointermove = e => {
    const b = svg.getBoundingClientRect(), at = (e.clientX - b.left) / b.width * end, r = list.find(r => at <= r[0]) || list[list.length - 1];
    tip(`${nameOf(counts.events[i])}\n${spanOf(r)}: ${counted(r[2][i], counts.events[i][1])}\n${rate(r[2][i], counts.events[i], r[1])}`, e);
  };
  svg.onpointerleave = () => tip('');
  return svg;
}
const INTERVALS_MOST = 1000;
function intervalTable() {
  const box = element('details'), t = element('table'), head = element('tr');
  box.append(element('summary', `all ${counts.intervals.length.toLocaleString('en-US')} intervals`));
  head.append(element('th', 'Time', 'n'), ...counts.events.map(e => element('th', short(nameOf(e)), 'n')));
  t.append(head);
  for (const r of counts.intervals.slice(0, INTERVALS_MOST)) {
    const line = element('tr');
    line.append(element('td', spanOf(r), 'n'), ...r[2].map((value, i) => element('td', counted(value, counts.events[i][1]), 'n')));
    t.append(line);
  }
  const scroll = element('div', undefined, 'wide');
  scroll.append(t); box.append(scroll);
  if (counts.intervals.length > INTERVALS_MOST) box.append(element('p', `${counts.intervals.length - INTERVALS_MOST} more are in the lines only.`, 'dim'));
  return box;
}
function showCounts() {
  const box = element('div'), t = element('table', undefined, 'counts'), head = element('tr'), hasLines = counts.intervals.length > 1;
  const isShared = counts.events.some(e => e[2] < 100), hasPlaces = counts.events.some(e => e[3]), end = hasLines ? counts.intervals[counts.intervals.length - 1][0] : 0;
  head.append(element('th', 'Event'), ...(hasPlaces ? [element('th', 'Where')] : []), element('th', 'Count', 'n'), element('th', 'Rate', 'n'), ...(isShared ? [element('th', 'On the PMU', 'n')] : []), ...(hasLines ? [element('th', `0 to ${digits(end, 3)} s`)] : []));
  t.append(head);
  counts.events.forEach((e, i) => {
    const r = element('tr'), line = element('td', undefined, 'over');
    r.append(element('td', short(e[0])), ...(hasPlaces ? [element('td', shown(e[3] || ''))] : []), element('td', counted(counts.values[i], e[1]), 'n'), element('td', rate(counts.values[i], e, counts.elapsed), 'n'));
    if (isShared) r.append(element('td', e[2].toFixed(1) + ' %', 'n'));
    if (hasLines) { line.append(lineOf(i)); r.append(line); }
    t.append(r);
  });
  box.append(element('h2', 'Counts'), t);
  if (hasLines) box.append(intervalTable());
  if (counts.leftOut) box.append(element('p', `${counts.leftOut} more intervals had no room in the page.`, 'dim'));
  return box;
}
