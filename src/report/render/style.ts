/** The page's style sheet. Text is never told apart by colour alone; contrasts are 4.5:1 or more in both themes. */
export const style = `
:root {
  --page: #f6f7f9; --card: #ffffff; --ink: #1b2127; --muted: #56606b; --rule: #d9dee4; --track: #e9ecf0;
  --good: #0c7f70; --known: #2b6cb8; --repeat: #7a57c2; --quiet: #98a2ad; --warn: #c47a0a; --bad: #c0392f;
  --good-pill: #0b6b5f; --warn-pill: #8a5200; --bad-pill: #a92a22;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101418; --card: #191f25; --ink: #e7ebef; --muted: #a3adb8; --rule: #303841; --track: #2a323a;
    --good: #38b8a4; --known: #62a8f0; --repeat: #ab90ee; --quiet: #66717d; --warn: #e5a33c; --bad: #f0776c;
  }
}
* { box-sizing: border-box; }
html { background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 2rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: .5rem 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 0 0 .25rem; }
p { margin: 0 0 .5rem; }
.lead, section > p, footer, .scale, .axis, .note, dt { color: var(--muted); }
.lead { max-width: 46rem; }
.status { display: inline-block; margin: 0; padding: .1rem .7rem; border-radius: 1rem; color: #fff; font-size: .875rem; font-weight: 600; }
.status-good { background: var(--good-pill); } .status-warn { background: var(--warn-pill); } .status-bad { background: var(--bad-pill); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.facts > div, section { background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; }
.facts > div { padding: .75rem 1rem; }
dt { font-size: .875rem; }
dd { margin: 0; font-size: 1.6rem; font-weight: 650; line-height: 1.3; font-variant-numeric: tabular-nums; }
dd.note { font-size: .8125rem; font-weight: 400; }
section { padding: 1.1rem 1.25rem 1.25rem; margin: 0 0 1rem; }
.blocks { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1.25rem 2rem; margin-top: .75rem; }
.blocks > * { margin: 0; min-width: 0; }
.wide { grid-column: 1 / -1; }
figcaption, caption { text-align: left; font-size: .875rem; font-weight: 600; padding: 0 0 .35rem; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; font-weight: 400; }
tr > :last-child { padding-right: 0; }
thead th { color: var(--muted); font-size: .8125rem; }
.text { text-align: left; overflow-wrap: anywhere; }
.figure { text-align: right; white-space: nowrap; }
thead .figure { white-space: normal; }
.ranking { align-self: start; }
.ranking th.text { width: 100%; }
.ranking .share { color: var(--muted); }
.scroll { overflow-x: auto; }
.scroll .text { min-width: 7.5rem; }
.scroll:focus-visible, summary:focus-visible { outline: 2px solid var(--known); outline-offset: 2px; }
svg { display: block; width: 100%; overflow: visible; }
.bar { height: .35rem; margin-top: .2rem; }
.stack { height: 1.4rem; border-radius: .25rem; overflow: hidden; }
.stack-row { margin: 0 0 .6rem; }
.stack-row p { margin: 0; font-size: .875rem; }
.part { stroke: var(--card); stroke-width: 1px; }
.columns { height: 9rem; border-bottom: 1px solid var(--rule); }
.lines { height: 8rem; }
.scale, .axis { font-size: .75rem; margin: 0; }
.axis { display: flex; justify-content: space-between; margin-top: .2rem; }
.columns + .axis > span { flex: 1; text-align: center; }
.line { fill: none; stroke-width: 2px; stroke-linejoin: round; stroke-linecap: round; }
.grid { fill: none; stroke: var(--rule); stroke-width: 1px; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; list-style: none; margin: .3rem 0 0; padding: 0; font-size: .875rem; }
.key { display: inline-block; width: .75rem; height: .75rem; border-radius: .15rem; margin-right: .4rem; }
.fill-none { fill: var(--track); }
.fill-good { fill: var(--good); background: var(--good); } .stroke-good { stroke: var(--good); }
.fill-known { fill: var(--known); background: var(--known); } .stroke-known { stroke: var(--known); }
.fill-repeat { fill: var(--repeat); background: var(--repeat); } .stroke-repeat { stroke: var(--repeat); }
.fill-quiet { fill: var(--quiet); background: var(--quiet); }
.fill-warn { fill: var(--warn); background: var(--warn); } .stroke-warn { stroke: var(--warn); }
.fill-bad { fill: var(--bad); background: var(--bad); }
details { margin-top: .4rem; font-size: .875rem; }
summary { color: var(--muted); cursor: pointer; width: fit-content; }
details table { margin-top: .3rem; }
footer { font-size: .8125rem; }
@media (max-width: 30rem) { body { padding: 1rem .75rem; } section { padding: .9rem; } .facts { grid-template-columns: 1fr 1fr; } dd { font-size: 1.35rem; } }
@media print {
  :root { --page: #fff; --card: #fff; --ink: #000; --muted: #444; --rule: #bbb; --track: #ddd; --good: #0c7f70; --known: #2b6cb8; --repeat: #7a57c2; --quiet: #98a2ad; --warn: #c47a0a; --bad: #c0392f; }
  html { font-size: 10.5pt; }
  body { max-width: none; padding: 0; }
  figure, tr, .facts > div { break-inside: avoid; }
  h2 { break-after: avoid; }
  section { border: 0; padding: .5rem 0; }
  details { display: none; }
  .folded details { display: block; }
  .folded details::details-content { content-visibility: visible; }
  svg, .key, .status { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
