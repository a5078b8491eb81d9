'use strict';
const RUNNING = '#f9b966', MARGIN = 10, INNER = 1180, CHARACTER = 6.6;
const frames = Array.from(document.querySelectorAll('.f'), g => {
  const rect = g.querySelector('rect'), text = g.querySelector('text'), title = g.querySelector('title').textContent;
  const whole = title.replace(/ \d+ (samples|of the period|ns), .*$/s, ''), parts = /^(.*) \(([^()]*)\)$/s.exec(whole) || ['', whole, ''];
  return { g, rect, text, depth: +g.dataset.d, x: +rect.getAttribute('x'), w: +rect.getAttribute('width'), fill: rect.getAttribute('fill'), title, name: parts[1], object: parts[2] };
});
const segmenter = window.Intl && Intl.Segmenter ? new Intl.Segmenter() : null;
const characters = text => segmenter ? Array.from(segmenter.segment(text), s => s.segment) : Array.from(text);
function label(f, w) {
  const room = Math.floor((w - 6) / CHARACTER);
  if (w <= 4 * CHARACTER) return '';
  const parts = characters(f.name.slice(0, 512));
  return parts.length <= room ? f.name : parts.slice(0, Math.max(room - 1, 0)).join('') + '\u2026';
}
function place(f, x, w, isAbove) {
  const hidden = x + w < MARGIN + 0.01 || x > MARGIN + INNER - 0.01 || w < 0.1;
  f.g.style.display = hidden ? 'none' : '';
  f.g.classList.toggle('p', isAbove);
  if (hidden) return;
  f.rect.setAttribute('x', x); f.rect.setAttribute('width', w); f.text.setAttribute('x', x + 3);
  f.text.textContent = label(f, w);
}
/* The box fills the width; who called it stays below, pale. */
function zoom(to) {
  const scale = to ? INNER / to.w : 1, left = to ? to.x : MARGIN;
  for (const f of frames) {
    const isAbove = to && f.depth < to.depth && f.x <= to.x + 0.02 && f.x + f.w >= to.x + to.w - 0.02;
    if (isAbove) place(f, MARGIN, INNER, true);
    else if (to && f.depth < to.depth) f.g.style.display = 'none';
    else place(f, MARGIN + (f.x - left) * scale, f.w * scale, false);
  }
}
/* Of wall-clock time: what counts, and how it lies side by side then. A box comes before those above it. */
const states = document.getElementById('states'), SHOWN = ['all', 'on-CPU', 'waiting'];
let shown = 0;
function showStates(which) {
  const amount = f => which === 0 ? +f.g.dataset.t : which === 1 ? +f.g.dataset.r : f.g.dataset.t - f.g.dataset.r - (f.g.dataset.u || 0); /* u: not known */
  const whole = frames.reduce((sum, f) => sum + (f.depth ? 0 : amount(f)), 0), ends = [];
  let used = MARGIN;
  shown = which;
  for (const f of frames) {
    f.w = whole ? INNER * amount(f) / whole : 0;
    f.x = f.depth ? ends[f.depth - 1] : used;
    ends[f.depth] = f.x;
    if (f.depth) ends[f.depth - 1] += f.w; else used += f.w;
    f.rect.setAttribute('fill', which === 0 ? f.fill : which === 1 ? RUNNING : f.g.dataset.c);
  }
  states.textContent = 'all, on-CPU or waiting: ' + SHOWN[which];
  zoom(null);
}
function search() {
  const text = prompt('Functions or files to look for, as a regular expression or plain text:', '');
  if (text === null) return;
  const plain = text.toLowerCase();
  let test = null, note = '';
  try { test = text ? new RegExp(text, 'i') : null; } catch (error) { note = ' as plain text'; }
  const found = [];
  for (const f of frames) { const hit = text !== '' && [f.name, f.object].some(s => s.toLowerCase().includes(plain) || test !== null && test.test(s)); f.g.classList.toggle('m', hit); if (hit) found.push(f); }
  /* What lies in another match counts with it. */
  let share = 0, end = -1;
  for (const f of found.sort((a, b) => a.x - b.x || b.w - a.w)) if (f.x >= end - 0.01) { share += f.w; end = f.x + f.w; }
  document.getElementById('found').textContent = text ? (100 * share / INNER).toFixed(2) + '% matched' + note : '';
}
/* What all stacks begin with lies at the foot. */
scrollTo(0, document.documentElement.scrollHeight);
frames.forEach(f => { f.g.addEventListener('click', () => zoom(f)); });
document.getElementById('reset').addEventListener('click', () => zoom(null));
document.getElementById('search').addEventListener('click', search);
if (states) states.addEventListener('click', () => showStates((shown + 1) % SHOWN.length));
addEventListener('keydown', event => {
  if (event.key === 'Escape') zoom(null);
  else if (event.key === '/' || event.ctrlKey && event.key === 'f') { event.preventDefault(); search(); }
});
