/* The kinds of code by their numbers in enum flame_kind, and last the root of all. */
const KINDS = ['user', 'kernel', 'inlined', 'JIT', 'no symbol', 'thread'];
const USER = 0, KERNEL = 1, INLINED = 2, UNKNOWN = 4, ALL = 6;
/* Hues that stay apart for the colour-blind (Okabe and Ito), lightness for day and night. */
const LIGHT = [[36, 92, 68], [203, 75, 70], [163, 48, 62], [327, 45, 74], [0, 0, 74], [50, 60, 82], [0, 0, 86]];
const DARK = [[34, 70, 42], [205, 60, 42], [165, 60, 34], [326, 35, 48], [0, 0, 40], [48, 40, 34], [0, 0, 28]];
function hash(text) { let h = 0; for (let i = 0; i < text.length; i++) h = h * 31 + text.charCodeAt(i) | 0; return h; }
/* By label [name, object, kind]: neighbours look a little different. */
const shadesOf = labels => labels.map(l => (hash(l[0]) >>> 0) % 11 - 5);
/* Drawn where a stack's callers are missing: a dashed line, which needs no colour. */
function edge(paint, x, y, width) {
  paint.save();
  paint.strokeStyle = isDark() ? '#fff' : '#000'; paint.lineWidth = 1.5; paint.setLineDash([3, 3]);
  paint.beginPath(); paint.moveTo(x, y); paint.lineTo(x + width - 1, y); paint.stroke();
  paint.restore();
}
function kindColour(kind, shade) {
  const [h, s, l] = (isDark() ? DARK : LIGHT)[kind];
  return `hsl(${h + (kind < UNKNOWN ? shade * 1.2 : 0)} ${s}% ${l + shade * 0.7}%)`;
}
