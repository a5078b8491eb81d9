/* The kinds of code by their numbers in enum flame_kind, and last the root of all. */
const KINDS = ['user', 'kernel', 'inlined', 'JIT', 'no symbol', 'thread'];
const USER = 0, KERNEL = 1, INLINED = 2, UNKNOWN = 4, ALL = 6;
/* Hues that stay apart for the colour-blind (Okabe and Ito), lightness for day and night. */
const LIGHT = [[36, 92, 68], [203, 75, 70], [163, 48, 62], [327, 45, 74], [0, 0, 74], [50, 60, 82], [0, 0, 86]];
const DARK = [[34, 70, 42], [205, 60, 42], [165, 60, 34], [326, 35, 48], [0, 0, 40], [48, 40, 34], [0, 0, 28]];
/* What threads did, by the names of states. */
const STATE_LIGHT = { running: [36, 92, 68], runnable: [54, 90, 62], throttled: [15, 72, 59], sleep: [215, 45, 76], uninterruptible: [258, 40, 68], stopped: [0, 0, 58], disk: [208, 60, 56], lock: [340, 62, 66], poll: [196, 40, 84], io: [163, 48, 62], other: [42, 18, 74] };
const STATE_DARK = { running: [34, 70, 42], runnable: [52, 66, 40], throttled: [14, 58, 40], sleep: [217, 30, 44], uninterruptible: [258, 30, 48], stopped: [0, 0, 32], disk: [208, 55, 36], lock: [338, 48, 44], poll: [198, 24, 34], io: [165, 60, 34], other: [42, 12, 42] };
function stateColour(name, shade) {
  const [h, s, l] = (isDark() ? STATE_DARK : STATE_LIGHT)[name] || [0, 0, isDark() ? 40 : 74];
  return `hsl(${h} ${s}% ${l + shade * 0.6}%)`;
}
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
