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
  if (button && button.tagName === "BUTTON") { if (!e.repeat) button.click(); return; }
  if (window.noemaKeys && window.noemaKeys(e)) return;
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
  let last = null, whole = Date.now();
  const look = async () => {
    try {
      const answer = await fetch(live, {credentials: "same-origin"});
      const text = answer.ok ? await answer.text() : null;
      const busy = document.activeElement.matches("main input:not([type=checkbox]), main select") || document.querySelector("#place:not([hidden]), .say[open]");
      if (text !== null && last !== null && text !== last && !busy) {
        const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
        // What a reader is looking into stays; how the run gets on goes on.
        const now = document.querySelector(".live"), next = page.querySelector(".live");
        if (now && next && (document.activeElement !== document.body || Date.now() - whole < 5000)) { now.replaceWith(next); last = text; setTimeout(look, 1000); return; }
        whole = Date.now();
        const ticked = [...document.querySelectorAll("input[name=run]:checked")].map(i => i.value);
        document.querySelector("main").replaceWith(page.querySelector("main"));
        for (const box of document.querySelectorAll("input[name=run]")) box.checked = ticked.includes(box.value);
        if (at >= 0 && rows()[at]) rows()[at].classList.add("at");
        document.dispatchEvent(new Event("noema:main"));
        if (!page.body.dataset.live) return;
      }
      if (text !== null && !busy) last = text;
    } catch (_) { /* the server may be gone for a while */ }
    setTimeout(look, 1000);
  };
  look();
}

// The pages of a bundle have no server to filter for them: the query of their address is
// answered here.
const chosen = new URLSearchParams(location.search);
const has = (row, words) => words.every(w => row.fits.includes(w));
const filterSamples = async form => {
  const words = [];
  for (const name of ["group", "outcome", "wrong", "beats", "over"]) {
    const list = form.elements[name], value = chosen.get(name);
    if (!value || !list) continue;
    list.value = value;
    if (name === "over") { if (words.pair) words.push(words.pair + "-" + (list.selectedIndex - 1)); } else if (name === "beats") words.pair = name + (list.selectedIndex - 1);
    else words.push(name + (list.selectedIndex - 1));
  }
  if (chosen.get("disagree")) { words.push("disagree"); form.elements.disagree.checked = true; }
  const text = (form.elements.q.value = chosen.get("q") || "").toLowerCase();
  const all = [], parser = document.createElement("tbody");
  window.noemaRows = html => {
    parser.innerHTML = html;
    for (const tr of parser.children) {
      if (!tr.dataset.s) continue;
      const says = tr.textContent + " " + (tr.dataset.text || "");
      all.push({tr, fits: (tr.dataset.fits || "").split(" "), query: says.toLowerCase()});
    }
  };
  for (let i = 1; i <= document.body.dataset.static; i++) {
    await new Promise((good, bad) => {
      const s = document.createElement("script");
      s.src = `rows-${i}.js`; s.onload = good; s.onerror = bad;
      document.head.append(s);
    });
  }
  const kept = all.filter(r => r.query.includes(text) && has(r, words));
  sortSamples(kept);
  const pages = Math.max(1, Math.ceil(kept.length / 100)), at = Math.min(Math.max(parseInt(chosen.get("page")) || 1, 1), pages);
  document.getElementById("rows").replaceChildren(...kept.slice((at - 1) * 100, at * 100).map(r => r.tr));
  document.querySelector("#table .more")?.remove();
  const links = document.getElementById("pages");
  links.textContent = kept.length + " of " + all.length + " samples";
  for (let i = 1; i <= pages; i++) {
    if (i > 3 && i < pages - 1 && Math.abs(i - at) > 2) { if (!links.lastChild.textContent.endsWith("…")) links.append(" …"); continue; }
    const a = document.createElement(i === at ? "b" : "a");
    chosen.set("page", i);
    if (i !== at) a.href = "?" + chosen;
    a.textContent = i;
    links.append(" ", a);
  }
};
// The heads of a bundle's table sort it: a method's column by how trials came out, then by
// their answers.
const heads = () => [...document.querySelectorAll(".samples thead th")];
const linkHeads = () => {
  for (const th of heads()) {
    const a = th.querySelector("a"), by = new URL(a.href).searchParams.get("sort"), q = new URLSearchParams(chosen), now = q.get("sort");
    q.delete("page"); q.set("sort", now === by ? "-" + by : by);
    if (now === "-" + by) q.delete("sort");
    if (now === by || now === "-" + by) th.ariaSort = now === by ? "ascending" : "descending";
    th.dataset.by = by; a.search = q;
  }
};
const sortSamples = list => {
  const by = chosen.get("sort") || "", name = by.replace(/^-/, ""), at = heads().findIndex(th => th.dataset.by === name);
  const how = td => ["missing", "a", "good", "bad", "none"].indexOf(td.className.split(" ").pop());
  const file = r => r.tr.querySelector("a").getAttribute("href"); // numbered as the samples are
  const of = (a, b) => how(a) - how(b) || (a.textContent < b.textContent ? -1 : a.textContent > b.textContent ? 1 : 0);
  if (at >= 0) list.sort((a, b) => (at ? of(a.tr.cells[at], b.tr.cells[at]) : file(a) < file(b) ? -1 : 1) * (by === name ? 1 : -1));
};
const filterRuns = form => {
  const text = (form.elements.q.value = chosen.get("q") || "").toLowerCase(), sort = form.elements.sort.value = chosen.get("sort") || "";
  const body = document.querySelector("table.list tbody"), of = tr => tr.dataset[sort] || "";
  const all = [...body.rows], kept = all.filter(tr => tr.textContent.toLowerCase().includes(text));
  if (sort) kept.sort((a, b) => /task|model|status/.test(sort) ? (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0) : of(b) - of(a));
  body.replaceChildren(...kept);
  document.getElementById("count").textContent = `${kept.length} of ${all.length} runs`;
};
const form = document.querySelector("form.filters");
if (document.body.dataset.static && form) form.addEventListener("change", e => { if (!/^(beats|over)$/.test(e.target.name) || form.elements.beats.value && form.elements.over.value) form.requestSubmit(); });
if (document.body.dataset.static && document.querySelector(".samples")) linkHeads();
if (document.body.dataset.static && form && location.search.length > 1) {
  if (form.elements.sort) filterRuns(form); else filterSamples(form).catch(() => { document.getElementById("pages").textContent = "a file of this bundle is missing: rows-N.js"; });
}
