"""How the page looks: light and dark, on a projector, a phone and paper; and the little that it does."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root {
  color-scheme: light dark;
  --ink: #1b1f24; --soft: #5d6670; --line: #d8dde3; --ground: #f4f6f8; --card: #ffffff; --stripe: #f7f9fa;
  --accent: #2f6f4f; --accent-soft: #dcefe4; --red: #c8372d; --blue: #2563c9;
  --faint: #a0a9b2;
  --good: #d9efdf; --fair: #eef5ee; --poor: #fbeeee; --bad: #f6dad8; --warn: #8a5200; --warn-soft: #fdf0d5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e7eaed; --soft: #9aa5b1; --line: #343c45; --ground: #12161a; --card: #1b2127; --stripe: #20272e;
    --accent: #6fcf97; --accent-soft: #1f3a2c; --red: #ff7b72; --blue: #79b0ff;
    --faint: #65717d;
    --good: #1f4a31; --fair: #22352a; --poor: #3a2729; --bad: #552a2b; --warn: #ffc66b; --warn-soft: #3d2f15;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main, header.top, footer { max-width: 78rem; margin: 0 auto; padding: 0 1rem; }
header.top { padding-top: 1.75rem; }
h1 { font-size: clamp(1.6rem, 1.2rem + 2vw, 2.5rem); line-height: 1.15; margin: 0 .75rem .25rem 0;
  display: inline-block; }
h2 { font-size: clamp(1.35rem, 1.1rem + 1vw, 1.8rem); line-height: 1.2; margin: 0; display: inline-block; }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; }
p { margin: .35rem 0; }
a { color: var(--accent); }
nav { display: flex; flex-wrap: wrap; gap: .5rem; margin: .9rem 0 0; }
nav a { padding: .25rem .8rem; border: 1px solid var(--line); border-radius: 2rem; background: var(--card);
  text-decoration: none; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem 1.4rem 1.4rem;
  margin: 1.25rem 0; }
.soft, .caption, footer { color: var(--soft); }
.terms span + span::before { content: " · "; }
.state { display: inline-block; vertical-align: .25em; margin: 0 0 0 .6rem; padding: .08rem .7rem; border-radius: 2rem;
  font-size: .85rem; font-weight: 600; background: var(--accent-soft); color: var(--accent); }
.state.waiting, .state.interrupted, .state.cancelled { background: var(--warn-soft); color: var(--warn); }
.bar { height: .55rem; border-radius: 1rem; background: var(--line); overflow: hidden; margin: .6rem 0 .2rem; }
.bar > i { display: block; height: 100%; background: var(--accent); }
.scroll { overflow-x: auto; margin: 0 -.2rem; padding: 0 .2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.caption { font-size: .85rem; max-width: 60rem; }
.beside { display: flex; flex-wrap: wrap; gap: 0 2.5rem; }
.beside > div { min-width: 0; max-width: 100%; }
.beside .caption { max-width: 26rem; }
th, td { padding: .375rem .6rem; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
thead th { font-size: .82rem; font-weight: 600; color: var(--soft); border-bottom-width: 2px; vertical-align: bottom;
  white-space: normal; line-height: 1.25; }
tbody th, tbody td { line-height: 1.5rem; }
td.n, th.n { text-align: right; }
td.c, th.c { text-align: center; }
tbody tr:nth-child(even) > * { background: var(--stripe); }
td.zero { color: var(--faint); }
td.failed { color: var(--warn); font-weight: 600; }
table.standings { font-size: 1.03rem; width: 100%; border-collapse: separate; border-spacing: 0; }
table.standings th, table.standings td { padding-left: .42rem; padding-right: .42rem; }
table.standings td.points { font-weight: 700; }
table.standings tbody th, table.cross tbody th { position: sticky; left: 0; background: var(--card); font-weight: 600;
  max-width: 16rem; overflow: hidden; text-overflow: ellipsis; }
table.standings tbody tr:nth-child(even) th { background: var(--stripe); }
table.standings tr.winner th::after { content: " ★"; color: var(--accent); }
th[data-sort] { cursor: pointer; }
th[data-sort]:hover, th[aria-sort] { color: var(--ink); }
th[aria-sort=ascending]::after { content: " ▲"; }
th[aria-sort=descending]::after { content: " ▼"; }
table.cross td { text-align: center; border: 1px solid var(--line); padding: .3rem .45rem; min-width: 2.7rem; }
table.cross tbody tr > td { background: none; }
table.cross tbody td.good { background: var(--good); } table.cross tbody td.fair { background: var(--fair); }
table.cross tbody td.poor { background: var(--poor); } table.cross tbody td.bad { background: var(--bad); }
table.cross tbody td.self { background: var(--line); }
details { border-top: 1px solid var(--line); }
details:last-of-type { border-bottom: 1px solid var(--line); }
summary { cursor: pointer; padding: .5rem .1rem; font-weight: 600; }
summary .soft { font-weight: 400; }
table.games { font-size: .93rem; width: 100%; margin: 0 0 .8rem; }
table.games tr.meeting td { background: var(--ground); font-weight: 600; padding-top: .5rem; }
td.side::before { content: ""; display: inline-block; width: .6rem; height: .6rem; border-radius: .15rem;
  margin-right: .45rem; }
td.red::before { background: var(--red); } td.blue::before { background: var(--blue); }
td.side.won { font-weight: 700; }
td.said { white-space: normal; min-width: 9rem; }
td.said .soft { display: block; font-size: .87rem; overflow-wrap: anywhere; }
code { font: .86em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; user-select: all;
  background: var(--ground); padding: .1rem .35rem; border-radius: .3rem; white-space: normal; overflow-wrap: anywhere;
  -webkit-box-decoration-break: clone; box-decoration-break: clone; }
.bracket { display: flex; gap: 1.4rem; padding: .2rem .2rem .6rem; }
.bracket > div { display: flex; flex-direction: column; justify-content: space-around; gap: .7rem; min-width: 11.5rem; }
.scroll + .scroll > .bracket { margin-top: .8rem; }
.bracket h4 { margin: 0; font-size: .85rem; color: var(--soft); text-align: center; flex: 0; }
.bracket .slots { display: flex; flex-direction: column; justify-content: space-around; gap: .7rem; flex: 1; }
.match { border: 1px solid var(--line); border-radius: .5rem; overflow: hidden; background: var(--card); }
.match div { display: flex; justify-content: space-between; gap: .8rem; padding: .22rem .6rem; }
.match div + div { border-top: 1px solid var(--line); }
.match .won { font-weight: 700; background: var(--accent-soft); }
.match span:first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 12rem; }
ul.notes { margin: .3rem 0; padding-left: 1.2rem; }
svg { display: block; width: 100%; max-width: 56rem; height: auto; }
svg.narrow { display: none; }
svg text { fill: var(--ink); font: 14px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }
svg .tick { fill: var(--soft); font-size: 12px; }
svg .grid { stroke: var(--line); } svg .zero { stroke: var(--soft); stroke-dasharray: 3 3; }
svg .interval { stroke: var(--accent); stroke-width: 3; stroke-linecap: round; opacity: .55; }
svg .rating { fill: var(--accent); }
footer { padding: .5rem 1rem 2.5rem; font-size: .88rem; }
@media (min-width: 110rem) { html { font-size: 125%; } }
@media (max-width: 75rem) {
  table.standings { font-size: .97rem; }
  table.standings th, table.standings td { padding-left: .3rem; padding-right: .3rem; }
  table.games th, table.games td { padding-left: .4rem; padding-right: .4rem; }
}
@media (max-width: 40rem) {
  section { padding: 1rem .8rem; border-radius: .5rem; margin: .8rem -.5rem; }
  th, td { padding: .3125rem .45rem; }
  table.standings { font-size: .97rem; }
  table.standings tbody th, table.cross tbody th { max-width: 8.5rem; }
  svg.wide { display: none; }
  svg.narrow { display: block; max-width: 26rem; }
}
@media print {
  :root { --ground: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --stripe: #fff; }
  body { font-size: 10pt; }
  nav { display: none; }
  section { border: 0; padding: 0; break-before: page; }
  section:first-of-type { break-before: auto; }
  .scroll { overflow: visible; }
  svg.wide { display: block; }
  svg.narrow { display: none; }
  tr, .match, svg { break-inside: avoid; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""

SCRIPT: Final = """
'use strict';
for (const head of document.querySelectorAll('th[data-sort]')) {
  head.addEventListener('click', () => {
    const table = head.closest('table'), body = table.tBodies[0], column = head.cellIndex;
    const down = head.getAttribute('aria-sort') === 'ascending' ||
      (!head.hasAttribute('aria-sort') && head.dataset.sort === 'down');
    const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const order = (a, b) => {
      const x = key(a), y = key(b), n = parseFloat(x) - parseFloat(y);
      return Number.isNaN(n) ? x.localeCompare(y) : n;
    };
    const rows = [...body.rows].sort((a, b) => down ? order(b, a) : order(a, b));
    for (const other of table.querySelectorAll('th[aria-sort]')) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    body.append(...rows);
  });
}
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(each => each.open = true));
const folds = [...document.querySelectorAll('details[id]')], memory = 'open ' + document.title;
try {
  const open = JSON.parse(sessionStorage.getItem(memory));
  if (open) for (const each of folds) each.open = open.includes(each.id);
  for (const each of folds) each.addEventListener('toggle', () =>
    sessionStorage.setItem(memory, JSON.stringify(folds.filter(fold => fold.open).map(fold => fold.id))));
} catch { /* no storage, nothing to remember */ }
"""
