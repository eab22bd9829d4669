// Fills the figures, the sentence and the table with what is chosen; the address keeps it.
const page = JSON.parse(document.getElementById("data").textContent);
const knobs = { load: document.getElementById("load"), batch: document.getElementById("batch"), mix: document.getElementById("mix") };
const most = { load: page.loads.length - 1, batch: page.batches.length - 1, mix: page.states.length - 1 };
const chosen = { load: page.start[0], batch: page.start[1], mix: page.start[2] };

function text(id, words) {
  const element = document.getElementById(id);
  if (element.textContent !== words) element.textContent = words;
}

// Figures ---------------------------------------------------------------------------------------------------------
const empty = (trace) => ({ ...trace, x: [], y: [] });

function curves(name, marked, ghost) {
  const row = page.states[chosen.mix][chosen.batch], here = row[chosen.load];
  const fill = {
    ghost: () => others(ghost),
    problem: () => {
      const bad = row.map((state, place) => place).filter((place) => row[place].problem);
      return { x: bad.map((place) => page.loads[place]), y: bad.map(() => 0), text: bad.map((place) => row[place].problem), showlegend: bad.length > 0 };
    },
    chosen: () => {
      const known = marked.map((key) => here.y[key] ?? null).filter((value) => value !== null);
      return { x: known.map(() => page.loads[chosen.load]), y: known };
    },
    capacity: () => ({ x: [0, ...page.loads, page.loads.at(-1) * 1.06], y: Array(page.loads.length + 2).fill(here.capacity) }),
    offered: () => ({}),
  };
  const data = page.figures[name].data.map((trace) => {
    if (trace.meta in fill) return { ...trace, ...fill[trace.meta]() };
    const symbol = row.map((state) => (state.overload ? "circle-open" : "circle"));
    return { ...trace, x: page.loads, y: row.map((state) => state.y[trace.meta] ?? null), marker: { ...trace.marker, symbol } };
  });
  const at = page.loads[chosen.load];
  const line = { type: "line", x0: at, x1: at, yref: "paper", y0: 0, y1: 1, line: { color: "#d97706", width: 1, dash: "dot" }, layer: "below" };
  show(name, data, { shapes: [line] });
}

// The curves of the other batch sizes as one trace with gaps.
function others(key) {
  const found = { x: [], y: [], text: [] };
  page.states[chosen.mix].forEach((row, batch) => {
    if (batch === chosen.batch) return;
    row.forEach((state, place) => {
      found.x.push(page.loads[place]);
      found.y.push(state.y[key] ?? null);
      found.text.push(`batches of ${page.batches[batch]}`);
    });
    found.x.push(null); found.y.push(null); found.text.push("");
  });
  return { ...found, connectgaps: false };
}

function queues(state) {
  show("queues", page.figures.queues.data.map((trace, stage) => (state.queues ? { ...trace, x: state.queues[stage][0], y: state.queues[stage][1] } : empty(trace))), {});
}

function batches(state) {
  const data = page.figures.batches.data.map((trace, stage) => {
    const rows = (state.batches ?? []).filter((row) => row[0] === stage);
    const largest = Math.max(1, ...rows.map((row) => row[4]));
    return { ...trace, y: rows.map((row) => row[1]), base: rows.map((row) => row[2]), x: rows.map((row) => row[3] - row[2]),
      text: rows.map((row) => String(row[4])), customdata: rows.map((row) => [row[4], row[5]]),
      marker: { ...trace.marker, opacity: rows.map((row) => 0.35 + 0.65 * row[4] / largest) } };
  });
  const begin = state.begin ?? 0, axis = page.figures.batches.layout.xaxis;
  show("batches", data, { xaxis: { ...axis, range: [begin, begin + page.seconds] } });
}

function show(name, data, changed) {
  const { problem } = page.states[chosen.mix][chosen.batch][chosen.load];
  if (problem) changed = { ...changed, annotations: [{ text: "no result", xref: "paper", yref: "paper", x: 0.5, y: 0.5, showarrow: false, font: { size: 16, color: "#92400e" } }] };
  Plotly.react(name, data, fitted({ ...page.figures[name].layout, ...changed }), { ...CONFIG, displayModeBar: false });
}

// Words -----------------------------------------------------------------------------------------------------------
function table() {
  text("numbers-caption", `${knobs.batch.getAttribute("aria-valuetext")}; ${knobs.mix.selectedOptions[0].textContent}`);
  const body = document.querySelector("#numbers tbody");
  body.replaceChildren(...page.states[chosen.mix][chosen.batch].map((state, place) => {
    const row = document.createElement("tr");
    if (place === chosen.load) row.setAttribute("aria-current", "true");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = String(page.loads[place]) + (state.problem ? " (no result)" : state.overload ? " (overload)" : "");
    row.append(head, ...state.cells.map((words) => Object.assign(document.createElement("td"), { textContent: words })));
    return row;
  }));
}

function update() {
  const state = page.states[chosen.mix][chosen.batch][chosen.load];
  for (const [name, knob] of Object.entries(knobs)) knob.value = String(chosen[name]);
  const batch = `batches of ${page.batches[chosen.batch]}`;
  knobs.load.setAttribute("aria-valuetext", page.loadWords[chosen.load]);
  knobs.batch.setAttribute("aria-valuetext", batch);
  text("load-words", page.loadWords[chosen.load]);
  text("batch-words", `up to ${page.batches[chosen.batch]}`);
  text("words", state.words);
  table();
  curves("latency", ["p99", "mean", "p50"], "p99");
  curves("throughput", ["rps"], "rps");
  queues(state);
  batches(state);
}

// What is chosen --------------------------------------------------------------------------------------------------
let waiting = false;

function choose(name, place) {
  chosen[name] = place;
  history.replaceState(null, "", `#load=${chosen.load}&batch=${chosen.batch}&mix=${chosen.mix}`);
  if (waiting) return;
  waiting = true; // a slider moves faster than figures are drawn
  setTimeout(() => { waiting = false; update(); });
}

function readAddress() {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (name in chosen && /^\d+$/.test(value)) chosen[name] = Math.min(Number(value), most[name]);
  }
  update();
}

for (const [name, knob] of Object.entries(knobs)) knob.addEventListener("input", () => choose(name, Number(knob.value)));
window.addEventListener("hashchange", readAddress);
readAddress();
