
// A trial: a click on a node opens its call; texts are copied; another reply is a command.
{
  const show = () => {
    const at = location.hash.startsWith("#call-") && document.getElementById(location.hash.slice(1));
    if (at && at.classList.contains("turn")) { at.open = true; at.scrollIntoView({block: "start"}); at.querySelector("summary").focus({preventScroll: true}); }
  };
  addEventListener("hashchange", show);
  show();
  const quoted = s => "'" + s.replaceAll("'", `'\\''`) + "'";
  document.addEventListener("click", e => {
    const a = e.target.closest('.gw a, a[href^="#call-"]');
    if (a && a.getAttribute("href") === location.hash) show();
    const b = e.target.closest("[data-copy],[data-copies]");
    if (!b || !navigator.clipboard) return;
    const from = b.dataset.copies === "pre" ? b.parentElement.nextElementSibling : b.dataset.copies ? b.parentElement.querySelector(b.dataset.copies) : null;
    navigator.clipboard.writeText(from ? from.textContent : b.dataset.copy).then(() => { b.textContent = "copied"; }, () => {});
  });
  document.addEventListener("input", e => {
    const cmd = e.target.closest(".fork")?.querySelector(".cmd");
    if (cmd) cmd.textContent = `printf %s ${quoted(e.target.value)} | ${cmd.dataset.fork} --reply -`;
  });
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    if (e.key === "d") document.querySelector(".trial [data-key=d]")?.click();
    if (e.key === "r") { const f = document.querySelector(".turn[open] .fork"); if (f) { f.open = true; f.querySelector("textarea").focus(); e.preventDefault(); } }
  });
}
