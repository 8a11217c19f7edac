"use strict";
// Sliders ask the server for exact values; an answer that is out of date when it comes is dropped.
const at = id => document.getElementById(id);
const POWERS = ["n", "L", "sigma", "w"]; // sliders of the decimal logarithm
const value = id => POWERS.includes(id) ? 10 ** Number(at(id).value) : Number(at(id).value);
const rounded = x => Number(x.toPrecision(3));

function setting() {
  const best = at("best").checked;
  const n = Math.round(value("n"));
  const asked = { d: value("d"), n, law: at("law").value.trim(), L: rounded(value("L")), sigma: rounded(value("sigma")) };
  if (!best) asked.w = rounded(value("w"));
  at("w").disabled = best;
  at("d-value").textContent = asked.d;
  at("n-value").textContent = n < 1e6 ? n : n.toExponential(2);
  at("L-value").textContent = asked.L;
  at("sigma-value").textContent = asked.sigma;
  at("w-value").textContent = best ? "optimal" : asked.w;
  return new URLSearchParams(asked).toString();
}

async function ask(question, query) {
  const answer = await fetch(`/${question}?${query}`);
  return answer.json();
}

function list(target, numbers) {
  target.replaceChildren(...numbers.map(([name, text]) => {
    const row = document.createElement("div"), term = document.createElement("dt"), said = document.createElement("dd");
    term.textContent = name; said.textContent = text; row.append(term, said);
    return row;
  }));
}

function sky(tokens) {
  const make = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, content] of Object.entries(attributes)) made.setAttribute(key, content);
    return made;
  };
  // the query is the centre, the opposite point of the sphere the rim; the equator is halfway
  const shapes = [make("circle", { r: 100, class: "edge" }), make("circle", { r: 50, class: "equator" })];
  for (const [angle, direction, share] of tokens) {
    const far = 100 * angle / Math.PI;
    const place = { cx: (far * Math.cos(direction)).toFixed(2), cy: (far * Math.sin(direction)).toFixed(2) };
    shapes.push(make("circle", { ...place, r: (8 * Math.sqrt(share)).toFixed(2), class: "token" }));
    shapes.push(make("circle", { ...place, r: 0.6, class: "speck" }));
  }
  shapes.push(make("path", { d: "M-4 0H4M0 -4V4", class: "query" }));
  at("sky").replaceChildren(...shapes);
}

let latest = 0;
async function draw() {
  const mine = ++latest, query = setting();
  const stale = [at("answer"), at("sky"), at("ray")];
  for (const part of stale) part.classList.add("stale");
  const answer = await ask("picture", query);
  if (mine !== latest) return;
  at("refused").hidden = !answer.refused;
  at("refused").textContent = answer.refused || "";
  if (answer.refused) { document.body.dataset.ready = query; return; }
  list(at("numbers"), answer.numbers);
  at("loss").innerHTML = answer.html; // made by the server from numbers
  sky(answer.tokens);
  at("sky-caption").textContent = answer.caption;
  at("python").textContent = answer.python;
  at("seconds").textContent = `computed in ${answer.seconds.toFixed(2)} s`;
  stale.slice(0, 2).forEach(part => part.classList.remove("stale"));
  document.body.dataset.ready = query;
  const along = await ask("ray", query);
  if (mine !== latest) return;
  at("ray").innerHTML = along.refused ? "" : along.html;
  list(at("ray-numbers"), along.refused ? [] : along.numbers);
  at("ray-caption").textContent = along.refused || along.caption;
  at("ray").classList.remove("stale");
  document.body.dataset.complete = query;
}

let waiting;
at("setting").addEventListener("input", () => { setting(); clearTimeout(waiting); waiting = setTimeout(draw, 120); });
at("setting").addEventListener("submit", event => { event.preventDefault(); draw(); });
at("copy").addEventListener("click", async () => {
  const text = at("python").textContent;
  try {
    await navigator.clipboard.writeText(text);
    at("copied").textContent = "copied";
  } catch {
    getSelection().selectAllChildren(at("python"));
    at("copied").textContent = "selected: press Ctrl-C";
  }
});
draw();
