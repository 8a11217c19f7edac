"use strict";
// A moved slider asks for a first picture at once; when it rests, for exact values, which the next move gives up.
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

async function ask(question, query, signal) {
  try {
    const answer = await fetch(`/${question}?${query}`, { signal });
    return answer.ok ? await answer.json() : { refused: await answer.text() };
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return { refused: "no answer from the server: start `lipverify explore` again" };
  }
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

function show(answer, state) {
  at("refused").hidden = !answer.refused;
  at("refused").textContent = answer.refused || "";
  at("state").textContent = answer.refused ? "" : state;
  if (answer.refused) return;
  list(at("numbers"), answer.numbers);
  at("loss").innerHTML = answer.html; // made by the server from numbers
  sky(answer.tokens);
  at("sky-caption").textContent = answer.caption;
  at("python").textContent = answer.python;
}

const REST = 150; // milliseconds after which a slider rests
let looking = false, rest, exact = new AbortController();
async function draw() {
  exact.abort();
  clearTimeout(rest);
  setting();
  if (looking) return; // the look under way asks again if the setting has changed
  looking = true;
  let query, answer;
  do {
    query = setting();
    answer = await ask("look", query);
    show(answer, "first look; all digits follow");
  } while (query !== setting());
  looking = false;
  document.body.dataset.looked = query;
  if (answer.refused) document.body.dataset.ready = query;
  else rest = setTimeout(() => refine(query).catch(() => {}), REST); // given up
}

async function refine(query) {
  exact = new AbortController();
  const { signal } = exact;
  const answer = await ask("picture", query, signal);
  show(answer, `every digit is right; computed in ${(answer.seconds || 0).toFixed(2)} s`);
  document.body.dataset.ready = query;
  if (answer.refused) return;
  const along = await ask("ray", query, signal);
  at("ray").innerHTML = along.refused ? "" : along.html;
  list(at("ray-numbers"), along.refused ? [] : along.numbers);
  at("ray-caption").textContent = along.refused || along.caption;
  document.body.dataset.complete = query;
}

let typing;
at("setting").addEventListener("input", event => {
  clearTimeout(typing);
  if (event.target === at("law")) typing = setTimeout(draw, 400);
  else draw();
});
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
