/* The NAD of chapter 4's finding, the questions before chapters, the reader's choices in the address, and the table of contents that follows. */
const choices = new Map();
$("sweep-slider").value = Math.log1p(Object.values(page.sweep)[0].start);
$("sweep-slider").dispatchEvent(new Event("input"));
function keep(name, value) {
  choices.set(name, value);
  history.replaceState(null, "", `#${[...choices].map(([key, text]) => `${key}=${encodeURIComponent(text)}`).join("&")}`);
}
/* Open the answer of a chapter, whose figures could not be drawn before. */
function unfold(chapter) {
  const answer = document.querySelector(`#${chapter} .answer`);
  if (!answer || answer.classList.contains("open")) return;
  answer.classList.add("open");
  dispatchEvent(new Event("resize"));
}
for (const wager of document.querySelectorAll(".wager")) {
  const { chapter } = wager.dataset, buttons = [...wager.querySelectorAll("button")];
  buttons.forEach((button, place) =>
    button.addEventListener("click", () => {
      for (const each of buttons) each.setAttribute("aria-pressed", each === button);
      wager.querySelector("[role=status]").textContent = button.dataset.verdict;
      keep(`bet-${chapter}`, place);
      unfold(chapter);
    }),
  );
}
for (const control of document.querySelectorAll("main select, main input[type=range]"))
  control.addEventListener(control.type === "range" ? "input" : "change", () => {
    keep(control.id, control.dataset.index ?? control.selectedOptions?.[0].text ?? control.value);
  });
for (const host of document.querySelectorAll("#fourier-grid, #pairs-grid"))
  host.addEventListener("click", ({ target }) => keep(host.id, [...host.querySelectorAll(".cell")].indexOf(target)));

/* What an address says: a chapter to open, or the choices of another reader. */
function visit() {
  const said = [...new URLSearchParams(location.hash.slice(1))];
  for (const [key, value] of said) {
    const control = $(key);
    if (key.startsWith("bet-")) $(key.slice(4))?.querySelectorAll(".wager button")[value]?.click();
    else if (control?.tagName === "SELECT") control.value = [...control.options].find(({ text }) => text === value)?.value ?? control.value;
    else if (control?.type === "range") control.value = control.dataset.index ? Math.log1p(value) : value;
    else if (control?.matches("[id$=-grid]")) control.querySelectorAll(".cell")[value]?.click();
    else if (control) unfold(key);
    else continue;
    for (const kind of ["change", "input"]) control?.dispatchEvent?.(new Event(kind));
    if (value) choices.set(key, value);
  }
  const last = said.at(-1)?.[0].replace("bet-", "");
  if (last) $(last)?.closest("section")?.scrollIntoView();
}
addEventListener("hashchange", visit);
addEventListener("beforeprint", () => Array.from(document.querySelectorAll("main > section"), ({ id }) => unfold(id)));
const links = document.querySelectorAll("nav a");
const seen = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) for (const link of links) link.setAttribute("aria-current", link.hash === `#${target.id}`);
  },
  { rootMargin: "-30% 0px -60% 0px" },
);
for (const section of document.querySelectorAll("main > section")) seen.observe(section);
visit();
