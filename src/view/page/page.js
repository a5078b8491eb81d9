/* What all pages do with their data and with names. */
const $ = id => document.getElementById(id);
function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}
function percent(value, of) { return of ? (100 * value / of).toFixed(2) + ' %' : '-'; }
function bytesOf(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}
async function unpacked(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
/* The numbers of page_data.h one by one: seven bits a byte, the lowest first. */
function numbersOf(bytes) {
  let at = 0;
  return () => {
    let byte = bytes[at++], value = byte & 127;
    for (let scale = 128; byte & 128; scale *= 128) { byte = bytes[at++]; value += (byte & 127) * scale; }
    return value;
  };
}
const reader = text => numbersOf(bytesOf(text));
/* What a search text finds: as a regular expression, and as it stands, as names have brackets and stars in them. Upper and
 * lower case are the same. note: what a reader is told of a text that is no regular expression. */
function finderOf(text) {
  const plain = text.toLowerCase(), contains = s => s.toLowerCase().includes(plain);
  try { const re = new RegExp(text, 'i'); return { test: s => re.test(s) || contains(s), note: '' }; } catch (error) { return { test: contains, note: ' as plain text' }; }
}
/* By label: whether its name or its file is found. */
const hitsOf = (finder, labels) => labels.map(l => l[2] !== ALL && (finder.test(l[0]) || finder.test(l[1])));
/* Of functions that look the same, where each begins. */
const objectOf = label => label[4] ? label[1] + ' ' + label[4] : label[1];
/* Control characters and marks of direction would make a name look like another. */
function shown(text) { return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd'); }
const segmenter = window.Intl && Intl.Segmenter ? new Intl.Segmenter() : null;
const characters = text => segmenter ? Array.from(segmenter.segment(text), s => s.segment) : Array.from(text);
/* Cut between what a reader takes for characters, never inside one. */
function fitted(paint, text, width) {
  if (paint.measureText(text).width <= width) return text;
  const parts = characters(text.slice(0, 512));
  let low = 0, high = parts.length;
  while (low < high) {
    const middle = low + high + 1 >> 1;
    if (paint.measureText(parts.slice(0, middle).join('') + '…').width <= width) low = middle; else high = middle - 1;
  }
  return low > 1 ? parts.slice(0, low).join('') + '…' : '';
}
