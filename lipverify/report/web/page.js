"use strict";
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// ---- colours: the system's scheme, or the reader's earlier choice ----

const theme = byId("theme");
const stored = { get() { try { return localStorage.getItem("theme") || ""; } catch { return ""; } },
                 set(value) { try { localStorage.setItem("theme", value); } catch { /* nowhere to keep it */ } } };
const paint = (value) => { if (value) root.dataset.theme = value; else delete root.dataset.theme; };
theme.value = stored.get();
paint(theme.value);
theme.addEventListener("change", () => { paint(theme.value); stored.set(theme.value); });

// ---- a narrow window starts with the question; the side bar of a wide one becomes a line to open ----

if (matchMedia("(max-width: 59.99rem)").matches) for (const part of all(".side > details, .side nav > details")) part.open = false;

// ---- closed parts: their content is text, which the browser parses when they open ----

function expand(part) {
  const held = part.querySelector(":scope > noscript");
  if (!held) return;
  held.insertAdjacentHTML("afterend", held.textContent);
  held.remove();
  if (part.claims) sift(part);
}

// a line that a formula makes wider than the window scrolls, by the keyboard too
const linesOf = (part) => all("p, dd, td > div, figcaption, blockquote, .legend, .statements", part);
const reach = (line) => { if (line.scrollWidth > line.clientWidth) line.tabIndex = 0; };
const widths = new ResizeObserver((seen) => { for (const { target } of seen) reach(target); });
for (const line of linesOf(root)) widths.observe(line);
document.addEventListener("toggle", (event) => {
  if (!event.target.open) return;
  expand(event.target);
  for (const line of linesOf(event.target)) { reach(line); widths.observe(line); }
}, true);

// the element with an address: that of the page, or the id of a claim, or its beginning for the first claim that has it
function find(name) {
  const claim = () => all(".reading").find(({ dataset: { id } }) => id === name) ??
    all(".reading").find(({ dataset: { id } }) => id.startsWith(`${name}/`));
  for (const start of [` id="${name}"`, ` data-id="${name}"`, ` data-id="${name}/`]) {
    const holder = all("noscript").find((held) => held.textContent.includes(start));
    if (holder && !byId(name) && !claim()) expand(holder.parentElement);
  }
  return byId(name) ?? claim();
}

// ---- filters: a claim is visible if it matches every field; nothing else is visible then ----

const form = byId("filters"), found = byId("found"), whole = found.textContent;
const facets = ["paper", "kind", "outcome", "verdict", "grade"];
const plain = (text) => text.normalize("NFKC").toLowerCase();
const many = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const theorems = all(".theorem");
const decoder = document.createElement("textarea"), tags = document.createElement("template");
const textOf = (html) => { decoder.innerHTML = html.replace(/<[^>]*>/g, ""); return decoder.value; };

// the claims of a theorem as data, read from its text, because to parse all theorems takes long
function read(theorem) {
  const headline = theorem.querySelector("summary").textContent;
  const html = theorem.querySelector(":scope > noscript")?.textContent ?? theorem.innerHTML;
  theorem.claims = [...html.matchAll(/(<article [^>]*>)(.*?)<\/article>/gs)].map(([, start, content]) => {
    tags.innerHTML = start;
    const data = tags.content.firstChild.dataset;
    return { data, words: plain(`${headline} ${data.id} ${data.paper} ${textOf(content)}`), fits: true };
  });
}
const sift = (theorem) => all(".reading", theorem).forEach((claim, k) => { claim.hidden = !theorem.claims[k].fits; });
const index = () => { for (const theorem of theorems) if (!theorem.claims) read(theorem); };

function filter() {
  index();
  const wanted = plain(form.elements.words.value).split(/\s+/).filter(Boolean);
  const chosen = facets.map((name) => [name, form.elements[name].value]).filter(([, value]) => value);
  const active = wanted.length + chosen.length > 0;
  let shown = 0, held = 0;
  for (const theorem of theorems) {
    for (const claim of theorem.claims)
      claim.fits = chosen.every(([name, value]) => claim.data[name] === value) && wanted.every((word) => claim.words.includes(word));
    const count = theorem.claims.filter((claim) => claim.fits).length;
    theorem.hidden = !count;
    sift(theorem);
    shown += count;
    held += count > 0;
  }
  for (const section of all("section.theorems")) section.hidden = !section.querySelector(".theorem:not([hidden])");
  for (const part of all(".unfiltered")) part.hidden = active;
  found.textContent = active ? `${shown} of ${whole}, in ${many(held, "theorem")}` : whole;
  if (active && byId("theorems").getBoundingClientRect().top < 0) scrollTo(0, 0);
}
form.addEventListener("focusin", index, { once: true });
form.addEventListener("input", filter);
for (const button of all(".counts button")) button.addEventListener("click", () => {
  form.elements.outcome.value = button.value;
  form.closest("details").open = true;
  form.elements.outcome.focus();
  filter();
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(filter));
form.elements.open.addEventListener("click", () => {
  const shown = theorems.filter((element) => !element.hidden);
  const open = !shown.every((element) => element.open);
  for (const element of shown) { expand(element); element.open = open; }
  form.elements.open.textContent = open ? "Close all" : "Open all";
});

// ---- links: an address opens its element ----

function follow() {
  const name = location.hash.slice(1);
  if (!name) return;
  let target = find(name);
  if (!target) { try { target = find(decodeURIComponent(name)); } catch { /* not an address */ } }
  if (!target) return;
  if (target.closest("[hidden]")) { form.reset(); filter(); }
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") { expand(at); at.open = true; }
  target.scrollIntoView();
  requestAnimationFrame(() => target.scrollIntoView()); // what came into sight may have another height than was assumed
  if (!target.hasAttribute("tabindex")) target.setAttribute("tabindex", "-1");
  const first = target.tagName === "DETAILS" ? target.querySelector("summary") : target;
  first.focus({ preventScroll: true });
}
addEventListener("hashchange", follow);

// ---- figures: show the value under the pointer, or step through values with the arrow keys ----

const tip = byId("tip");
let here = null;

function pointsOf(plot) {
  if (!plot.points) plot.points = all("circle, rect", plot).filter((mark) => mark.firstElementChild?.tagName === "title").map((mark) => {
    const [x, y] = mark.firstElementChild.textContent.split("; ");
    mark.firstElementChild.remove(); // the browser's own note would cover ours
    const group = mark.parentElement;
    return { mark, group, text: `${group.getAttribute("aria-label")}\n${plot.dataset.x}: ${x}\n${plot.dataset.y}: ${y}` };
  });
  return plot.points;
}

function show(plot, point) {
  if (here) here.classList.remove("here");
  here = point?.mark ?? null;
  plot.at = point ? pointsOf(plot).indexOf(point) : -1;
  tip.hidden = !point;
  if (!point) return;
  here.classList.add("here");
  tip.textContent = point.text;
  const box = here.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(box.x + box.width / 2 - own.width / 2, 4), document.documentElement.clientWidth - own.width - 4);
  const above = box.y - own.height - 6;
  tip.style.transform = `translate(${left}px, ${above > 4 ? above : box.y + box.height + 6}px)`;
}

function nearest(plot, event) {
  let best = null, least = 40;
  for (const point of pointsOf(plot)) {
    const box = point.mark.getBoundingClientRect();
    const away = Math.hypot(box.x + box.width / 2 - event.clientX, box.y + box.height / 2 - event.clientY);
    if (away < least) [best, least] = [point, away];
  }
  return best;
}

function step(plot, key) {
  const points = pointsOf(plot), now = plot.at ?? -1, current = points[now];
  if (!points.length) return;
  if (key === "Home" || !current) return show(plot, points[0]);
  if (key === "End") return show(plot, points.at(-1));
  if (key === "ArrowLeft" || key === "ArrowRight") return show(plot, points[(now + (key === "ArrowRight" ? 1 : -1) + points.length) % points.length]);
  const groups = [...new Set(points.map((point) => point.group))];
  const next = groups[(groups.indexOf(current.group) + (key === "ArrowDown" ? 1 : -1) + groups.length) % groups.length];
  show(plot, points.find((point) => point.group === next));
}

const plotAt = (event) => event.target.closest?.(".plot");
const leave = () => { if (here) show(here.closest(".plot"), null); };
addEventListener("pointermove", (event) => {
  const plot = plotAt(event);
  if (plot) show(plot, nearest(plot, event)); else leave();
});
root.addEventListener("pointerleave", leave);
addEventListener("focusout", leave);
addEventListener("keydown", (event) => {
  const plot = plotAt(event);
  if (plot && event.key === "Escape") return leave();
  if (!plot || !["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
  event.preventDefault();
  step(plot, event.key);
});
addEventListener("scroll", () => { tip.hidden = true; }, { capture: true, passive: true });

follow();
