// A run on one screen. Its state is in the address; every link and form works without this.
{
  const $ = s => document.querySelector(s), $$ = s => [...document.querySelectorAll(s)];
  const page = $(".work"), fixed = document.body.dataset.static !== undefined;
  const base = location.pathname;
  let state = new URLSearchParams(location.search), turn = 0, typing;

  const part = async (address, into) => {
    const answer = await fetch(address);
    if (!answer.ok || answer.redirected) throw new Error("the server has no answer");
    const t = document.createElement("template");
    t.innerHTML = await answer.text();
    into(t.content);
  };
  const put = (id, content) => { const old = document.getElementById(id), now = content.getElementById(id); if (old && now) old.replaceWith(now); };
  const rows = () => $$("#rows tr[data-s]");
  const show = replace => { const q = state.toString(); history[replace ? "replaceState" : "pushState"](null, "", base + (q ? "?" + q : "")); };
  const chips = () => $$(".chip").map(c => c.dataset.m);
  const chosen = () => { const on = $$(".chip.on").map(c => c.dataset.m), m = state.getAll("m").filter(x => on.includes(x)); return m.length ? m : on; };
  const choose = list => { state.delete("m"); for (const m of list.slice(0, 4)) state.append("m", m); };

  // what is chosen: the row, its column on the map
  const mark = () => {
    const s = state.get("s") || rows()[0]?.dataset.s;
    rows().forEach(r => r.classList.toggle("at", r.dataset.s === s));
    const map = $("#map"), sel = $("#hm .sel"), brush = $("#hm .brush");
    if (!sel) return s;
    const at = map.dataset.ids.split("\n").indexOf(s), per = +map.dataset.per;
    sel.setAttribute("x", Math.floor(at / per) * 6); sel.setAttribute("width", at < 0 ? 0 : 6);
    brush.setAttribute("x", (state.get("from") || 0) / per * 6); brush.setAttribute("width", state.get("to") ? (state.get("to") - (state.get("from") || 0)) / per * 6 : 0);
    $$(".pair").forEach(r => { const q = new URL(r.querySelector("a").href).searchParams; r.classList.toggle("on", q.get("beats") === state.get("beats") && q.get("over") === state.get("over")); });
    return s;
  };
  const drawer = async () => {
    const s = mark();
    if (!s) return;
    const me = ++turn, q = new URLSearchParams(state);
    q.set("s", s);
    if (!q.has("m") && !q.has("beats")) for (const m of chosen()) q.append("m", m);
    await part(base + "/drawer?" + q, c => { if (me !== turn) return; const at = $("#drawer .first:focus"); $("#drawer").replaceChildren(c); if (at) $("#drawer .first")?.focus(); }).catch(() => {});
  };
  const open = (s, replace) => { state.set("s", s); show(replace); drawer(); const r = $("#rows tr.at"); if (r) r.scrollIntoView({block: "nearest"}); };
  const refresh = async keep => {
    const me = ++turn;
    await part(base + "/rows?" + state, c => { if (me === turn) put("table", c); });
    if (me !== turn) return;
    const f = $("#filters");
    for (const e of f.elements) {
      if (!e.name || e === document.activeElement && e.name === "q") continue;
      if (e.type === "checkbox") e.checked = state.has(e.name); else e.value = state.get(e.name) || "";
    }
    watch();
    if (!keep && !rows().some(r => r.dataset.s === state.get("s"))) { state.delete("s"); show(true); }
    drawer();
  };
  // apply makes the query of a link the state
  const apply = query => {
    clearTimeout(typing); // a newer wish than what was typed
    const order = state.get("order");
    state = new URLSearchParams(query);
    show();
    if (order !== state.get("order") && $("#hm")) part(base + "/map?" + state, c => { put("map", c); mark(); });
    refresh();
  };
  const change = edit => { const q = new URLSearchParams(state); for (const n of ["page", "s"]) q.delete(n); edit(q); apply(q); };

  // the rows that come when one scrolls to the end
  let eye;
  const more = async () => {
    const a = $("#table .more");
    if (!a) return;
    const to = new URL(a.href);
    a.remove();
    await part(base + "/rows" + to.search, c => { $("#rows").append(...c.querySelectorAll("#rows tr[data-s]")); const next = c.querySelector(".more"); if (next) $("#table .tw").append(next); });
    mark(); watch();
  };
  const watch = () => {
    eye?.disconnect();
    const a = $("#table .more");
    if (a) { eye = new IntersectionObserver(e => { if (e[0].isIntersecting) more(); }, {root: $("#table .tw"), rootMargin: "600px"}); eye.observe(a); }
  };
  const walk = async step => {
    let all = rows(), at = all.findIndex(r => r.classList.contains("at"));
    if (at + step >= all.length) { await more(); all = rows(); }
    const r = all[Math.min(Math.max(at + step, 0), all.length - 1)];
    if (r) open(r.dataset.s, true);
  };

  // the map: point, click, drag
  const column = e => { const box = $("#hm").getBoundingClientRect(), n = +$("#map").dataset.columns; return Math.min(Math.max(Math.floor((e.clientX - box.left) / box.width * n), 0), n - 1); };
  let from = null;
  const point = e => {
    const map = $("#map"), per = +map.dataset.per, ids = map.dataset.ids.split("\n"), i = column(e);
    $("#caption").textContent = per > 1 ? `${ids[i * per]} and ${per - 1} more: click to list them` : (rows().find(r => r.dataset.s === ids[i])?.innerText.replace(/\s+/g, " ").slice(0, 140) || ids[i]);
    if (from !== null) { const a = Math.min(from, i), b = Math.max(from, i) + 1; $("#hm .brush").setAttribute("x", a * 6); $("#hm .brush").setAttribute("width", (b - a) * 6); }
  };
  const release = e => {
    const map = $("#map"), per = +map.dataset.per, a = Math.min(from, column(e)), b = Math.max(from, column(e)) + 1;
    from = null;
    if (b - a === 1 && per === 1) { open(map.dataset.ids.split("\n")[a]); return; }
    change(q => { q.set("from", a * per); q.set("to", b * per); });
  };

  if (page && !fixed) {
    document.addEventListener("pointerdown", e => { if (e.button === 0 && e.target.closest("#hm")) { from = column(e); $("#hm").setPointerCapture(e.pointerId); e.preventDefault(); } });
    document.addEventListener("pointermove", e => { if (e.target.closest("#hm")) point(e); });
    document.addEventListener("pointerup", e => { if (from !== null) release(e); });
    document.addEventListener("click", e => {
      if (e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
      const a = e.target.closest("a"), row = e.target.closest("#rows tr[data-s]"), pair = e.target.closest(".pair");
      if (a && a.classList.contains("more")) { e.preventDefault(); more(); return; }
      if (a && !(row && a.closest(".id"))) {
        const to = new URL(a.href, location);
        if (to.pathname !== base || to.origin !== location.origin || to.searchParams.has("whole")) return;
        e.preventDefault();
        if (a.closest(".chips")) { const e = to.searchParams.get("e"); choose(to.searchParams.getAll("m")); e ? state.set("e", e) : state.delete("e"); show(true); drawer(); return; }
        apply(to.search);
      } else if (row) { e.preventDefault(); open(row.dataset.s); } else if (pair) apply(new URL(pair.querySelector("a").href).search);
    });
    const form = $("#filters");
    const filter = () => {
      const f = new FormData(form);
      change(q => { for (const n of ["beats", "over", "wrong", "outcome", "group", "disagree", "q"]) { q.delete(n); if (f.get(n)) q.set(n, f.get(n)); }
        if (!q.get("beats") !== !q.get("over")) { q.delete("beats"); q.delete("over"); } else if (q.get("beats")) { q.delete("m"); q.append("m", q.get("beats")); q.append("m", q.get("over")); } });
    };
    form.addEventListener("submit", e => { e.preventDefault(); filter(); });
    form.addEventListener("input", e => {
      clearTimeout(typing);
      const f = new FormData(form);
      if (/^(beats|over)$/.test(e.target.name) && !f.get("beats") !== !f.get("over")) return; // the other one follows
      typing = setTimeout(filter, e.target.name === "q" ? 30 : 0);
    });
    addEventListener("popstate", () => { state = new URLSearchParams(location.search); if ($("#hm")) part(base + "/map?" + state, c => { put("map", c); mark(); }); refresh(true); });
    const swap = (place, list) => { const all = chips(), now = list[place]; let i = all.indexOf(now); do i = (i + 1) % all.length; while (list.includes(all[i]) && all[i] !== now); list[place] = all[i]; choose(list); show(true); drawer(); };
    const against = turned => { const [x, y] = chosen(); if (y) change(q => { for (const n of [...q.keys()]) if (n !== "order") q.delete(n); q.set("beats", turned ? y : x); q.set("over", turned ? x : y); q.append("m", x); q.append("m", y); }); };
    const keys = {
      j: () => walk(1), k: () => walk(-1), a: () => swap(0, chosen()), b: () => { const l = chosen(); if (l.length > 1) swap(1, l); },
      w: () => against(false), l: () => against(true), x: () => change(q => q.set("outcome", "none")), c: () => apply(""),
      d: () => { const f = $(".first"); if (f) { f.scrollIntoView({block: "center"}); f.focus(); } },
      t: () => ($(".ep b + a") || $(".ep a"))?.click(), o: () => $("#drawer [data-key=o]")?.click(), e: () => $("#drawer [data-key=e]")?.click(), Enter: () => $("#drawer [data-key=e]")?.click(), "?": () => $("#keys").showModal(),
    };
    window.noemaKeys = e => {
      if (e.key >= "1" && e.key <= "9") { const m = chips()[e.key - 1], l = chosen(); if (m) { choose(l.includes(m) ? l.filter(x => x !== m) : [...l.slice(-3), m]); show(true); drawer(); } return true; }
      if (e.key === "Enter" && e.target.closest("a,button,summary") || !keys[e.key]) return false;
      e.preventDefault(); keys[e.key](); return true;
    };
    // what comes later: the map and the table when all is read, then the numbers
    const later = async () => {
      await part(base + "/map?" + state, c => put("map", c));
      await refresh(true);
      await part(base + "/news", c => { const left = [...c.children].filter(n => !["verdict", "numbers"].includes(n.id)); put("verdict", c); put("numbers", c); $(".facts").after(...left); });
      mark();
    };
    if ($("[data-part]")) later().catch(() => {}); else { mark(); watch(); }
    if (!$("#drawer table")) drawer();
  }
}
