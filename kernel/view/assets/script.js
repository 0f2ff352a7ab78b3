// Keys and live updates. Everything works without it, too.
"use strict";
const rows = () => [...document.querySelectorAll("table.list tbody tr")].filter(r => r.querySelector("a"));
let at = -1;
const move = step => {
  const all = rows();
  if (!all.length) return;
  if (at >= 0 && all[at]) all[at].classList.remove("at");
  at = Math.min(Math.max(at + step, 0), all.length - 1);
  all[at].classList.add("at");
  all[at].scrollIntoView({block: "nearest"});
};
const follow = selector => { const a = document.querySelector(selector); if (a) a.click(); };
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) { if (e.key === "Escape") e.target.blur(); return; }
  const button = [...document.querySelectorAll("button[data-key]")].find(b => b.dataset.key === e.key);
  if (button) { if (!e.repeat) button.click(); return; }
  switch (e.key) {
  case "j": move(1); break;
  case "k": move(-1); break;
  case "Enter": { const r = rows()[at]; if (r) r.querySelector("a").click(); break; }
  case "/": { const q = document.querySelector("input[name=q]"); if (q) { q.focus(); e.preventDefault(); } break; }
  case "u": { const up = document.querySelectorAll("nav a"); if (up.length) up[up.length - 1].click(); break; }
  case "n": follow("a[rel=next]"); break;
  case "p": follow("a[rel=prev]"); break;
  }
});
const live = document.body.dataset.live;
if (live) {
  let last = null;
  const look = async () => {
    try {
      const answer = await fetch(live, {credentials: "same-origin"});
      const text = answer.ok ? await answer.text() : null;
      if (text !== null && last !== null && text !== last) {
        const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
        document.querySelector("main").replaceWith(page.querySelector("main"));
        if (!page.body.dataset.live) return;
      }
      if (text !== null) last = text;
    } catch (_) { /* the server may be gone for a while */ }
    setTimeout(look, 1000);
  };
  look();
}
