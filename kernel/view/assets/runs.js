// The list of runs: ticks, comparisons in place, and the form that composes a command.
{
  const ticks = () => [...document.querySelectorAll("input[name=run]:checked")].map(i => i.value);
  const tell = () => { const t = document.getElementById("ticked"), n = ticks().length; if (t) t.textContent = n === 1 ? "tick a second run" : `${n} runs`; };
  document.addEventListener("change", e => { if (e.target.name === "run") tell(); if (e.target.matches(".filters select, .filters input[type=checkbox]")) e.target.form.requestSubmit(); });
  document.addEventListener("reset", () => setTimeout(tell));
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || e.key !== "x") return;
    const box = document.querySelector("tr.at input[name=run]");
    if (box) { box.checked = !box.checked; tell(); }
  });
  // A comparison of what is ticked opens below the list, and its address is linked there.
  document.addEventListener("submit", async e => {
    const place = document.getElementById("place"), n = ticks().length;
    if (!e.target.matches("form.ticks") || !place) return;
    e.preventDefault();
    const to = new URL(e.submitter && e.submitter.hasAttribute("formaction") ? e.submitter.formAction : e.target.action);
    if (n < 2 || to.pathname === "/diff" && n !== 2) { document.getElementById("ticked").textContent = to.pathname === "/diff" ? "tick two runs" : "tick two runs or more"; return; }
    for (const id of ticks()) to.searchParams.append("run", id);
    place.hidden = false;
    place.textContent = "…";
    const page = new DOMParser().parseFromString(await (await fetch(to, {credentials: "same-origin"})).text(), "text/html");
    const open = document.createElement("a");
    open.href = to; open.textContent = "open as a page";
    place.replaceChildren(...page.querySelector("main").childNodes, open);
    place.scrollIntoView({block: "start"});
  });
  const ready = () => {
    for (const b of document.querySelectorAll("button.add, [data-copy]")) b.hidden = false;
    tell();
  };
  document.addEventListener("click", e => {
    const b = e.target.closest("button.add, [data-copy]");
    if (!b) return;
    if (b.dataset.copy) { navigator.clipboard.writeText(document.getElementById(b.dataset.copy).textContent); b.textContent = "copied"; return; }
    const field = b.closest("div").parentElement.querySelector("input"), has = field.value.split(",").map(s => s.trim()).filter(Boolean);
    field.value = (has.includes(b.value) ? has.filter(s => s !== b.value) : [...has, b.value]).join(",");
  });
  document.addEventListener("noema:main", ready);
  ready();
}
